"""Grants: what the user has allowed in a chat, and which acts that covers.

Rules kept here:
- A permission covers what it showed: the real paths of its files as they were at the answer, and
  its whole command. A link that was made later, a name with `..` and a command that only begins
  alike are not covered.
- An answer for once counts while its call runs, and for one run of its command. One for always
  counts in the chat; it covers the same paths and the same command, unless it is an answer to our
  own question, which says more.
- Of files that a call only names, a request for permission shows the first few and the number of
  the others: if there are more, none of them is covered.
- A command is covered in the folder that the permission showed, else in that of the agent. One that
  was shown with variables is not covered: an agent may write them in any way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from eca_nvim.agents.acp.requests.acts import Act, ActKind, is_command, real_paths
from eca_nvim.agents.acp.session import Session
from eca_nvim.agents.acp.updates.changes import absolute
from eca_nvim.chat.model.call_files import changed_paths
from eca_nvim.chat.vocabulary.call_details import ToolCall

MOST_SCOPES = 1000
"""Answers for always that count, at most; of more the oldest count no longer."""
MOST_NAMED = 3
"""Files that a call names which a request for permission shows."""

_FOLDERS: Final = frozenset(
    {
        *("cwd", "dir", "dirpath", "directory", "folder", "path"),
        *("workdir", "workingdir", "workingdirectory"),
    }
)
"""Arguments that name the folder of a command, in lower case and without `_`."""
_VARIABLES: Final = frozenset({"env", "environment", "environmentvariables", "variables"})
"""Arguments that name the variables of a command, written in the same way."""


class Scope(Struct, frozen=True):
    """What an answer covers: files by their real paths, or a shell line in one of some folders.

    workspace: any ordinary file of the workspace may be changed.
    """

    read: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()
    command: str | None = None
    folders: frozenset[str] = frozenset()
    variables: tuple[str, ...] = ()
    workspace: bool = False

    def covers(self, act: Act) -> bool:
        """Return whether an act is covered, unless it is about any file of the workspace."""
        match act.kind:
            case ActKind.READ:
                return act.subject in self.read or act.subject in self.written
            case ActKind.WRITE:
                return act.subject in self.written
            case ActKind.EXECUTE:
                is_there = act.folder in self.folders and act.variables == self.variables
                return self.command is not None and is_there and is_command(act, self.command)


def scope_of_act(act: Act, *, is_of_workspace: bool) -> Scope:
    """Return what the answer "always" to our own question about an act covers.

    is_of_workspace: it writes an ordinary file of the workspace.
    """
    match act.kind:
        case ActKind.READ:
            return Scope(read=frozenset({act.subject}))
        case ActKind.WRITE if is_of_workspace:
            return Scope(workspace=True)
        case ActKind.WRITE:
            return Scope(written=frozenset({act.subject}))
        case ActKind.EXECUTE:
            folders = frozenset({act.folder})
            return Scope(command=act.subject, folders=folders, variables=act.variables)


def scope_of_call(call: ToolCall, folder: str) -> Scope:
    """Return what a permission covers that showed a call; `folder`: that of the agent."""
    named = {it.path for it in call.locations or ()}
    has_variables = any(_arguments(call, _VARIABLES))
    return Scope(
        read=real_paths(named) if len(named) <= MOST_NAMED else frozenset(),
        written=real_paths(changed_paths(call)),
        command=None if has_variables else call.command,
        folders=real_paths(_folders(call, folder)),
    )


def _folders(call: ToolCall, folder: str) -> list[str]:
    """Return the folders that a call names for its command, else that of the agent."""
    named = [it for it in _arguments(call, _FOLDERS) if isinstance(it, str) and it]
    return [absolute(it, (), folder) for it in named] or [folder]


def _arguments(call: ToolCall, names: frozenset[str]) -> Iterator[object]:
    """Yield the arguments with one of some names, however it is written (`workDir`, `work_dir`)."""
    for name, value in (call.arguments or {}).items():
        if name.replace("_", "").lower() in names:
            yield value


class Grants(Struct):
    """What is allowed in a chat; `once`: by the ids of calls."""

    once: dict[str, Scope] = field(default_factory=dict)
    always: list[Scope] = field(default_factory=list)

    def add(self, scope: Scope) -> None:
        """Note that the user has allowed something for all of the chat."""
        if scope not in self.always:
            self.always.append(scope)
            del self.always[:-MOST_SCOPES]


class Granted:
    """What is allowed in the chats of an agent, also of its earlier processes; by our chat id."""

    def __init__(self) -> None:
        self._chats: dict[str, Grants] = {}

    def allow(self, session: Session, call: ToolCall, *, always: bool) -> None:
        """Note that the user has answered the agent's question about a call, as it was shown."""
        scope, grants = scope_of_call(call, session.folder), self._of(session)
        grants.once[call.id] = scope
        if always:
            grants.add(scope)

    def allow_files(self, session: Session, call: ToolCall) -> None:
        """Note that the user has answered our own question; a command that it shows runs once."""
        scope = scope_of_call(call, session.folder)
        self._of(session).once[call.id] = replace(scope, command=None)

    def allow_always(self, session: Session, scope: Scope) -> None:
        """Note that the user has answered "always" to our own question."""
        self._of(session).add(scope)

    def cover(self, session: Session, act: Act, *, is_of_workspace: bool) -> bool:
        """Return whether an act is allowed; `is_of_workspace` as in `scope_of_act`."""
        scopes = (*self._running(session).values(), *self._of(session).always)
        return any(it.covers(act) or (it.workspace and is_of_workspace) for it in scopes)

    def use_up(self, session: Session, act: Act) -> None:
        """Let a command that is about to run be covered by one answer for once fewer."""
        grants = self._of(session)
        if act.kind is not ActKind.EXECUTE or any(it.covers(act) for it in grants.always):
            return
        for call_id, scope in self._running(session).items():
            if scope.covers(act):
                grants.once[call_id] = replace(scope, command=None)
                return

    def forget(self, chat_id: str) -> None:
        """Forget a chat that is gone."""
        self._chats.pop(chat_id, None)

    def _of(self, session: Session) -> Grants:
        return self._chats.setdefault(session.chat_id, Grants())

    def _running(self, session: Session) -> Mapping[str, Scope]:
        """Return the answers for once that count: their calls run. Forgets the others."""
        grants, runs = self._of(session), session.inbox.runs
        grants.once = {call_id: it for call_id, it in grants.once.items() if runs(call_id)}
        return grants.once

"""Grants: what the user has allowed in a chat, and which acts that covers.

Rules kept here:
- A permission covers what it showed: the real paths of its files as they were at the answer, and
  its whole command. A link that was made later, a name with `..` and a command that only begins
  alike are not covered.
- An answer for once counts while its call runs. One for always counts in the chat; it covers the
  same paths and the same command, unless it is an answer to our own question, which says more.
- Of files that a call only names, a request for permission shows the first few and the number of
  the others: if there are more, none of them is covered.
- A command is covered in the folder of the agent, and in a folder that the permission showed, with
  no variables but those that it showed.
"""

from __future__ import annotations

from msgspec import Struct, field

from eca_nvim.agents.acp.requests.acts import Act, ActKind, is_command, real_paths
from eca_nvim.agents.acp.session import Session
from eca_nvim.chat.model.call_files import changed_paths
from eca_nvim.chat.vocabulary.call_details import ToolCall

MOST_SCOPES = 1000
"""Answers for always that count, at most; of more the oldest count no longer."""
MOST_NAMED = 3
"""Files that a call names which a request for permission shows."""


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
    shown = (it for it in (call.arguments or {}).values() if isinstance(it, str))
    named = {it.path for it in call.locations or ()}
    return Scope(
        read=real_paths(named) if len(named) <= MOST_NAMED else frozenset(),
        written=real_paths(changed_paths(call)),
        command=call.command,
        folders=real_paths((folder, *(it for it in shown if it.startswith("/")))),
    )


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
        """Note that the user has allowed a call of the agent, as it was shown."""
        scope, grants = scope_of_call(call, session.folder), self._of(session)
        grants.once[call.id] = scope
        if always:
            grants.add(scope)

    def allow_always(self, session: Session, scope: Scope) -> None:
        """Note that the user has answered "always" to our own question."""
        self._of(session).add(scope)

    def cover(self, session: Session, act: Act, *, is_of_workspace: bool) -> bool:
        """Return whether an act is allowed; `is_of_workspace` as in `scope_of_act`."""
        grants = self._of(session)
        runs = session.inbox.runs
        grants.once = {call_id: it for call_id, it in grants.once.items() if runs(call_id)}
        scopes = (*grants.once.values(), *grants.always)
        return any(it.covers(act) or (it.workspace and is_of_workspace) for it in scopes)

    def forget(self, chat_id: str) -> None:
        """Forget a chat that is gone."""
        self._chats.pop(chat_id, None)

    def _of(self, session: Session) -> Grants:
        return self._chats.setdefault(session.chat_id, Grants())

"""Grants: what the user has allowed in a chat, and which acts that covers.

A permission covers what its request showed, and no more: acts with all their data.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Final, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from eca_nvim.agents.acp.requests.acts import Act, ActKind, count_made_of, is_command, real_paths
from eca_nvim.agents.acp.session import Session
from eca_nvim.agents.acp.updates.changes import absolute
from eca_nvim.chat.model.calls import folder_arguments, is_safe_path, listed_files, plain_name
from eca_nvim.chat.vocabulary.call_details import FileChange, ToolCall

MOST_SCOPES = 1000
"""Answers for always that count, at most; of more the oldest count no longer."""

_HARMLESS: Final = frozenset(
    {
        *("command", "description", "explanation", "justification", "reason", "summary", "title"),
        *("background", "isbackground", "runinbackground"),
        *("timeout", "timeoutms", "timeoutseconds"),
    }
)
"""Arguments that change nothing of a command, in the form of `plain_name`."""
_EMPTY: Final[tuple[object, ...]] = (None, "", {}, [])
"""Values of arguments that say nothing."""


Change: TypeAlias = tuple[str, FileChange]
"""The real path of a file, and the change of it that was shown."""


class Scope(Struct, frozen=True):
    """What an answer covers: files by their real paths, or a shell line in a folder.

    Paths are real as they were at the answer: a link that was made later is not covered.

    changes: in the order in which they were shown. written: files that may be given any text.
    workspace: any ordinary file of the workspace may be.
    """

    read: frozenset[str] = frozenset()
    changes: tuple[Change, ...] = ()
    written: frozenset[str] = frozenset()
    command: str | None = None
    folder: str = ""
    variables: tuple[str, ...] = ()
    workspace: bool = False

    def covers(self, act: Act) -> bool:
        """Return whether an act is covered, unless it is about any file of the workspace."""
        match act.kind:
            case ActKind.READ:
                return act.subject in self.read
            case ActKind.WRITE:
                return act.subject in self.written or self._applied(act) is not None
            case ActKind.EXECUTE:
                is_there = act.folder == self.folder and act.variables == self.variables
                return self.command is not None and is_there and is_command(act, self.command)

    def after(self, act: Act) -> Scope:
        """Return what is left of an answer for once after an act that it covers."""
        match act.kind:
            case ActKind.READ:
                return self
            case ActKind.EXECUTE:
                return replace(self, command=None)
            case ActKind.WRITE:
                of_file = [change for change in self.changes if change[0] == act.subject]
                done = of_file[: self._applied(act) or 0]
                return replace(self, changes=tuple(it for it in self.changes if it not in done))

    def _applied(self, act: Act) -> int | None:
        """Return how many of the shown changes a write makes; None: it makes something else.

        Some agents make a change on the disk, and also write it through us (opencode 1.18.33).
        """
        changes = [change for path, change in self.changes if path == act.subject]
        return 0 if changes and act.old == act.new else count_made_of(act, changes)


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
            return Scope(command=act.subject, folder=act.folder, variables=act.variables)


def scope_of_call(call: ToolCall, folder: str) -> Scope:
    """Return what a permission covers that showed a call; `folder`: that of the agent.

    A command that was shown with any other argument is not covered, unless that is known to change
    nothing: nobody knows what variables, words or a host beside it mean to the agent.
    """
    named = folder_arguments(call)
    folders = real_paths(absolute(it, (), folder) for it in named.values() or [folder])
    given = (call.arguments or {}).items()
    others = {name for name, value in given if value not in _EMPTY and name not in named}
    changes = [it for it in call.changes or () if is_safe_path(it.path)]
    is_clear = len(folders) == 1 and all(plain_name(it) in _HARMLESS for it in others)
    return Scope(
        read=real_paths(listed_files(call)),
        changes=tuple((path, it) for it in changes for path in real_paths([it.path])),
        command=call.command if is_clear else None,
        folder=min(folders, default=""),
    )


class _Grants(Struct):
    """What is allowed in a chat; `once`: by the ids of calls."""

    once: dict[str, Scope] = field(default_factory=dict)
    always: list[Scope] = field(default_factory=list)


class Granted:
    """What is allowed in the chats of an agent, also of its earlier processes."""

    def __init__(self) -> None:
        self._chats = defaultdict[str, _Grants](_Grants)  # by our chat ids

    def allow(self, session: Session, call: ToolCall, *, always: bool) -> None:
        """Note that the user has answered the agent's question about a call, as it was shown."""
        scope = scope_of_call(call, session.folder)
        self._chats[session.chat_id].once[call.id] = scope
        if always:  # but a change is made only once
            self.allow_always(session, replace(scope, changes=()))

    def allow_read(self, session: Session, call_id: str, path: str) -> None:
        """Note that the user has answered our own question: a call may read a file in parts."""
        self._chats[session.chat_id].once[call_id] = Scope(read=frozenset({path}))

    def allow_always(self, session: Session, scope: Scope) -> None:
        """Note that the user has allowed something for all of the chat."""
        always = self._chats[session.chat_id].always
        if scope not in always:
            always.append(scope)
            del always[:-MOST_SCOPES]

    def cover(self, session: Session, act: Act, *, is_of_workspace: bool) -> bool:
        """Return whether an act is allowed; `is_of_workspace` as in `scope_of_act`."""
        scopes = (*self._running(session).values(), *self._chats[session.chat_id].always)
        return any(it.covers(act) or (it.workspace and is_of_workspace) for it in scopes)

    def use_up(self, session: Session, act: Act) -> None:
        """Let an act that is about to be done be covered by one answer for once fewer."""
        grants = self._chats[session.chat_id]
        if any(it.covers(act) for it in grants.always):
            return
        for call_id, scope in self._running(session).items():
            if scope.covers(act):
                grants.once[call_id] = scope.after(act)
                return

    def workspace_changed(self) -> None:
        """Ask again about what was allowed for any file of the workspace."""
        for grants in self._chats.values():
            grants.always = [scope for scope in grants.always if not scope.workspace]

    def forget(self, chat_id: str) -> None:
        """Forget a chat that is gone."""
        self._chats.pop(chat_id, None)

    def _running(self, session: Session) -> Mapping[str, Scope]:
        """Return the answers for once that count: their calls run. Forgets the others."""
        grants, runs = self._chats[session.chat_id], session.inbox.calls.runs
        grants.once = {call_id: it for call_id, it in grants.once.items() if runs(call_id)}
        return grants.once

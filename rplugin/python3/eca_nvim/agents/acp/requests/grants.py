"""Grants: what the user has allowed in a chat, and which acts that covers.

A permission covers what its request showed, and no more: acts with all their data. What an agent
remembers by itself beside that, only the agent can forget.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Final, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from eca_nvim.agents.abilities import Grant
from eca_nvim.agents.acp.requests.acts import Act, ActKind, count_made_of, is_command, real_paths
from eca_nvim.agents.acp.session import Session
from eca_nvim.agents.acp.updates.changes import absolute
from eca_nvim.agents.base import KeptProjects
from eca_nvim.chat.model.calls import folder_arguments, is_safe_path, listed_files, plain_name
from eca_nvim.chat.vocabulary.call_details import FileChange, ToolCall

MOST_SCOPES = 1000
"""Answers for always that count, at most; of more the oldest count no longer."""

ALWAYS: Final[Mapping[ActKind, str]] = {
    ActKind.READ: "read this file",
    ActKind.WRITE: "write this file",
    ActKind.EXECUTE: "this command here",
}
ALWAYS_OF_WORKSPACE: Final = "any workspace file"
"""What is allowed, in the words of our own questions."""
AS_PROJECT: Final = "as a project: read its files unasked"
_PROJECT: Final = "project "
"""What the id of a grant for a project begins with; the others are numbers, or of agents."""
_KEPT_BY_AGENT: Final = "the agent keeps this answer: only the agent can forget it"

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

    @property
    def words(self) -> Sequence[str]:
        """What it covers whenever the agent wants it, one item each; none if that is nothing."""
        found = [f"{ALWAYS[ActKind.READ]}: {path}" for path in sorted(self.read)]
        found += [f"{ALWAYS[ActKind.WRITE]}: {path}" for path in sorted(self.written)]
        if self.command is not None:
            line = " ".join((*self.variables, self.command))
            found.append(f"{ALWAYS[ActKind.EXECUTE]}: {line} (in {self.folder})")
        return [ALWAYS_OF_WORKSPACE, *found] if self.workspace else found

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
    """What is allowed in a chat; `once`: by the ids of calls, `always`: by ids of ours.

    by_agent: what the agent itself has been asked to allow always.
    """

    once: dict[str, Scope] = field(default_factory=dict)
    always: dict[str, Scope] = field(default_factory=dict)
    by_agent: dict[str, None] = field(default_factory=dict)


class Granted:
    """What is allowed in the chats of an agent, also of its earlier processes.

    projects: what else is a project than a repository, in all chats.
    """

    def __init__(self, projects: KeptProjects) -> None:
        self.projects = projects
        self._ids = count(1)
        self._chats = defaultdict[str, _Grants](_Grants)  # by our chat ids

    def allow(self, session: Session, call: ToolCall, *, always: str | None) -> None:
        """Note that the user has answered the agent's question about a call, as it was shown.

        always: the agent's words for an answer that is to hold from now on; None: it does not.
        """
        scope, grants = scope_of_call(call, session.folder), self._chats[session.chat_id]
        grants.once[call.id] = scope
        if always is not None:  # but a change is made only once
            self.allow_always(session, replace(scope, changes=()))
            grants.by_agent[f"{always}, answered for {_name_of(call)}"] = None
            _forget_oldest(grants.by_agent)

    def allow_read(self, session: Session, call_id: str, path: str) -> None:
        """Note that the user has answered our own question: a call may read a file in parts."""
        self._chats[session.chat_id].once[call_id] = Scope(read=frozenset({path}))

    def allow_always(self, session: Session, scope: Scope) -> None:
        """Note that the user has allowed something for all of the chat."""
        always = self._chats[session.chat_id].always
        if scope not in always.values():
            always[str(next(self._ids))] = scope
            _forget_oldest(always)

    def cover(self, session: Session, act: Act, *, is_of_workspace: bool) -> bool:
        """Return whether an act is allowed; `is_of_workspace` as in `scope_of_act`."""
        scopes = (*self._running(session).values(), *self._chats[session.chat_id].always.values())
        return any(it.covers(act) or (it.workspace and is_of_workspace) for it in scopes)

    def use_up(self, session: Session, act: Act) -> None:
        """Let an act that is about to be done be covered by one answer for once fewer."""
        grants = self._chats[session.chat_id]
        if any(it.covers(act) for it in grants.always.values()):
            return
        for call_id, scope in self._running(session).items():
            if scope.covers(act):
                grants.once[call_id] = scope.after(act)
                return

    def workspace_changed(self) -> None:
        """Ask again about what was allowed for any file of the workspace."""
        for grants in self._chats.values():
            grants.always = {
                it: scope for it, scope in grants.always.items() if not scope.workspace
            }

    def forget(self, chat_id: str) -> None:
        """Forget a chat that is gone."""
        self._chats.pop(chat_id, None)

    # --- what the user sees of it (`abilities.Grants`) --------------------------------------------

    def standing(self) -> Sequence[Grant]:
        """Return what is allowed from now on in each chat, and what the agents keep."""
        found = [
            Grant(f"{_PROJECT}{it}", (f"treat {it} {AS_PROJECT}",))
            for it in self.projects.projects()
        ]
        for chat_id, grants in self._chats.items():
            worded = ((it, scope.words) for it, scope in grants.always.items())
            found += [Grant(it, words, chat_id) for it, words in worded if words]
            found += [
                Grant(f"{chat_id} {it}", (it,), chat_id, ends=_KEPT_BY_AGENT)
                for it in grants.by_agent
            ]
        return found

    def revoke(self, grant_id: str) -> None:
        """Ask again from now on about what a grant covers; a call that runs keeps its answer."""
        if grant_id.startswith(_PROJECT):
            self.projects.keep_project(grant_id.removeprefix(_PROJECT), is_one=False)
        for grants in self._chats.values():
            grants.always.pop(grant_id, None)

    def has_asked(self, tool: str, tool_server: str | None) -> bool:  # noqa: ARG002 - no names
        """Return whether a tool has asked: an agent does not name its tools."""
        return False

    def _running(self, session: Session) -> Mapping[str, Scope]:
        """Return the answers for once that count: their calls run. Forgets the others."""
        grants, runs = self._chats[session.chat_id], session.inbox.calls.runs
        grants.once = {call_id: it for call_id, it in grants.once.items() if runs(call_id)}
        return grants.once


def _forget_oldest(kept: dict[str, Scope] | dict[str, None]) -> None:
    while len(kept) > MOST_SCOPES:
        del kept[next(iter(kept))]


def _name_of(call: ToolCall) -> str:
    """Return what a call is about, in words."""
    title = (it if isinstance(it, str) else it.path for it in call.title or ())
    return call.command or " ".join(title) or call.name or "a tool"

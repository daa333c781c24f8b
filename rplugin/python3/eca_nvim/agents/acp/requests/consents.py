"""Consents: asks the user before we do for an agent what no permission of the chat covers."""

import logging
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from eca_nvim.agents.acp.requests.acts import Act, ActKind, is_shown_by, name_in
from eca_nvim.agents.acp.requests.grants import scope_of_act
from eca_nvim.agents.acp.requests.permissions import MOST_ASKED, Permissions
from eca_nvim.agents.acp.session import Session, SessionState, TurnState
from eca_nvim.agents.base import KeptProjects
from eca_nvim.chat.vocabulary import requests
from eca_nvim.chat.vocabulary.options import Unasked
from eca_nvim.path_risks import is_inside, is_project, may_be_project, path_risks, real_path
from eca_nvim.protocol.acp import tool_call

_ALWAYS: Final[Mapping[ActKind, str]] = {
    ActKind.READ: "read this file",
    ActKind.WRITE: "write this file",
    ActKind.EXECUTE: "this command here",
}
_ALWAYS_OF_WORKSPACE: Final = "any workspace file"
_PROJECT: Final = "project"
"""The id of the answer that makes a folder a project."""

logger = logging.getLogger(__name__)


class Consents:
    """Asks for the acts of one agent process; `folders`: those of the workspace."""

    def __init__(
        self, permissions: Permissions, folders: Sequence[str], kept_projects: KeptProjects
    ) -> None:
        self.permissions = permissions
        self._granted = permissions.granted
        self._folders = folders
        self._kept_projects = kept_projects

    async def allows(self, session: Session, act: Act, call_id: str) -> bool:
        """Return whether an act may be done; asks the user if that is not known.

        call_id: the agent's id of the call that shows the act (`call_of`), else an id for one of
        ours (`acts.begin`). If the wait is cancelled, the question is closed.
        """
        if session.turn is TurnState.STOPPING or session.state is SessionState.FORGOTTEN:
            return False
        if not self.must_ask(session, act):
            self._granted.use_up(session, act)
            return True
        if self.permissions.count(session) >= MOST_ASKED:
            return False
        of_workspace = self._is_of_workspace(act)
        folder = self._possible_project(act)
        options = (*self._options(act, folder, of_workspace=of_workspace),)
        choice = await self._ask(session, act, call_id, options)
        if choice is None or choice.kind not in requests.ALLOWING:
            return False
        if folder is not None and choice.id == _PROJECT:
            self._kept_projects.keep_project(folder)
        elif choice.kind is requests.ChoiceKind.ALLOW_ALWAYS:
            self._granted.allow_always(session, scope_of_act(act, is_of_workspace=of_workspace))
        return True

    def call_of(self, session: Session, act: Act) -> str | None:
        """Return the agent's id of the call that says it does this; None if there is none."""
        open_calls = session.inbox.calls.open_calls()
        return next((call_id for call_id, call in open_calls if is_shown_by(act, call)), None)

    def name_of(self, session: Session, act: Act, written: str) -> str:
        """Return the path by which the user knows a file: that of the call that names it.

        Else as it is `written` by the agent, unless a link leads out of the workspace.
        """
        calls = (call for _, call in session.inbox.calls.open_calls())
        named = next(filter(None, (name_in(act, call) for call in calls)), None)
        return named or (written if is_inside(act.subject, self._folders) else act.subject)

    def must_ask(self, session: Session, act: Act) -> bool:
        """Return whether no permission covers an act; a trusted chat answers by itself then.

        A read in a project needs none. Nor does anything in a mode that the user has chosen and in
        which this agent does not ask.
        """
        if act.kind is ActKind.READ and is_inside(act.subject, self._projects()):
            return False
        of_workspace = self._is_of_workspace(act)
        match session.inbox.options.unasked:
            case Unasked.ALL:
                return False
            case Unasked.EDITS if of_workspace:
                return False
        return not self._granted.cover(session, act, is_of_workspace=of_workspace)

    def _options(
        self, act: Act, folder: str | None, *, of_workspace: bool
    ) -> Iterator[tool_call.PermissionOption]:
        """Yield the answers to our own question; `folder`: one that may become a project."""
        yield tool_call.PermissionOption("once", "Allow once", tool_call.OptionKind.ALLOW_ONCE)
        always = _ALWAYS_OF_WORKSPACE if of_workspace else _ALWAYS[act.kind]
        is_write = act.kind is ActKind.WRITE
        if not (is_write and path_risks(act.subject, self._folders)):  # programs obey such a file
            name = f"Always in this chat: {always}"
            yield tool_call.PermissionOption("always", name, tool_call.OptionKind.ALLOW_ALWAYS)
        if folder is not None:
            home = posixpath.expanduser("~")
            shown = f"~{folder[len(home) :]}" if folder.startswith(f"{home}/") else folder
            name = f"Treat {shown} as a project: read its files unasked, from now on"
            yield tool_call.PermissionOption(_PROJECT, name, tool_call.OptionKind.ALLOW_ALWAYS)
        yield tool_call.PermissionOption("reject", "Reject", tool_call.OptionKind.REJECT_ONCE)

    def _is_of_workspace(self, act: Act) -> bool:
        """Return whether an act writes an ordinary file: in the workspace, obeyed by no program."""
        is_write = act.kind is ActKind.WRITE and is_inside(act.subject, self._projects())
        return is_write and not path_risks(act.subject, self._folders)

    def _projects(self) -> Sequence[str]:
        """Return the folders of the workspace that are repositories, or that the user treats so.

        The home folder, one above it, or the root never is.
        """
        kept = self._kept_projects.is_project
        return [
            it
            for it in self._folders
            if is_project(it) or (may_be_project(it) and kept(real_path(it)))
        ]

    def _possible_project(self, act: Act) -> str | None:
        """Return the real path of the folder that would be a project if the user said so."""
        if act.kind is ActKind.EXECUTE or path_risks(act.subject, self._folders):
            return None
        others = {*self._folders} - {*self._projects()}
        found = (it for it in others if may_be_project(it) and is_inside(act.subject, [it]))
        return next(map(real_path, found), None)

    async def _ask(
        self,
        session: Session,
        act: Act,
        call_id: str,
        options: tuple[tool_call.PermissionOption, ...],
    ) -> requests.Choice | None:
        """Ask until the answer is to a question that shows the act.

        The agent may change its call while we ask about it. The user sees the call as it is then.
        """
        asked = tool_call.RequestPermission(session.id, act.call(call_id), options)
        reads = act.subject if act.kind is ActKind.READ else None
        while True:
            question = self.permissions.ask(session, asked, reads=reads)
            try:
                await question.answered.wait()
            finally:
                self.permissions.retract(question)
            if not question.is_about_another:
                return question.choice
            logger.warning("asked again: the agent has changed its call %s meanwhile", call_id)

"""Permissions: the user lets a call of the agent run, or lets us do what the agent wants of us."""

import logging
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Final

import anyio
from msgspec import Struct, field

from eca_nvim.agents.acp.link import Link
from eca_nvim.agents.acp.requests.acts import Act, ActKind, is_shown_by, name_in
from eca_nvim.agents.acp.requests.grants import (
    ALWAYS,
    ALWAYS_OF_WORKSPACE,
    AS_PROJECT,
    Granted,
    scope_of_act,
)
from eca_nvim.agents.acp.session import Session, SessionState, TurnState
from eca_nvim.chat.vocabulary.call_details import ToolCall
from eca_nvim.chat.vocabulary.options import Unasked
from eca_nvim.chat.vocabulary.requests import ALLOWING, Choice, ChoiceKind
from eca_nvim.jsonrpc import MessageId
from eca_nvim.path_risks import is_inside, may_be_project, path_risks, projects, real_path
from eca_nvim.protocol.acp import tool_call
from eca_nvim.protocol.acp.tool_call import RequestPermission

MOST_ASKED: Final = 100
"""Questions that wait in a chat, at most: the agent's and our own."""

_PROJECT: Final = "project"
"""The id of the answer that makes a folder a project."""
_TOO_MANY: Final = f"{MOST_ASKED} questions wait for the user already"
_REJECTIONS: Final = (ChoiceKind.REJECT_ONCE, ChoiceKind.REJECT_ALWAYS)
"""Without an answer a call is rejected, rather for once."""

logger = logging.getLogger(__name__)


class Question(Struct, eq=False):
    """A request for permission that waits for the user.

    request_id: the agent's, None if the request is our own. reads: the file that our own question
    is about, if it is a read; the call may read it in parts then. choice: the answer, None if the
    question was closed. is_about_another: the call does something else now than when we asked,
    because the agent has changed it meanwhile.
    """

    request_id: MessageId | None
    session: Session
    call: ToolCall
    choices: tuple[Choice, ...]
    reads: str | None = None
    answered: anyio.Event = field(default_factory=anyio.Event)
    choice: Choice | None = None
    is_about_another: bool = False


class Permissions:
    """What the user is asked for one agent process; `folders`: those of the workspace.

    The agent asks about its calls (session/request_permission), we about its acts.
    """

    def __init__(self, link: Link, granted: Granted, folders: Sequence[str]) -> None:
        self._link = link
        self.granted = granted
        self._folders = folders
        self._keys = count(1)
        self._open: dict[Session, dict[str, Question]] = {}  # by the ids of their calls

    def start(self, request_id: MessageId, session: Session, asked: RequestPermission) -> None:
        """Ask the user for the agent."""
        if session.turn is TurnState.STOPPING:
            self._respond(request_id, None)
        elif self.count(session) >= MOST_ASKED:
            self._link.refuse_excess(request_id, _TOO_MANY)
        else:
            self.ask(session, asked, request_id=request_id)

    def ask(
        self,
        session: Session,
        asked: RequestPermission,
        *,
        request_id: MessageId | None = None,
        reads: str | None = None,
    ) -> Question:
        """Ask the user; a trusted chat answers at once."""
        before, requested = session.inbox.requested(str(next(self._keys)), asked)
        call = requested.call
        self.supersede(session, call.id)
        question = Question(request_id, session, call, requested.choices, reads)
        self._open.setdefault(session, {})[call.id] = question
        if request_id is not None:
            self._link.on_cancel(request_id, partial(self._withdraw, question, request_id))
        session.say(*before, requested)
        return question

    def count(self, session: Session) -> int:
        """Return how many requests of a session wait for the user."""
        return len(self._of(session))

    def decide(
        self, session: Session, call_id: str, choice_id: str | None, shown: ToolCall | None = None
    ) -> None:
        """Answer the request of a call by one of its choices; None rejects it.

        shown: the call as the user saw it; None: nothing was seen, and nothing may be done.
        """
        asked = self._of(session).get(call_id)
        if asked is None:
            logger.debug("the request of call %s is closed already", call_id)
            return
        rejects = (it for kind in _REJECTIONS for it in asked.choices if it.kind is kind)
        choice = next((it for it in asked.choices if it.id == choice_id), next(rejects, None))
        self._answer(asked, choice, shown)

    def cancel(self, session: Session) -> None:
        """Answer the open requests of a session `cancelled`; the chat has closed them already."""
        for asked in (*self._of(session).values(),):
            self._answer(asked, None)
        self._open.pop(session, None)

    def retract(self, asked: Question) -> None:
        """Close a request that nobody needs any more, without an answer."""
        if self._of(asked.session).get(asked.call.id) is asked:
            del self._open[asked.session][asked.call.id]
            asked.session.say(*asked.session.inbox.calls.withdrawn(asked.call.id))

    def supersede(self, session: Session, call_id: str) -> None:
        """Answer the open request of a call `cancelled`: the chat does not show it any more."""
        asked = self._of(session).get(call_id)
        if asked is not None:
            del self._open[asked.session][asked.call.id]
            self._settle(asked, None)

    def _of(self, session: Session) -> Mapping[str, Question]:
        """Return the open requests of a session; no entry is made: it may be gone."""
        return self._open.get(session, {})

    def _withdraw(self, asked: Question, request_id: MessageId) -> None:
        self._link.refuse_cancelled(request_id)
        self.retract(asked)

    def _answer(
        self, asked: Question, choice: Choice | None, shown: ToolCall | None = None
    ) -> None:
        del self._open[asked.session][asked.call.id]
        session = asked.session
        running = session.inbox.calls.decided(asked.call.id, choice)
        if choice is not None and running is not None and shown is not None:
            # What is granted is what the user saw, never what the agent says beside it.
            if asked.request_id is not None:
                always = choice.name if choice.kind is ChoiceKind.ALLOW_ALWAYS else None
                self.granted.allow(session, shown, always=always)
            elif asked.reads is not None:
                self.granted.allow_read(session, shown.id, asked.reads)
        if running is not None:
            asked.is_about_another = _does(running.call) != _does(asked.call)
        self._settle(asked, choice)
        if running is not None:
            session.say(running)

    def _settle(self, asked: Question, choice: Choice | None) -> None:
        asked.choice = choice
        asked.answered.set()
        if asked.request_id is not None:
            self._respond(asked.request_id, choice)

    def _respond(self, request_id: MessageId, choice: Choice | None) -> None:
        chosen = tool_call.Cancelled() if choice is None else tool_call.Selected(choice.id)
        self._link.respond(request_id, tool_call.PermissionResult(chosen))

    # --- what the agent wants of us -------------------------------------------------------------

    async def allows(self, session: Session, act: Act, call_id: str) -> bool:
        """Return whether an act may be done; asks the user if that is not known.

        call_id: the agent's id of the call that shows the act (`call_of`), else an id for one of
        ours (`acts.begin`). If the wait is cancelled, the question is closed.
        """
        if session.turn is TurnState.STOPPING or session.state is SessionState.FORGOTTEN:
            return False
        if not self.must_ask(session, act):
            self.granted.use_up(session, act)
            return True
        if self.count(session) >= MOST_ASKED:
            return False
        of_workspace = self._is_of_workspace(act)
        folder = self._possible_project(act)
        options = (*self._options(act, folder, of_workspace=of_workspace),)
        choice = await self._choice_for(session, act, call_id, options)
        if choice is None or choice.kind not in ALLOWING:
            return False
        if folder is not None and choice.id == _PROJECT:
            self.granted.projects.keep_project(folder)
        elif choice.kind is ChoiceKind.ALLOW_ALWAYS:
            self.granted.allow_always(session, scope_of_act(act, is_of_workspace=of_workspace))
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
        return not self.granted.cover(session, act, is_of_workspace=of_workspace)

    def _options(
        self, act: Act, folder: str | None, *, of_workspace: bool
    ) -> Iterator[tool_call.PermissionOption]:
        """Yield the answers to our own question; `folder`: one that may become a project."""
        yield tool_call.PermissionOption("once", "Allow once", tool_call.OptionKind.ALLOW_ONCE)
        always = ALWAYS_OF_WORKSPACE if of_workspace else ALWAYS[act.kind]
        is_write = act.kind is ActKind.WRITE
        if not (is_write and path_risks(act.subject, self._folders)):  # programs obey such a file
            name = f"Always in this chat: {always}"
            yield tool_call.PermissionOption("always", name, tool_call.OptionKind.ALLOW_ALWAYS)
        if folder is not None:
            home = posixpath.expanduser("~")
            shown = f"~{folder[len(home) :]}" if folder.startswith(f"{home}/") else folder
            name = f"Treat {shown} {AS_PROJECT}, from now on"
            yield tool_call.PermissionOption(_PROJECT, name, tool_call.OptionKind.ALLOW_ALWAYS)
        yield tool_call.PermissionOption("reject", "Reject", tool_call.OptionKind.REJECT_ONCE)

    def _is_of_workspace(self, act: Act) -> bool:
        """Return whether an act writes an ordinary file: in the workspace, obeyed by no program."""
        is_write = act.kind is ActKind.WRITE and is_inside(act.subject, self._projects())
        return is_write and not path_risks(act.subject, self._folders)

    def _projects(self) -> Sequence[str]:
        return projects(self._folders, self.granted.projects.is_project)

    def _possible_project(self, act: Act) -> str | None:
        """Return the real path of the folder that would be a project if the user said so."""
        if act.kind is ActKind.EXECUTE or path_risks(act.subject, self._folders):
            return None
        others = {*self._folders} - {*self._projects()}
        found = (it for it in others if may_be_project(it) and is_inside(act.subject, [it]))
        return next(map(real_path, found), None)

    async def _choice_for(
        self,
        session: Session,
        act: Act,
        call_id: str,
        options: tuple[tool_call.PermissionOption, ...],
    ) -> Choice | None:
        """Ask until the answer is to a question that shows the act.

        The agent may change its call while we ask about it. The user sees the call as it is then.
        """
        asked = tool_call.RequestPermission(session.id, act.call(call_id), options)
        reads = act.subject if act.kind is ActKind.READ else None
        while True:
            question = self.ask(session, asked, reads=reads)
            try:
                await question.answered.wait()
            finally:
                self.retract(question)
            if not question.is_about_another:
                return question.choice
            logger.warning("asked again: the agent has changed its call %s meanwhile", call_id)


def _does(call: ToolCall) -> tuple[object, ...]:
    """Return what a call says of what it does; its title and its note are words about it."""
    return (call.kind, call.command, call.arguments, call.locations, call.changes)

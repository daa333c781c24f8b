"""Permissions: requests to let a call run, of the agent or our own about what it wants of us."""

import logging
from collections import defaultdict
from functools import partial
from itertools import count
from typing import Final

import anyio
from msgspec import Struct, field

from eca_nvim.agents.acp.link import Link
from eca_nvim.agents.acp.requests.grants import Granted
from eca_nvim.agents.acp.session import Session, TurnState
from eca_nvim.chat.vocabulary.call_details import ToolCall
from eca_nvim.chat.vocabulary.requests import Choice, ChoiceKind
from eca_nvim.jsonrpc import MessageId
from eca_nvim.protocol.acp import tool_call
from eca_nvim.protocol.acp.tool_call import RequestPermission

MOST_ASKED: Final = 100
"""Questions that wait in a chat, at most: the agent's and our own."""

_TOO_MANY: Final = f"{MOST_ASKED} questions wait for the user already"
_REJECTIONS: Final = (ChoiceKind.REJECT_ONCE, ChoiceKind.REJECT_ALWAYS)
"""Without an answer a call is rejected, rather for once."""

logger = logging.getLogger(__name__)


class Question(Struct, eq=False):
    """A request for permission that waits for the user.

    request_id: the agent's, None if the request is our own. reads: the file
    that our own question is about, if it is a read; the call may read it in parts then. choice: the
    answer, None if the question was closed. is_about_another: the call does something else now than
    when we asked, because the agent has changed it meanwhile.
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
    """Answers the requests for permission of one agent process (session/request_permission)."""

    def __init__(self, link: Link, granted: Granted) -> None:
        self._link = link
        self.granted = granted
        self._keys = count(1)
        self._open = defaultdict[Session, dict[str, Question]](dict)  # by the ids of their calls

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
        self._open[session][call.id] = question
        if request_id is not None:
            self._link.on_cancel(request_id, partial(self._withdraw, question, request_id))
        session.say(*before, requested)
        return question

    def count(self, session: Session) -> int:
        """Return how many requests of a session wait for the user."""
        return len(self._open[session])

    def decide(
        self, session: Session, call_id: str, choice_id: str | None, shown: ToolCall | None = None
    ) -> None:
        """Answer the request of a call by one of its choices; None rejects it.

        shown: the call as the user saw it; None: nothing was seen, and nothing may be done.
        """
        asked = self._open[session].get(call_id)
        if asked is None:
            logger.debug("the request of call %s is closed already", call_id)
            return
        rejects = (it for kind in _REJECTIONS for it in asked.choices if it.kind is kind)
        choice = next((it for it in asked.choices if it.id == choice_id), next(rejects, None))
        self._answer(asked, choice, shown)

    def cancel(self, session: Session) -> None:
        """Answer the open requests of a session `cancelled`; the chat has closed them already."""
        for asked in (*self._open[session].values(),):
            self._answer(asked, None)
        del self._open[session]

    def retract(self, asked: Question) -> None:
        """Close a request that nobody needs any more, without an answer."""
        if self._open[asked.session].get(asked.call.id) is asked:
            del self._open[asked.session][asked.call.id]
            asked.session.say(*asked.session.inbox.calls.withdrawn(asked.call.id))

    def supersede(self, session: Session, call_id: str) -> None:
        """Answer the open request of a call `cancelled`: the chat does not show it any more."""
        asked = self._open[session].get(call_id)
        if asked is not None:
            del self._open[asked.session][asked.call.id]
            self._settle(asked, None)

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
                always = choice.kind is ChoiceKind.ALLOW_ALWAYS
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


def _does(call: ToolCall) -> tuple[object, ...]:
    """Return what a call says of what it does; its title and its note are words about it."""
    return (call.kind, call.command, call.arguments, call.locations, call.changes)

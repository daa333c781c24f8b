"""Elicitations: the agent asks the user to fill in a form, or to open a link.

Rules kept here:
- Each request becomes one question in a chat; the chat asks its fields and checks the answers.
- What cannot be asked is declined at once, and a line in the chat says why: agents wait.
- Only web links are asked about, and only whole ones of plain characters.
- A stop, the end of the turn, and the end of what a link was for cancel. Only the user accepts and
  declines.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, Final
from uuid import uuid4

from msgspec import Struct

from eca_nvim.agents.acp.requests.answers import Answers
from eca_nvim.agents.acp.requests.form_schema import CannotAsk, read_form
from eca_nvim.agents.acp.session import Session
from eca_nvim.chat.text.web_links import host_of
from eca_nvim.chat.vocabulary.agent_events import AgentEvent
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    NoticeReceived,
    QuestionAsked,
    QuestionClosed,
)
from eca_nvim.chat.vocabulary.forms import FormField, Value
from eca_nvim.jsonrpc import REQUEST_CANCELLED, MessageId
from eca_nvim.protocol.acp.elicitation import (
    FORM,
    URL,
    CreateElicitation,
    ElicitationCompleted,
    ElicitationResult,
)

MOST_OPEN: Final = 50
MOST_LINK: Final = 4000
_NOT_ASKED: Final = "The agent asks for something that cannot be asked here, it was declined"

logger = logging.getLogger(__name__)


class _Open(Struct, frozen=True):
    """A request that waits for the user.

    session: None for one outside of sessions. elicitation_id: the agent's, of a link that it may
    declare done; None for a form, which only the user can answer.
    """

    request_id: MessageId
    session: Session | None
    question: QuestionAsked
    elicitation_id: str | None

    @property
    def chat_id(self) -> str | None:
        return None if self.session is None else self.session.chat_id


class Elicitations:
    """Answers the elicitations of one agent process (elicitation/create)."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._ids = map(f"{uuid4().hex[:8]} {{}}".format, count(1))
        self._open: dict[str, _Open] = {}
        self._opened: dict[str, _Open] = {}
        """The links that the user has opened, by the agent's ids, until they are completed."""

    def start(
        self, request_id: MessageId, session: Session | None, asked: CreateElicitation
    ) -> Sequence[AgentEvent]:
        """Ask the user; returns the events that do it."""
        if (session is not None and session.is_stopping) or len(self._open) >= MOST_OPEN:
            logger.info("cancelled an elicitation: a stop is under way, or too many are open")
            self._answers.respond(request_id, ElicitationResult("cancel"))
            return ()
        chat_id = None if session is None else session.chat_id
        try:
            question, notice = self._question(asked)
        except CannotAsk as reason:
            self._answers.respond(request_id, ElicitationResult("decline"))
            return (Addressed(chat_id, NoticeReceived(f"{_NOT_ASKED}: {reason}")),)
        elicitation_id = None if question.link is None else asked.elicitation_id
        self._open[question.id] = _Open(request_id, session, question, elicitation_id)
        told = (question,) if notice is None else (notice, question)
        return [Addressed(chat_id, event) for event in told]

    def answer_form(self, question_id: str, content: Mapping[str, Value] | None) -> None:
        """Send the answer to a form, or the consent to a link; None declines it."""
        asked = self._open.pop(question_id, None)
        if asked is None:
            logger.debug("question %s is closed already", question_id)
            return
        if content is None:
            self._answers.respond(asked.request_id, ElicitationResult("decline"))
            return
        self._answers.respond(asked.request_id, _accepted(asked.question, content))
        if asked.elicitation_id is not None:
            self._opened[asked.elicitation_id] = asked

    def cancel_question(self, question_id: str) -> None:
        """Cancel a question that the chat has closed without an answer."""
        asked = self._open.pop(question_id, None)
        if asked is not None:
            self._answers.respond(asked.request_id, ElicitationResult("cancel"))

    def cancel(self, session: Session) -> Sequence[AgentEvent]:
        """Cancel what is open in a session; the chat has closed it already."""
        asked = [it for it in self._open.values() if it.session is session]
        for each in asked:
            self.cancel_question(each.question.id)
        return [_closed(each) for each in asked]

    def withdraw(self, request_id: MessageId) -> Sequence[AgentEvent] | None:
        """Close a request that the agent has cancelled ($/cancel_request); None: it is not open."""
        asked = next((it for it in self._open.values() if it.request_id == request_id), None)
        if asked is None:
            return None
        del self._open[asked.question.id]
        self._answers.refuse(request_id, REQUEST_CANCELLED, "the request was cancelled")
        return [_closed(asked)]

    def completed(self, told: ElicitationCompleted) -> Sequence[AgentEvent]:
        """Close a link whose purpose was reached, by the user's way or by another one."""
        opened = self._opened.pop(told.elicitation_id, None)
        if opened is not None:
            return [_closed(opened, is_done=True)]
        waits = [it for it in self._open.values() if it.elicitation_id == told.elicitation_id]
        for each in waits:
            self.cancel_question(each.question.id)
        return [_closed(each, is_done=True) for each in waits]

    def _question(self, asked: CreateElicitation) -> tuple[QuestionAsked, NoticeReceived | None]:
        """Return what to ask, and what to say about it. Raises CannotAsk."""
        if asked.mode == URL:
            return self._new(asked, link=_link(asked.url or "")), None
        if asked.mode != FORM:
            raise CannotAsk("it is neither a form nor a link")
        if asked.requested_schema is None:
            raise CannotAsk("its fields cannot be read")
        form = read_form(asked.requested_schema)
        left_out = f"The agent's form is asked without {', '.join(form.left_out)}."
        notice = NoticeReceived(left_out) if form.left_out else None
        return self._new(asked, form=form.fields), notice

    def _new(
        self,
        asked: CreateElicitation,
        form: tuple[FormField, ...] | None = None,
        link: str | None = None,
    ) -> QuestionAsked:
        words = asked.message.strip() or "The agent asks"
        return QuestionAsked(next(self._ids), words, allow_freeform=False, form=form, link=link)


def _accepted(question: QuestionAsked, content: Mapping[str, Value]) -> ElicitationResult:
    given: dict[str, Any] | None = None if question.form is None else dict(content)
    return ElicitationResult("accept", given)


def _closed(asked: _Open, *, is_done: bool = False) -> Addressed:
    return Addressed(asked.chat_id, QuestionClosed(asked.question.id, is_done))


def _link(url: str) -> str:
    """Return a link that may be shown and opened. Raises CannotAsk."""
    if host_of(url) is None:
        raise CannotAsk("its link is not a web link")
    if len(url) > MOST_LINK:
        raise CannotAsk(f"its link has more than {MOST_LINK} characters")
    return url

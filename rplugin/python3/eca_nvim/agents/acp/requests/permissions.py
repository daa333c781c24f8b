"""Permissions: requests of the agent to let a tool call run.

Rules kept here:
- A request becomes an event of its call; the user answers the call, by its id.
- While a turn is being stopped, requests are answered `cancelled`; what is open when it ends, too.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import count
from typing import Final

from msgspec import Struct

from eca_nvim.agents.acp.requests.answers import Answers
from eca_nvim.agents.acp.sessions import Session
from eca_nvim.chat.vocabulary.agent_events import AgentEvent
from eca_nvim.chat.vocabulary.decisions import Choice, ChoiceKind
from eca_nvim.chat.vocabulary.events import Addressed, ToolRequested
from eca_nvim.jsonrpc import REQUEST_CANCELLED, MessageId
from eca_nvim.protocol.acp.lifecycle import INVALID_PARAMS
from eca_nvim.protocol.acp.permission import (
    Cancelled,
    Outcome,
    PermissionResult,
    RequestPermission,
    Selected,
)

_REJECTIONS: Final = (ChoiceKind.REJECT_ONCE, ChoiceKind.REJECT_ALWAYS)

logger = logging.getLogger(__name__)


class _Open(Struct, frozen=True):
    """A request for permission that waits for the user; `key` is our id of it."""

    request_id: MessageId
    key: str
    session: Session
    call_id: str
    choices: tuple[Choice, ...]


class Permissions:
    """Answers the requests for permission of one agent process (session/request_permission)."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._keys = count(1)
        self._open: dict[str, _Open] = {}

    def start(
        self, request_id: MessageId, session: Session, asked: RequestPermission
    ) -> Sequence[AgentEvent]:
        """Ask the user; returns the events that do it."""
        if session.is_stopping:
            self._respond(request_id, Cancelled())
            return ()
        key = str(next(self._keys))
        events = session.inbox.requested(key, asked)
        requested = _requested(events)
        if requested is None:
            self._answers.refuse(request_id, INVALID_PARAMS, "the request names no call")
            return events
        self._supersede(session, requested.call.id)
        self._open[key] = _Open(request_id, key, session, requested.call.id, requested.choices)
        return events

    def decide(self, session: Session, call_id: str, choice_id: str | None) -> Sequence[AgentEvent]:
        """Answer the request of a call by one of its choices; None rejects it."""
        asked = self._about(session, call_id)
        if asked is None:
            logger.debug("the request of call %s is closed already", call_id)
            return ()
        choice = next((it for it in asked.choices if it.id == choice_id), _rejection(asked.choices))
        return self._answer(asked, choice)

    def cancel(self, session: Session) -> Sequence[AgentEvent]:
        """Answer the open requests of a session `cancelled`; the chat has closed them already."""
        asked = [it for it in self._open.values() if it.session is session]
        return [event for each in asked for event in self._answer(each, None)]

    def withdraw(self, request_id: MessageId) -> Sequence[AgentEvent] | None:
        """Close a request that the agent has cancelled ($/cancel_request); None: it is not open."""
        asked = next((it for it in self._open.values() if it.request_id == request_id), None)
        if asked is None:
            return None
        del self._open[asked.key]
        self._answers.refuse(request_id, REQUEST_CANCELLED, "the request was cancelled")
        return asked.session.inbox.withdrawn(asked.key)

    def _supersede(self, session: Session, call_id: str) -> None:
        """Answer an earlier request of the same call: the chat shows the newest alone."""
        asked = self._about(session, call_id)
        if asked is not None:
            del self._open[asked.key]
            self._respond(asked.request_id, Cancelled())

    def _about(self, session: Session, call_id: str) -> _Open | None:
        """Return the open request of a call."""
        open_ = (it for it in self._open.values() if it.session is session)
        return next((it for it in open_ if it.call_id == call_id), None)

    def _answer(self, asked: _Open, choice: Choice | None) -> Sequence[AgentEvent]:
        del self._open[asked.key]
        self._respond(asked.request_id, Cancelled() if choice is None else Selected(choice.id))
        return asked.session.inbox.decided(asked.key, choice)

    def _respond(self, request_id: MessageId, outcome: Outcome) -> None:
        self._answers.respond(request_id, PermissionResult(outcome))


def _requested(events: Sequence[AgentEvent]) -> ToolRequested | None:
    """Return the last request among events: those before it are about what came earlier."""
    asked = (it.event for it in reversed(events) if isinstance(it, Addressed))
    return next((event for event in asked if isinstance(event, ToolRequested)), None)


def _rejection(choices: Sequence[Choice]) -> Choice | None:
    """Return the choice that rejects, rather for once; None if the agent offers none."""
    found = (it for kind in _REJECTIONS for it in choices if it.kind is kind)
    return next(found, None)

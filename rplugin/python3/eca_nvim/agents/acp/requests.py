"""Requests: what the agent asks us, and the answers.

Rules kept here:
- Every request gets exactly one answer. One that is not known here is refused at once: agents wait.
- A request for permission becomes an event of its call; the user answers the call, by its id.
- While a turn is being stopped, requests are answered `cancelled`; what is open when it ends, too.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from typing import Final

from msgspec import Struct

from eca_nvim.agents.acp.sessions import Session, Sessions
from eca_nvim.chat.vocabulary.agent_events import AgentEvent
from eca_nvim.chat.vocabulary.decisions import Choice, ChoiceKind
from eca_nvim.chat.vocabulary.events import Addressed, ToolRequested
from eca_nvim.jsonrpc import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    REQUEST_CANCELLED,
    MessageId,
    NotOpen,
    Request,
)
from eca_nvim.protocol.acp import DecodeError, Unknown, decode_agent_request, encode
from eca_nvim.protocol.acp.lifecycle import INVALID_PARAMS
from eca_nvim.protocol.acp.permission import (
    Cancelled,
    Outcome,
    PermissionResult,
    RequestPermission,
    Selected,
)
from eca_nvim.transport import Connection, ConnectionClosed

_REJECTIONS: Final = (ChoiceKind.REJECT_ONCE, ChoiceKind.REJECT_ALWAYS)

logger = logging.getLogger(__name__)


class _Open(Struct, frozen=True):
    """A request for permission that waits for the user; `key` is our id of it."""

    request_id: MessageId
    key: str
    session: Session
    call_id: str
    choices: tuple[Choice, ...]


class AgentRequests:
    """Answers the requests of one agent process."""

    def __init__(self, connection: Connection, sessions: Sessions) -> None:
        self._connection = connection
        self._sessions = sessions
        self._keys = count(1)
        self._open: dict[str, _Open] = {}

    def start(self, request: Request) -> Sequence[AgentEvent]:
        """Start to answer a request; what the user must answer is returned as events."""
        try:
            asked = decode_agent_request(request.method, request.params)
        except (DecodeError, RecursionError) as fault:
            logger.warning("refused a request: %s", fault)
            self._refuse(request.id, INVALID_PARAMS, str(fault))
            return ()
        if isinstance(asked, Unknown):
            logger.debug("refused %s: it is not known here", asked.method)
            self._refuse(request.id, METHOD_NOT_FOUND, f"{asked.method} is not known here")
            return ()
        session = self._sessions.of_id(asked.session_id)
        if session is not None:
            return self._ask(request.id, session, asked)
        if not self._sessions.keep_early(asked.session_id, request):
            self._refuse(request.id, INVALID_PARAMS, f"there is no session {asked.session_id}")
        return ()

    def fail(self, request_id: MessageId) -> None:
        """Answer a request that could not be read because of a bug: the agent waits for it."""
        with suppress(NotOpen):  # it was answered before the bug
            self._refuse(request_id, INTERNAL_ERROR, "the client failed to read the request")

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

    def withdraw(self, request_id: MessageId) -> Sequence[AgentEvent]:
        """Close a request that the agent has cancelled ($/cancel_request)."""
        asked = next((it for it in self._open.values() if it.request_id == request_id), None)
        if asked is None:
            return ()
        del self._open[asked.key]
        self._refuse(request_id, REQUEST_CANCELLED, "the request was cancelled")
        return asked.session.inbox.withdrawn(asked.key)

    def _ask(
        self, request_id: MessageId, session: Session, asked: RequestPermission
    ) -> Sequence[AgentEvent]:
        if session.is_stopping:
            self._respond(request_id, Cancelled())
            return ()
        key = str(next(self._keys))
        events = session.inbox.requested(key, asked)
        requested = _requested(events)
        if requested is None:
            self._refuse(request_id, INVALID_PARAMS, "the request names no call")
            return events
        self._supersede(session, requested.call.id)
        self._open[key] = _Open(request_id, key, session, requested.call.id, requested.choices)
        return events

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
        with suppress(ConnectionClosed):
            self._connection.respond(request_id, encode(PermissionResult(outcome)))

    def _refuse(self, request_id: MessageId, code: int, message: str) -> None:
        with suppress(ConnectionClosed):
            self._connection.respond_error(request_id, code, message)


def _requested(events: Sequence[AgentEvent]) -> ToolRequested | None:
    """Return the last request among events: those before it are about what came earlier."""
    asked = (it.event for it in reversed(events) if isinstance(it, Addressed))
    return next((event for event in asked if isinstance(event, ToolRequested)), None)


def _rejection(choices: Sequence[Choice]) -> Choice | None:
    """Return the choice that rejects, rather for once; None if the agent offers none."""
    found = (it for kind in _REJECTIONS for it in choices if it.kind is kind)
    return next(found, None)

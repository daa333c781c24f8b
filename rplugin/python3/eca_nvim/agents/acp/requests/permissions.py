"""Permissions: requests to let a tool call run, of the agent or our own about what it wants of us.

Rules kept here:
- A request becomes an event of its call; the user answers the call, by its id.
- Of a chat so many wait at most; of what is more the agent's are refused, our own not allowed.
- While a turn is being stopped, requests are answered `cancelled`; what is open when it ends, too,
  and a request whose call the agent ends.
- What the user allows is noted from the call as it was shown (`grants`).
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Final, TypeAlias

from msgspec import Struct

from eca_nvim.agents.acp.requests.acts import Answers
from eca_nvim.agents.acp.requests.grants import Granted
from eca_nvim.agents.acp.session import Session
from eca_nvim.chat.vocabulary import agent_events, call_details, requests
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    ApprovalWithdrawn,
    ToolRequested,
    ToolRunning,
)
from eca_nvim.jsonrpc import REQUEST_CANCELLED, MessageId
from eca_nvim.protocol.acp import lifecycle, tool_call

MOST_ASKED: Final = 100
"""Questions that wait in a chat, at most: the agent's and our own."""

_TOO_MANY: Final = f"{MOST_ASKED} questions wait for the user already"
_REJECTIONS: Final = (requests.ChoiceKind.REJECT_ONCE, requests.ChoiceKind.REJECT_ALWAYS)

logger = logging.getLogger(__name__)


Answered: TypeAlias = Callable[[requests.Choice | None, bool], None]
"""Called with the user's answer, None if the question was closed, and whether the call did
something else when he answered than when we asked: the agent may change its call meanwhile."""


class _Open(Struct, frozen=True):
    """A request for permission that waits for the user.

    key: our id of it. request_id: the agent's, None if the request is our own. reads: the file
    that our own question is about, if it is a read.
    """

    request_id: MessageId | None
    key: str
    session: Session
    call: call_details.ToolCall
    choices: tuple[requests.Choice, ...]
    answered: Answered
    reads: str | None = None


class Permissions:
    """Answers the requests for permission of one agent process (session/request_permission)."""

    def __init__(self, answers: Answers, granted: Granted) -> None:
        self._answers = answers
        self._granted = granted
        self._keys = count(1)
        self._open: dict[str, _Open] = {}
        self._waiting = Counter[str]()  # by chat
        self._by_call: dict[tuple[str, str], _Open] = {}  # by chat and call
        self._by_request: dict[MessageId, _Open] = {}

    def start(
        self, request_id: MessageId, session: Session, asked: tool_call.RequestPermission
    ) -> Sequence[agent_events.AgentEvent]:
        """Ask the user; returns the events that do it."""
        if session.is_stopping:
            self._respond(request_id, tool_call.Cancelled())
            return ()
        if self.count(session) >= MOST_ASKED:
            self._answers.refuse_excess(request_id, _TOO_MANY)
            return ()
        answered = partial(self._answered, request_id)
        events = self._ask(request_id, session, asked, answered)
        if _requested(events) is None:
            self._answers.refuse(request_id, lifecycle.INVALID_PARAMS, "the request names no call")
        return events

    def ask(
        self,
        session: Session,
        asked: tool_call.RequestPermission,
        answered: Answered,
        reads: str | None = None,
    ) -> Sequence[agent_events.AgentEvent]:
        """Ask the user ourselves; `answered` is called once, maybe while the events are emitted.

        reads: the file that is read; the call may read it in parts then.
        """
        return self._ask(None, session, asked, answered, reads)

    def count(self, session: Session) -> int:
        """Return how many requests of a session wait for the user."""
        return self._waiting[session.chat_id]

    def decide(
        self,
        session: Session,
        call_id: str,
        choice_id: str | None,
        shown: call_details.ToolCall | None = None,
    ) -> Sequence[agent_events.AgentEvent]:
        """Answer the request of a call by one of its choices; None rejects it.

        shown: the call as the user saw it; None: he saw nothing, and allows nothing to be done.
        """
        asked = self._about(session, call_id)
        if asked is None:
            logger.debug("the request of call %s is closed already", call_id)
            return ()
        choice = next((it for it in asked.choices if it.id == choice_id), _rejection(asked.choices))
        return self._answer(asked, choice, shown)

    def cancel(self, session: Session) -> Sequence[agent_events.AgentEvent]:
        """Answer the open requests of a session `cancelled`; the chat has closed them already."""
        asked = [it for it in self._open.values() if it.session is session]
        return [event for each in asked for event in self._answer(each, None)]

    def withdraw(self, request_id: MessageId) -> Sequence[agent_events.AgentEvent] | None:
        """Close a request that the agent has cancelled ($/cancel_request); None: it is not open."""
        asked = self._by_request.get(request_id)
        if asked is None:
            return None
        self._close(asked)
        self._answers.refuse(request_id, REQUEST_CANCELLED, "the request was cancelled")
        return asked.session.inbox.withdrawn(asked.key)

    def retract(self, session: Session, answered: Answered) -> Sequence[agent_events.AgentEvent]:
        """Close a request of our own that nobody needs any more; `answered` is not called."""
        asked = next((it for it in self._open.values() if it.answered is answered), None)
        if asked is None:
            return ()
        self._close(asked)
        return session.inbox.withdrawn(asked.key)

    def close_ended(self, session: Session, events: Sequence[agent_events.AgentEvent]) -> None:
        """Answer the requests `cancelled` whose calls the agent has ended, as events say."""
        for it in events:
            if isinstance(it, Addressed) and isinstance(it.event, ApprovalWithdrawn):
                self._supersede(session, it.event.call.id)

    def _ask(
        self,
        request_id: MessageId | None,
        session: Session,
        asked: tool_call.RequestPermission,
        answered: Answered,
        reads: str | None = None,
    ) -> Sequence[agent_events.AgentEvent]:
        key = str(next(self._keys))
        events = session.inbox.requested(key, asked)
        requested = _requested(events)
        if requested is not None:
            call = requested.call
            self._supersede(session, call.id)
            open_ = _Open(request_id, key, session, call, requested.choices, answered, reads)
            self._waiting[session.chat_id] += 1
            self._open[key] = self._by_call[session.chat_id, call.id] = open_
            if request_id is not None:
                self._by_request[request_id] = open_
        return events

    def _answered(
        self, request_id: MessageId, choice: requests.Choice | None, _has_changed: bool
    ) -> None:
        self._respond(
            request_id, tool_call.Cancelled() if choice is None else tool_call.Selected(choice.id)
        )

    def _supersede(self, session: Session, call_id: str) -> None:
        """Answer the open request of a call, which the chat does not show any more."""
        asked = self._about(session, call_id)
        if asked is not None:
            self._close(asked)
            asked.answered(None, False)

    def _about(self, session: Session, call_id: str) -> _Open | None:
        """Return the open request of a call."""
        return self._by_call.get((session.chat_id, call_id))

    def _close(self, asked: _Open) -> None:
        del self._open[asked.key]
        self._waiting[asked.session.chat_id] -= 1
        self._by_call.pop((asked.session.chat_id, asked.call.id), None)
        if asked.request_id is not None:
            self._by_request.pop(asked.request_id, None)

    def _answer(
        self,
        asked: _Open,
        choice: requests.Choice | None,
        shown: call_details.ToolCall | None = None,
    ) -> Sequence[agent_events.AgentEvent]:
        self._close(asked)
        session = asked.session
        events = session.inbox.decided(asked.key, choice)
        allowed = _allowed(events)
        if choice is not None and allowed is not None and shown is not None:
            if asked.request_id is not None:
                self._granted.allow(session, shown, always=_is_always(choice))
            elif asked.reads is not None:
                self._granted.allow_read(session, shown.id, asked.reads)
        asked.answered(choice, allowed is not None and _does(allowed) != _does(asked.call))
        return events

    def _respond(self, request_id: MessageId, outcome: tool_call.Outcome) -> None:
        self._answers.respond(request_id, tool_call.PermissionResult(outcome))


def _requested(events: Sequence[agent_events.AgentEvent]) -> ToolRequested | None:
    """Return the last request among events: those before it are about what came earlier."""
    asked = (it.event for it in reversed(events) if isinstance(it, Addressed))
    return next((event for event in asked if isinstance(event, ToolRequested)), None)


def _allowed(events: Sequence[agent_events.AgentEvent]) -> call_details.ToolCall | None:
    """Return the call that runs from now on."""
    told = (it.event for it in events if isinstance(it, Addressed))
    return next((event.call for event in told if isinstance(event, ToolRunning)), None)


def _does(call: call_details.ToolCall) -> tuple[object, ...]:
    """Return what a call says of what it does; its title and its note are words about it."""
    return (call.kind, call.command, call.arguments, call.locations, call.changes)


def _is_always(choice: requests.Choice) -> bool:
    return choice.kind is requests.ChoiceKind.ALLOW_ALWAYS


def _rejection(choices: Sequence[requests.Choice]) -> requests.Choice | None:
    """Return the choice that rejects, rather for once; None if the agent offers none."""
    found = (it for kind in _REJECTIONS for it in choices if it.kind is kind)
    return next(found, None)

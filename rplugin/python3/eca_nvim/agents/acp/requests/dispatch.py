"""Requests: what the agent asks us, and who answers it.

Rules kept here:
- Every request gets exactly one answer. One that is not known here is refused at once: agents wait.
- `handlers` has who answers each type of request; what the user must answer becomes events.
- Only an elicitation may be about no session: about a request of ours, as a login is.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

from eca_nvim.agents.acp.requests.acts import Answers
from eca_nvim.agents.acp.requests.forms import Elicitations
from eca_nvim.agents.acp.session import Session
from eca_nvim.agents.acp.sessions import Sessions
from eca_nvim.agents.process_agent import FAILED
from eca_nvim.chat.vocabulary.agent_events import AgentEvent
from eca_nvim.jsonrpc import INTERNAL_ERROR, METHOD_NOT_FOUND, MessageId, NotOpen, Request
from eca_nvim.protocol.acp import DecodeError, Unknown, decode_agent_request
from eca_nvim.protocol.acp.elicitation import CreateElicitation
from eca_nvim.protocol.acp.lifecycle import INVALID_PARAMS

logger = logging.getLogger(__name__)


class Handler(Protocol):
    """Answers requests of some types."""

    def start(
        self,
        request_id: MessageId,
        session: Session,
        asked: Any,  # noqa: ANN401 - of a type that `handlers` names for it
    ) -> Sequence[AgentEvent]:
        """Start to answer a request; what the user must answer is returned as events."""

    def cancel(self, session: Session) -> Sequence[AgentEvent]:
        """Answer what is open in a session: its turn was stopped or has ended."""

    def withdraw(self, request_id: MessageId) -> Sequence[AgentEvent] | None:
        """Close a request that the agent has cancelled; None: it is not one of these."""


class AgentRequests:
    """Answers the requests of one agent process."""

    def __init__(
        self,
        answers: Answers,
        sessions: Sessions,
        elicitations: Elicitations,
        handlers: Mapping[type, Handler],
    ) -> None:
        self._answers = answers
        self._elicitations = elicitations
        self._sessions = sessions
        self._by_type = {CreateElicitation: elicitations, **handlers}
        self._handlers = tuple(dict.fromkeys(self._by_type.values()))

    def start(self, request: Request) -> Sequence[AgentEvent]:
        """Start to answer a request; what the user must answer is returned as events."""
        try:
            asked = decode_agent_request(request.method, request.params)
        except (DecodeError, RecursionError) as fault:
            logger.warning("refused a request: %s", fault)
            self._answers.refuse(request.id, INVALID_PARAMS, str(fault))
            return ()
        if isinstance(asked, Unknown):
            logger.debug("refused %s: it is not known here", asked.method)
            unknown = f"{asked.method} is not known here"
            self._answers.refuse(request.id, METHOD_NOT_FOUND, unknown)
            return ()
        if asked.session_id is None:
            return self._elicitations.start(request.id, None, asked)
        session = self._sessions.of_id(asked.session_id)
        if session is not None:
            return self._by_type[type(asked)].start(request.id, session, asked)
        if not self._sessions.keep_early(asked.session_id, request):
            unknown = f"there is no session {asked.session_id}"
            self._answers.refuse(request.id, INVALID_PARAMS, unknown)
        return ()

    def fail(self, request_id: MessageId) -> None:
        """Answer a request that could not be read because of a bug: the agent waits for it."""
        with suppress(NotOpen):  # it was answered before the bug
            self._answers.refuse(request_id, INTERNAL_ERROR, FAILED)

    def cancel(self, session: Session) -> Sequence[AgentEvent]:
        """Answer the open requests of a session; the chat has closed them already."""
        return [event for each in self._handlers for event in each.cancel(session)]

    def withdraw(self, request_id: MessageId) -> Sequence[AgentEvent]:
        """Close a request that the agent has cancelled ($/cancel_request)."""
        closed = (each.withdraw(request_id) for each in self._handlers)
        return next((events for events in closed if events is not None), ())

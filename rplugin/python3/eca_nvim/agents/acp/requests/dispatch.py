"""Requests: what the agent asks us, and who answers it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Protocol

from eca_nvim.agents.acp.link import Link
from eca_nvim.agents.acp.session import Session
from eca_nvim.agents.acp.sessions import Sessions
from eca_nvim.agents.process_agent import FAILED
from eca_nvim.jsonrpc import INTERNAL_ERROR, METHOD_NOT_FOUND, MessageId, NotOpen, Request
from eca_nvim.protocol.acp import DecodeError, Unknown, decode_agent_request
from eca_nvim.protocol.acp.lifecycle import INVALID_PARAMS

logger = logging.getLogger(__name__)


class Handler(Protocol):
    """Answers requests of some types, each exactly once: agents wait."""

    # session: None for an elicitation about a login. asked: as `handlers` says.
    def start(self, request_id: MessageId, session: Any, asked: Any) -> None:  # noqa: ANN401
        """Start to answer a request."""

    def cancel(self, session: Session) -> None:
        """Answer what is open in a session: its turn was stopped or has ended."""

    def withdraw(self, request_id: MessageId) -> bool:
        """Close a request that the agent has cancelled; returns whether it is one of these."""


class AgentRequests:
    """Answers the requests of one agent process; `handlers`: by type of request."""

    def __init__(self, link: Link, sessions: Sessions, handlers: Mapping[type, Handler]) -> None:
        self._link = link
        self._sessions = sessions
        self._by_type = handlers
        self._handlers = tuple(dict.fromkeys(handlers.values()))

    def start(self, request: Request) -> None:
        """Start to answer a request."""
        try:
            asked = decode_agent_request(request.method, request.params)
        except (DecodeError, RecursionError) as fault:
            logger.warning("refused a request: %s", fault)
            self._link.refuse(request.id, INVALID_PARAMS, str(fault))
            return
        if isinstance(asked, Unknown):
            logger.debug("refused %s: it is not known here", asked.method)
            self._link.refuse(request.id, METHOD_NOT_FOUND, f"{asked.method} is not known here")
            return
        session = self._sessions.by_id.get(asked.session_id or "")
        if session is not None or asked.session_id is None:
            self._by_type[type(asked)].start(request.id, session, asked)
        elif not self._sessions.keep_early(asked.session_id, request):
            unknown = f"there is no session {asked.session_id}"
            self._link.refuse(request.id, INVALID_PARAMS, unknown)

    def fail(self, request_id: MessageId) -> None:
        """Answer a request that could not be read because of a bug: the agent waits for it."""
        with suppress(NotOpen):  # it was answered before the bug
            self._link.refuse(request_id, INTERNAL_ERROR, FAILED)

    def cancel(self, session: Session) -> None:
        """Answer the open requests of a session; the chat has closed them already."""
        with self._link.one_batch():
            for each in self._handlers:
                each.cancel(session)

    def withdraw(self, request_id: MessageId) -> None:
        """Close a request that the agent has cancelled ($/cancel_request)."""
        any(each.withdraw(request_id) for each in self._handlers)

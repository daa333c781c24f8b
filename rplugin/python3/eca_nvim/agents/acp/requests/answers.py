"""Answers: what the agent's requests are answered with.

Rules kept here:
- Nothing is raised once the agent has ended.
- A request that is too much is refused. A line tells the user that, once in the life of the agent.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Final

from eca_nvim.agents.base import Emit
from eca_nvim.chat.vocabulary.agent_events import MessageShown
from eca_nvim.jsonrpc import INTERNAL_ERROR, MessageId
from eca_nvim.protocol.acp import encode
from eca_nvim.protocol.base.types import Wire
from eca_nvim.transport import Connection, ConnectionClosed

MOST_UNREAD: Final = 1 << 27
"""Bytes of answers that the agent has not read, above which it gets no further text."""
UNREAD: Final = "not done, you have not read the answers to your requests before"
EXCESS: Final = (
    "The agent sends more requests than can be kept, and further ones are refused: "
    ":Eca stop ends its turn, :Eca log has the first reason"
)

logger = logging.getLogger(__name__)


class Answers:
    """Answers the requests of one agent process. Raises NotOpen for one that has its answer."""

    def __init__(self, connection: Connection, emit: Emit) -> None:
        self._connection = connection
        self._emit = emit
        self._has_excess = False

    @property
    def is_full(self) -> bool:
        """Whether the agent leaves so many answers unread that it gets no further text."""
        return self._connection.unread > MOST_UNREAD

    def respond(self, request_id: MessageId, result: Wire) -> None:
        """Answer a request by a result."""
        with suppress(ConnectionClosed):
            self._connection.respond(request_id, encode(result))

    def refuse(self, request_id: MessageId, code: int, message: str) -> None:
        """Answer a request by an error; `message` is one line."""
        with suppress(ConnectionClosed):
            self._connection.respond_error(request_id, code, message)

    def refuse_excess(self, request_id: MessageId, reason: str) -> None:
        """Refuse a request that is too much; `reason` is one line for the model."""
        self.refuse(request_id, INTERNAL_ERROR, reason)
        if not self._has_excess:
            self._has_excess = True
            logger.warning("the agent sends too many requests: %s", reason)
            self._emit([MessageShown("warn", EXCESS)])

"""Reading: the messages of an agent, each by itself, so that a bug of ours costs only one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.vocabulary.agent_events import AgentEvent, MessageShown
from eca_nvim.jsonrpc import MessageId, Request
from eca_nvim.transport import Incoming

FAILED = "the client failed to read the request"
"""The answer to a request that met a bug of ours."""

logger = logging.getLogger(__name__)


def events_of(
    message: Incoming,
    read: Callable[[Incoming], Sequence[AgentEvent]],
    fail: Callable[[MessageId], None],
) -> Sequence[AgentEvent]:
    """Return the events of a message, or the line about the bug that it met.

    fail: answers such a request, because the agent waits for it.
    """
    try:
        return read(message)
    except Exception as fault:
        logger.exception("cannot read %s", message.method)
        if isinstance(message, Request):
            fail(message.id)
        line = f"cannot read {one_line(message.method)}: {fault}; see :Eca log"
        return (MessageShown("error", line),)

"""Traffic: the messages of a connection in the log, at the level debug.

Rule kept here: a message is logged whole, because redaction would not recognise a key that is cut.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from eca_nvim.jsonrpc import Event

logger = logging.getLogger(__name__)


def log_sent(process: int, data: bytes) -> None:
    """Log a message to the process with this id."""
    if logger.isEnabledFor(logging.DEBUG):
        logger.debug("%d <- %s", process, _text(data))


def log_received(process: int, events: Iterable[Event]) -> None:
    """Log messages of the process with this id, in order."""
    if logger.isEnabledFor(logging.DEBUG):
        for event in events:
            parts = " ".join(map(_text, event))
            logger.debug("%d -> %s %s", process, type(event).__name__, parts)


def _text(part: object) -> str:
    """Return a part as text; codecs may leave parts as bytes, or as objects that have bytes."""
    if part is None or isinstance(part, str | int | float | dict | list | tuple):
        return str(part)
    try:
        return bytes(memoryview(part)).decode(errors="replace").strip()  # type: ignore[arg-type]
    except TypeError:
        return str(part)

"""The view's interface, and the report of our own faults: a line for the user, a log entry.

Rule kept here: `isolated` is the one place that catches every exception raised while an intent or
an event is handled, so the rest of the session goes on.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

from eca_nvim.chat.vocabulary.ops import Notify, ViewOp

log = logging.getLogger(__name__)


class View(Protocol):
    """Draws ops."""

    def push(self, ops: Iterable[ViewOp]) -> None:
        """Queue ops to be drawn in order."""


@contextmanager
def isolated(view: View, action: str, subject: object) -> Iterator[None]:
    """Report any exception instead of raising it.

    action: what failed, for the message ("cannot {action}: …"). subject: logged with the traceback.
    """
    try:
        yield
    except Exception as fault:
        log.exception("cannot %s: %r", action, subject)
        view.push([Notify("error", f"cannot {action}: {str(fault) or repr(fault)}; see :Eca log")])

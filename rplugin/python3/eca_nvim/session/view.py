"""The view's interface, and the report of our own faults: a line for the user, a log entry.

Rule kept here: `isolated` is the one place that catches every exception raised while an intent or
an event is handled, so the rest of the session goes on.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Protocol

from eca_nvim.chat.vocabulary.ops import Notify, ViewOp

log = logging.getLogger(__name__)


class View(Protocol):
    """Draws ops."""

    def push(self, ops: Iterable[ViewOp]) -> None:
        """Queue ops to be drawn in order."""


class isolated:  # noqa: N801 - reads like a statement
    """Report any exception of a block instead of raising it (hot: each event has one).

    action: what failed, for the message ("cannot {action}: …"). subject: logged with the traceback.
    """

    __slots__ = ("_action", "_subject", "_view")

    def __init__(self, view: View, action: str, subject: object) -> None:
        self._view = view
        self._action = action
        self._subject = subject

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, _: object
    ) -> bool:
        if not isinstance(fault, Exception):
            return False
        log.error("cannot %s: %r", self._action, self._subject, exc_info=fault)
        line = f"cannot {self._action}: {str(fault) or repr(fault)}; see :Eca log"
        self._view.push([Notify("error", line)])
        return True

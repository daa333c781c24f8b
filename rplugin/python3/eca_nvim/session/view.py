"""The view's interface, and the report of our own faults: a line for the user, a log entry.

Rule kept here: `isolated` is the one place that catches every exception raised while an intent or
an event is handled, so the rest of the session goes on. Events are hot: `Chats.apply` catches
theirs itself, and reports them here.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Protocol

from eca_nvim.agents.archive import AgentRefused
from eca_nvim.agents.base import AgentFault
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.vocabulary.ops import Notify, ViewOp

SHOW = "show what the agent sent"
"""What has failed if an exception comes from an event."""

log = logging.getLogger(__name__)


class View(Protocol):
    """Draws ops."""

    def push(self, ops: Iterable[ViewOp]) -> None:
        """Queue ops to be drawn in order."""


class Refused(Exception):
    """Raised when what the user wants cannot be done; the message is one line that says why."""


class isolated:  # noqa: N801 - reads like a statement
    """Report any exception of a block instead of raising it: a refusal as a warning, else a fault.

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
        if isinstance(fault, Refused | AgentRefused | AgentFault):
            self._view.push([Notify("warn", one_line(str(fault)))])
        else:
            report_fault(self._view, self._action, self._subject, fault)
        return True


def report_fault(view: View, action: str, subject: object, fault: Exception) -> None:
    """Report a fault of our own; `action` and `subject` as in `isolated`."""
    log.error("cannot %s: %r", action, subject, exc_info=fault)
    view.push([Notify("error", f"cannot {action}: {str(fault) or repr(fault)}; see :Eca log")])

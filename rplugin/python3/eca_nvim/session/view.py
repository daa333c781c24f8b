"""The view's interface, and the report of our own faults: a line for the user, a log entry."""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

from eca_nvim.agents.abilities import AgentRefused
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


class ChatGone(Exception):
    """Raised when a chat is wanted that the user has deleted: Neovim did not know that yet."""


@contextmanager
def isolated(view: View, action: str, subject: object) -> Iterator[None]:
    """Report any exception of a block instead of raising it: a refusal as a warning, else a fault.

    What comes too late for a chat that is gone is not reported.

    action: what failed, for the message ("cannot {action}: …"). subject: logged with the traceback.
    """
    try:
        yield
    except ChatGone:
        log.debug("cannot %s, as its chat was deleted", action)
    except (Refused, AgentRefused, AgentFault) as refusal:
        view.push([Notify("warn", one_line(str(refusal)))])
    except Exception as fault:  # noqa: BLE001 - a bug of ours; everything else goes on
        report_fault(view, action, subject, fault)


def report_fault(view: View, action: str, subject: object, fault: Exception) -> None:
    """Report a fault of our own; `action` and `subject` as in `isolated`."""
    log.error("cannot %s: %r", action, subject, exc_info=fault)
    view.push([Notify("error", f"cannot {action}: {str(fault) or repr(fault)}; see :Eca log")])

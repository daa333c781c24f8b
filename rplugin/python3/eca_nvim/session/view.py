"""Where ops go, and what becomes of faults of our own: a line there, a traceback in the log.

Rules kept here: `isolated` is the one place that catches whatever is raised while an intent or an
event is handled; everything else goes on.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

from eca_nvim.chat.vocabulary.ops import Notify, ViewOp

log = logging.getLogger(__name__)


class View(Protocol):
    """Where ops go."""

    def push(self, ops: Iterable[ViewOp]) -> None:
        """Draw ops, in order, when it can."""


@contextmanager
def isolated(view: View, doing: str, subject: object) -> Iterator[None]:
    """Keep a fault inside: `doing` tells the user what failed, `subject` goes to the log."""
    try:
        yield
    except Exception as fault:
        log.exception("cannot %s: %r", doing, subject)
        view.push([Notify("error", f"cannot {doing}: {str(fault) or repr(fault)}; see :Eca log")])

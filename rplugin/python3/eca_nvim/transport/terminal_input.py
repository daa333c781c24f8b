"""Terminal input: whether a command waits for input, which a terminal that is only shown never has.

There is no event for it, and silence alone says nothing: a compiler is silent, too. What tells:
- A program has set its terminal up for single keys or for a password, as editors and `sudo` do.
- A process in the foreground sleeps in a read of its terminal, as the kernel shows in /proc.
- Where the kernel does not show that: what was printed last is a line without an end, as a
  question is.
"""

from __future__ import annotations

import os
import termios
from typing import Final

from eca_nvim.guardian import PROC, processes

_LOCAL_FLAGS: Final = 3
_AS_USUAL: Final = termios.ICANON | termios.ECHO
_READS: Final = frozenset({"n_tty_read", "wait_woken"})
"""Where a process sleeps in the kernel that reads from a terminal."""
_HIDDEN: Final = frozenset({"", "0"})
"""What the kernel shows if it does not say where a process sleeps."""


def waits_for_input(terminal: int, *, in_line: bool) -> bool:
    """Return whether a command that is silent waits for input.

    terminal: the descriptor of our side. in_line: what was printed last was no whole line.
    """
    try:
        flags, foreground = termios.tcgetattr(terminal)[_LOCAL_FLAGS], os.tcgetpgrp(terminal)
    except (OSError, termios.error):  # nobody has the other side any more
        return False
    if flags & _AS_USUAL != _AS_USUAL:
        return True
    places = {_place(pid) for pid in processes() if _group(pid) == foreground}
    return in_line if places <= _HIDDEN else bool(places & _READS)


def _group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except OSError:  # it has ended
        return None


def _place(pid: int) -> str:
    """Return the function of the kernel in which a process sleeps, "" if it is not known."""
    try:
        return (PROC / str(pid) / "wchan").read_text()
    except OSError:
        return ""

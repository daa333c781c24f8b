"""The host's own end of its guardian (`eca_nvim/guardian.py`).

Rules kept here:
- A host has one guardian, which lives a moment longer than the host.
- It is started as early as can be: `launch` does so before it imports anything large.
- Without it the host works on, and ends its server itself, at once, when it ends.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from functools import cache

from eca_nvim import guardian as program
from eca_nvim.environment import child_environment

log = logging.getLogger(__name__)


class Guardian:
    """A guardian that runs, and the pipe to it."""

    def __init__(self) -> None:
        theirs, self._pipe = os.pipe()
        command = [sys.executable, "-I", "-S", program.__file__, str(theirs), str(os.getpid())]
        # Its standard input is ours, which Neovim holds.
        self._process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[theirs],
            env=child_environment(),
            start_new_session=True,
        )
        os.close(theirs)

    def watch(self, session: int) -> None:
        """Have a session end when this process does; `session` is the process id of its leader."""
        if not self._tell(session):
            log.warning("the guardian is gone: if this host is killed, its server may stay")

    def see_off(self) -> bool:
        """Let all servers end by themselves, after this process; false if the guardian is gone."""
        return self._tell(program.ASKED)

    def _tell(self, session: int) -> bool:
        try:
            os.write(self._pipe, session.to_bytes(program.ID_BYTES, sys.byteorder))
        except BrokenPipeError:
            return False
        return True

    def wake(self) -> None:
        """Let it go on, should somebody have stopped it: it ends when this process has."""
        self._process.send_signal(signal.SIGCONT)


@cache
def guardian() -> Guardian:
    """Return the guardian of this process; the first call starts it."""
    return Guardian()

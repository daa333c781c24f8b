"""The host's side of its guardian (`eca_nvim/guardian.py`), which ends shortly after the host.

If the guardian is gone, or cannot be started, the host goes on, and kills its server when it ends.
"""

import logging
import os
import signal
import subprocess
import sys
from functools import cache

from eca_nvim import guardian as program
from eca_nvim.spawn import child_environment

log = logging.getLogger(__name__)


class Guardian:
    """A running guardian, and the pipe to it."""

    def __init__(self) -> None:
        theirs, self._pipe = os.pipe()
        command = [sys.executable, "-I", "-S", program.__file__, str(theirs), str(os.getpid())]
        self._process: subprocess.Popen[bytes] | None = None
        try:
            # It inherits our standard input: the pipe from Neovim.
            self._process = subprocess.Popen(
                command,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs],
                env=child_environment(),
                start_new_session=True,
            )
        except OSError as fault:  # there are too many processes; a pipe without a reader is broken
            log.warning("the guardian cannot be started: %s", fault)
        finally:
            os.close(theirs)

    def watch(self, session: int) -> None:
        """End a session when this process has ended; `session`: the process id of its leader."""
        if not self._send(session):
            log.warning("the guardian is gone: if this host is killed, its server may stay")

    def let_servers_exit(self) -> bool:
        """Let all servers exit by themselves after this process; False if the guardian is gone."""
        return self._send(program.ASKED)

    def _send(self, session: int) -> bool:
        try:
            os.write(self._pipe, session.to_bytes(program.ID_BYTES, sys.byteorder))
        except BrokenPipeError:
            return False
        return True

    def wake(self) -> None:
        """Continue the guardian if it was stopped by a signal, so that it can end."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)


@cache
def guardian() -> Guardian:
    """Return the guardian of this process; the first call starts it.

    `launch` calls it before it imports anything large.
    """
    return Guardian()

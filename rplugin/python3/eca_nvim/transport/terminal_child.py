"""Terminal child: becomes the command of a terminal, once the terminal controls its session.

`transport/terminal.py` starts it in a new session with the terminal as its three streams, as
`python -I -S terminal_child.py FAULTS COMMAND …`. Only a process of the session can take the
terminal, and our own has threads: it must not run Python between fork and exec.

If the command cannot be started, the number of the error is written to the descriptor FAULTS. It is
closed without a byte when the command runs.
"""

import fcntl
import os
import signal
import sys
import termios

NOT_STARTED = 127
"""The exit code if there is no such command, as that of shells."""
NUMBER_BYTES = 4
"""Bytes of the number of an error."""


def become(faults: int, command: list[str]) -> None:
    """Replace this process by the command; returns only if that fails."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.set_inheritable(faults, False)
    for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored_by_python, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)  # noqa: S606 - what the user has approved, without a shell
    except OSError as fault:
        os.write(faults, (fault.errno or 0).to_bytes(NUMBER_BYTES, sys.byteorder))


if __name__ == "__main__":
    become(int(sys.argv[1]), sys.argv[2:])
    os._exit(NOT_STARTED)

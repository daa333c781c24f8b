"""Closes its `stdout` or `stdin`, as its argument says, and continues to run."""

import os
import signal
import sys

from tests.transport.children.frames import receive, send

send({"method": "ready"})
receive()
os.close({"stdin": 0, "stdout": 1}[sys.argv[1]])
while True:
    signal.pause()

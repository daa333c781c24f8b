"""Leaves a child behind that ignores SIGTERM, in its own group; ends with its standard input.

`daemon` as argument: the child has a session of its own and keeps only the standard output.
"""

import os
import signal
import sys

from tests.transport.children.frames import receive, send

alive, told = os.pipe()
if (pid := os.fork()) == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "daemon" in sys.argv:
        os.setsid()
    os.write(told, b"!")
    while True:
        signal.pause()
os.read(alive, 1)
send({"method": "ready", "params": pid})
while receive():
    pass

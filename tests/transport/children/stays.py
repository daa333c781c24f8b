"""Ignores the end of its standard input; `stubborn` as argument: SIGTERM as well."""

import signal
import sys

from tests.transport.children.frames import receive, send

if "stubborn" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
send({"method": "ready"})
while receive():
    pass
while True:
    signal.pause()

"""Reads one message, writes two last lines, and exits with code 3; `crash`: by SIGABRT."""

import os
import sys

from tests.transport.children.frames import receive, send

receive()
sys.stderr.buffer.write(b"first \xff\nException in thread main\r\nno line end")
sys.stderr.buffer.flush()
send({"method": "last words"})
if "crash" in sys.argv:
    os.abort()
sys.exit(3)

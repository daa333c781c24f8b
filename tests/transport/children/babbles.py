"""Prints junk and broken messages among good ones."""

import sys

from tests.transport.children.frames import frame, receive

out = sys.stdout.buffer
out.write(b"Listening for transport dt_socket\n")
out.write(frame({"method": "one"}))
out.write(b"Content-Length: 9\r\n\r\n{broken]}")
out.write(b"Content-Length: -1\r\n\r\n{}")
out.write(b"Content-Length: 2\r\n\r\n[]")
out.write(frame({"id": 99, "result": None}))
out.write(frame({"method": "two"}))
out.flush()
while message := receive():
    out.write(frame({"id": message["id"], "result": "still here"}))
    out.flush()

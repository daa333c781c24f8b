"""Reads nothing until SIGUSR1; then answers the request `count` with the size of its input."""

import signal

from tests.transport.children.frames import receive, send

signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
send({"method": "ready"})
signal.sigwait({signal.SIGUSR1})
numbers: list[int] = []
while message := receive():
    if message["method"] == "count":
        send({"id": message["id"], "result": numbers})
    else:
        numbers.append(message["params"]["number"])

"""Starts a command and a daemon, each in a session of its own; ends with its standard input.

The command's output comes here, that of the daemon goes nowhere. `ready` has their process ids.
"""

import subprocess

from tests.transport.children.frames import receive, send

SLEEP = ["sleep", "1000"]
NOWHERE = subprocess.DEVNULL

command = subprocess.Popen(SLEEP, stdout=subprocess.PIPE, start_new_session=True)
daemon = subprocess.Popen(SLEEP, stdout=NOWHERE, stderr=NOWHERE, start_new_session=True)
send({"method": "ready", "params": [command.pid, daemon.pid]})
while receive():
    pass

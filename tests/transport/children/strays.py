"""Starts a command and a daemon, each in a session of its own; ends with its standard input.

The command's output comes here, that of the daemon goes nowhere. `ready` has their process ids; the
command has its environment then, which it has not at once when it is started.
"""

import subprocess
from pathlib import Path

from tests.transport.children.frames import receive, send

SLEEP = ["sleep", "1000"]
NOWHERE = subprocess.DEVNULL

command = subprocess.Popen(SLEEP, stdout=subprocess.PIPE, start_new_session=True)
daemon = subprocess.Popen(SLEEP, stdout=NOWHERE, stderr=NOWHERE, start_new_session=True)
while not Path(f"/proc/{command.pid}/environ").read_bytes():
    pass
send({"method": "ready", "params": [command.pid, daemon.pid]})
while receive():
    pass

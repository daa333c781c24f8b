"""A wrapper like `ssh` or `docker exec -i`: relays standard input and output, each piece late.

    python relay.py MILLISECONDS FLAG COMMAND …

If the file FLAG exists, the connection breaks: the wrapper ends and removes the file. The program
is far away: it has a session of its own, and nothing tells that we have started it. So only the end
of its input ends it, as that of one on another machine.
"""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

MARK = "ECA_NVIM_SERVER"
"""The variable by which the plugin finds what a server has started."""


def relay(source: int, target: int, seconds: float, flag: Path) -> None:
    """Pass bytes on until they end."""
    while data := os.read(source, 1 << 16):
        time.sleep(seconds)
        if flag.exists():
            flag.unlink()
            os._exit(255)
        os.write(target, data)
    os.close(target)


def main(milliseconds: str, flag: str, *command: str) -> None:
    """Run the command, relay its input and output, and end with its exit code."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={key: value for key, value in os.environ.items() if key != MARK},
        start_new_session=True,
    )
    assert process.stdin
    assert process.stdout
    seconds, path = int(milliseconds) / 1000, Path(flag)
    to, back = process.stdin.fileno(), process.stdout.fileno()
    threading.Thread(target=relay, args=(0, to, seconds, path), daemon=True).start()
    relay(back, 1, seconds, path)
    os._exit(process.wait())


if __name__ == "__main__":
    main(*sys.argv[1:])

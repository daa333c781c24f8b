"""A wrapper like `ssh` or `docker exec -i`: relays standard input and output, each piece late.

    python relay.py MILLISECONDS FLAG COMMAND …

If the file FLAG exists, the connection breaks: the wrapper ends and removes the file. A far program
would end with its input; so does this one.
"""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path


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
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    seconds, path = int(milliseconds) / 1000, Path(flag)
    to, back = process.stdin.fileno(), process.stdout.fileno()
    threading.Thread(target=relay, args=(0, to, seconds, path), daemon=True).start()
    relay(back, 1, seconds, path)
    os._exit(process.wait())


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Runs like the editor's host: its own loop runs until it is stopped, then the process exits.

Only functions registered with `atexit` can end the server then. Prints the process id of the
server.
"""

import asyncio
import atexit
import sys

import anyio

from eca_nvim.transport import Incoming, open_connection


async def live(loop: asyncio.AbstractEventLoop) -> None:
    """Start a server, hear of it, and never come back."""
    ready = anyio.Event()

    def handler(batch: list[Incoming]) -> None:
        ready.set()

    command = [sys.executable, "-m", "tests.transport.children.stays", "stubborn"]
    async with open_connection(command, handler) as connection:
        atexit.register(connection.kill_now)
        await ready.wait()
        sys.stdout.write(f"{connection.pid}\n")
        loop.stop()
        await anyio.sleep_forever()


def main() -> None:
    """Run the loop as pynvim does."""
    loop = asyncio.SelectorEventLoop()
    task = loop.create_task(live(loop))
    loop.run_forever()
    assert not task.done()


main()

"""Runs the demo agent on stdin and stdout until the client disconnects; `--acp`: by that protocol.

Rule kept here: it works only in its own folder, which ECA_DEMO_FOLDER names. If that folder exists
already, whoever made it removes it; else we create it, and remove it at the end.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eca_nvim.demo.acp_server import AcpServer
from eca_nvim.demo.server import DemoServer
from eca_nvim.demo.tools import Workshop
from eca_nvim.demo.wire import Wire
from eca_nvim.jsonrpc import LineFraming

ACP = "--acp"
PREFIX = "eca-demo-"
"""The prefix of the name of a demo folder."""


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield the folder to work in."""
    given = Path(os.environ.get("ECA_DEMO_FOLDER", ""))
    if not given.name.startswith(PREFIX):
        with tempfile.TemporaryDirectory(prefix=PREFIX) as folder:
            yield Path(folder)
    elif given.is_dir():
        yield given
    else:
        given.mkdir(mode=0o700)
        try:
            yield given
        finally:
            shutil.rmtree(given, ignore_errors=True)


async def serve() -> int:
    """Serve one client; return the exit code."""
    speaks_acp = ACP in sys.argv
    wire = await Wire.open(LineFraming() if speaks_acp else None)
    with scratch_folder() as folder:
        workshop = Workshop.create(folder)
        server = AcpServer(wire, workshop) if speaks_acp else DemoServer(wire, workshop)
        return await server.run()


if __name__ == "__main__":
    sys.exit(asyncio.run(serve()))

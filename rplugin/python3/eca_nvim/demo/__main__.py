"""Runs the demo agent on stdin and stdout until the client disconnects; `--acp`: speaks ACP."""

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eca_nvim.demo.acp import AcpWire
from eca_nvim.demo.eca import EcaServer
from eca_nvim.demo.tools import Workshop
from eca_nvim.demo.wire import Wire

PREFIX = "eca-demo-"
"""The prefix of the name of a demo folder: it works in no other."""


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield the folder to work in: that of ECA_DEMO_FOLDER, else a new one."""
    given = Path(os.environ.get("ECA_DEMO_FOLDER", ""))
    if not given.name.startswith(PREFIX):
        with tempfile.TemporaryDirectory(prefix=PREFIX) as folder:
            yield Path(folder)
    elif given.is_dir():
        yield given  # whoever made it removes it
    else:
        given.mkdir(mode=0o700)
        try:
            yield given
        finally:
            shutil.rmtree(given, ignore_errors=True)


async def serve() -> int:
    """Serve one client; return the exit code."""
    with scratch_folder() as folder:
        workshop = Workshop.create(folder)
        if "--acp" in sys.argv:
            acp = AcpWire(workshop)
            return await acp.serve(acp.handlers)
        wire = Wire()
        return await wire.serve(EcaServer(wire, workshop).handlers)


if __name__ == "__main__":
    sys.exit(asyncio.run(serve()))

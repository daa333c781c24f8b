"""Run the demo agent on stdin and stdout until the client leaves."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from eca_nvim.demo.server import DemoServer
from eca_nvim.demo.tools import Workshop
from eca_nvim.demo.wire import Wire


async def serve() -> int:
    """Serve one client; return the exit code."""
    wire = await Wire.open()
    with tempfile.TemporaryDirectory(prefix="eca-demo-") as folder:
        return await DemoServer(wire, Workshop.furnish(Path(folder))).run()


if __name__ == "__main__":
    sys.exit(asyncio.run(serve()))

"""The server, started before the rest of the host is imported: both take a while, side by side.

Rules kept here:
- Neovim names the server in the environment (`lua/eca/host/process.lua`): what it says over the
  wire is read when pynvim has been imported, and that is too late.
- The start that comes for the server takes the process that runs. A server that cannot be started
  is left to it: it tries again and says why.
- A process that nobody takes ends with the host, by its guardian.
- What is imported here is imported before the server starts: no asyncio, no anyio, no msgspec.
"""

from __future__ import annotations

import json
import subprocess
from functools import cache
from typing import NamedTuple

from eca_nvim.environment import take_head_start
from eca_nvim.nvim.guardian_process import guardian
from eca_nvim.nvim.settings import read_settings
from eca_nvim.server.find import BadServerOption, ServerCommand, find_server
from eca_nvim.spawn import StartError, spawn


class HeadStart(NamedTuple):
    """A server that runs, and to which nothing has been said."""

    server: ServerCommand
    process: subprocess.Popen[bytes]


@cache
def head_start() -> HeadStart | None:
    """Return the head start of this process; the first call makes it, if Neovim wants one."""
    wanted = take_head_start()
    if wanted is None:
        return None
    told = json.loads(wanted)
    settings = read_settings(told["settings"])
    try:
        server = find_server(settings.server_command, settings.server_environment)
        process = spawn(server.command, server.environment, told["folder"])
    except (BadServerOption, StartError):
        return None
    guardian().watch(process.pid)
    return HeadStart(server, process)

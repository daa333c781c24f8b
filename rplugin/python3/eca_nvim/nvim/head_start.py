"""Head start: starts the server before the rest of the host is imported, as both take a while.

It saves 60 to 110 ms with a server that takes 60 ms to start, 100 to 180 with one that takes 300.
If the server cannot be started here, nothing is said: the agent tries again and reports why. One
that is never used is ended by the guardian. What this file imports delays the server.
"""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

from eca_nvim.guardian import marked
from eca_nvim.nvim.guardian_process import guardian
from eca_nvim.nvim.settings import read_settings
from eca_nvim.server.find import BadServerOption, ServerCommand, find_server
from eca_nvim.spawn import LINKS, LINKS_PYTHON, SHORT, StartError, spawn

HEAD_START = "NVIM_ECA_SERVER"
"""The variable in which Neovim describes the server (`lua/eca/host/python.lua`): messages can be
read only after pynvim has been imported, which is too late."""

LONGEST_SOCKET = 100
"""Bytes that the name of a socket may have: 103 on macOS, 107 on Linux."""


class HeadStart(NamedTuple):
    """A running server to which nothing has been sent yet, with its name."""

    name: str
    server: ServerCommand
    process: subprocess.Popen[bytes]


@cache
def link_socket() -> Path:
    """Return where this process will take web addresses, and tell all its children of it."""
    name = f"eca-links-{os.urandom(8).hex()}/socket"  # nobody can guess it
    place = Path(os.environ.get("TMPDIR") or SHORT, name)
    if len(os.fsencode(place)) > LONGEST_SOCKET:
        place = Path(SHORT, name)
    os.environ.update({LINKS: str(place), LINKS_PYTHON: sys.executable})
    return place


@cache
def head_start() -> HeadStart | None:
    """Return the server of this process's head start; the first call starts it if Neovim asks."""
    link_socket()
    description = os.environ.pop(HEAD_START, None)
    if description is None:
        return None
    wanted = json.loads(description)
    settings = read_settings(wanted["settings"])
    try:
        server = find_server(settings.default_server, settings.servers, settings.finding.folder)
        process = spawn(server.command, marked(server.environment), wanted["folder"])
    except (BadServerOption, StartError):
        return None
    guardian().watch(process.pid)
    return HeadStart(settings.default_server, server, process)

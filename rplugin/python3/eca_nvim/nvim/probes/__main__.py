"""Runs the probes: a request comes as a line of JSON on standard input, a line a server goes out.

    request   {"names": […], "settings": {…}, "folder": "/home/me/project", "seconds": 4}
    rows      {"name": "qwen", "rows": [["ok", "Qwen Code 0.24.4 …", []]]}

Rules kept here:
- Standard input stays open. Its end means that Neovim is gone: the servers are ended then.
- This process leads a session, and its guardian ends all that it has started if it is killed.
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import anyio

from eca_nvim.nvim.guardian_process import guardian
from eca_nvim.nvim.probes.probe import Probe, Row
from eca_nvim.nvim.settings import read_settings


def _report(name: str, rows: Sequence[Row]) -> None:
    sys.stdout.write(json.dumps({"name": name, "rows": rows}) + "\n")
    sys.stdout.flush()


async def _end_with_neovim(scope: anyio.CancelScope) -> None:
    await anyio.wait_readable(sys.stdin.fileno())
    scope.cancel()


async def _run(request: Mapping[str, Any]) -> None:
    servers = read_settings(request["settings"]).servers
    deadline = anyio.current_time() + request["seconds"]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_end_with_neovim, tasks.cancel_scope)
        async with anyio.create_task_group() as probes:
            for name in request["names"]:
                report = partial(_report, name)
                probe = Probe(name, servers, request["folder"], deadline, guardian().watch, report)
                probes.start_soon(probe.run)
        tasks.cancel_scope.cancel()


if __name__ == "__main__":
    guardian().watch(os.getpid())
    asyncio.run(_run(json.loads(sys.stdin.buffer.readline())))

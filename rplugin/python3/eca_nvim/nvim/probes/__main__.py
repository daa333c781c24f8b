"""Runs the probes: a request comes as a line of JSON on standard input, a line a server goes out.

    request   {"names": […], "settings": {…}, "folders": ["/home/me/project"],
               "deadline": 1787400000.5}
    rows      {"name": "qwen", "rows": [["ok", "Qwen Code 0.24.4 …", []]]}

The rows with the name "" are about checkpoints. The deadline is in seconds since 1970: the start of
this process counts, too.

Rules kept here:
- Standard input stays open. Its end means that Neovim is gone: the servers are ended then.
- This process leads a session, and its guardian ends all that it has started if it is killed.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio

from eca_nvim.nvim.guardian_process import guardian
from eca_nvim.nvim.probes.probe import Probe, Row, safe
from eca_nvim.nvim.settings import read_settings
from eca_nvim.path_risks import is_project
from eca_nvim.review.git import GitFailed, git_version
from eca_nvim.review.repository import require_space, size_of
from eca_nvim.session.files.checkpoints import FOLDER, MIB, Limits
from eca_nvim.threads import run_in_thread

_NAMED_ONLY: Final = "only files that tools name can be taken back, until Neovim ends"


def _report(name: str, rows: Sequence[Row]) -> None:
    sys.stdout.write(json.dumps({"name": name, "rows": rows}) + "\n")
    sys.stdout.flush()


async def _end_with_neovim(scope: anyio.CancelScope) -> None:
    await anyio.wait_readable(sys.stdin.fileno())
    scope.cancel()


def _store_rows(folders: Sequence[str], place: Path, limits: Limits) -> Iterator[Row]:
    """Yield whether checkpoints are made in some folders, and what all take at a place; blocks."""
    if not limits.enabled:
        yield Row("info", f"off, by the option checkpoints.enabled: {_NAMED_ONLY}")
    try:
        yield Row("ok", git_version())
    except GitFailed as fault:
        yield Row("warn", f"{fault}. Without it {_NAMED_ONLY}", ("install git",))
    for folder in folders:
        if not is_project(folder):
            yield Row("info", f"{safe(folder)} is in no repository: there {_NAMED_ONLY}")
    if place.exists():
        try:
            require_space(place, 0)
        except GitFailed as fault:
            yield Row("warn", str(fault), ("remove files, or checkpoints: :Eca checkpoints",))
    yield Row("info", f"all workspaces: {size_of(place) / MIB:.1f} MiB in {place}")
    most = f"{limits.size:g} MiB, for {limits.days:g} days, no file above {limits.max_file:g} MiB"
    yield Row("info", f"a workspace: at most {most}")


async def _report_store(folders: Sequence[str], place: str, limits: Limits) -> None:
    rows = await run_in_thread(lambda: [*_store_rows(folders, Path(place), limits)])
    _report("", rows)


async def _run(request: Mapping[str, Any]) -> None:
    settings = read_settings(request["settings"])
    finding, folders = settings.finding, request["folders"]
    limits, place = Limits(**settings.checkpoints), f"{settings.store_path}/{FOLDER}"
    deadline = anyio.current_time() + request["deadline"] - time.time()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_end_with_neovim, tasks.cancel_scope)
        async with anyio.create_task_group() as probes:
            probes.start_soon(_report_store, folders, place, limits)
            for name in request["names"]:
                report = partial(_report, name)
                probe = Probe(name, finding, folders[0], deadline, guardian().watch, report)
                probes.start_soon(probe.run)
        tasks.cancel_scope.cancel()


if __name__ == "__main__":
    guardian().watch(os.getpid())
    asyncio.run(_run(json.loads(sys.stdin.buffer.readline())))

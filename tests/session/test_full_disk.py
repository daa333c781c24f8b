"""A disk that is really full, or files that may not grow: said once, and chats go on."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Final

import anyio
import pytest
from tests.session.lives import SHELL, begin, life_in, make_project, saved
from tests.session.rig import Rig
from tests.support.launch import REPOSITORY

from eca_nvim.chat.vocabulary.events import ToolFinished
from eca_nvim.chat.vocabulary.query_intents import PlanUndo, UndoTurn
from eca_nvim.chat.vocabulary.turn_events import TurnEnded
from eca_nvim.review.repository import LEAST_FREE

LARGE: Final = 1 << 20
"""Bytes of each of four files."""
SIZE: Final = LEAST_FREE + 2 * LARGE
"""Bytes of the disk."""
FULL: Final = {
    "disk": f'mount -t tmpfs -o size={SIZE} tmpfs "$1" && exec "$2" -c "$3"',
    "file": 'exec "$2" -c "$3"',
}


@pytest.mark.parametrize(
    ("kind", "told"), [("disk", "the disk is full: 68 MiB are needed"), ("file", "ulimit -f")]
)
def test_a_full_disk_is_said_and_the_chat_goes_on(tmp_path: Path, kind: str, told: str) -> None:
    """On a file system of its own, where another user namespace can make one."""
    own = ["unshare", "--user", "--map-root-user", "--mount"] if kind == "disk" else []
    if own and subprocess.run([*own, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no user namespaces here")
    make_project(tmp_path / "work")
    (tmp_path / "saved").mkdir()
    run = f"from tests.session import test_full_disk as it; it.main({kind!r}, {str(tmp_path)!r})"
    arguments = (str(tmp_path / "saved"), sys.executable, run)
    path = os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "rplugin/python3")])
    done = subprocess.run(
        [*own, "sh", "-c", FULL[kind], "sh", *arguments],
        env={**os.environ, "PYTHONPATH": path},
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = [it for it in done.stdout.splitlines() if it.startswith("no checkpoint was made: ")]
    assert len(lines) == 1, done.stdout
    assert told in lines[0]


def main(kind: str, folder: str) -> None:
    """Fill the disk, have a command run, and free it; print the lines for the user."""
    if kind == "file":
        resource.setrlimit(resource.RLIMIT_FSIZE, (LARGE, SIZE))
    anyio.run(_fill, Path(folder) / "work", Path(folder) / "saved")


async def _fill(root: Path, saved_in: Path) -> None:
    async with life_in(root, saved_in)() as rig:
        agent = await begin(rig, "before")
        for number in range(4):
            (root / f"large{number}").write_bytes(os.urandom(LARGE))
        agent.say("a", ToolFinished(SHELL), TurnEnded())
        await rig.stored()
        await begin(rig, "while it is full", agent)
        (root / "a").write_text("changed\n")
        agent.say("a", ToolFinished(SHELL), TurnEnded())
        await rig.stored()
        for number in range(4):
            (root / f"large{number}").unlink()
        await begin(rig, "after", agent)
        (root / "a").unlink()
        agent.say("a", ToolFinished(SHELL), TurnEnded())
        await saved(rig)
        await _undo(rig)
        assert (root / "a").read_text() == "changed\n"
        print("\n".join(rig.lines()))  # noqa: T201


async def _undo(rig: Rig) -> None:
    planned = await rig.ask(PlanUndo("a", -1))
    files = [(it["path"], it["seen"]) for it in planned["rows"]]
    assert (await rig.ask(UndoTurn("a", -2, planned["turns"], files)))["failed"] == []

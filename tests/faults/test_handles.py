"""With 64 file handles a conversation is held; without any free one nothing is lost."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Final

import anyio
from tests.faults.cuts import (
    Cut,
    Losses,
    Story,
    User,
    count,
    count_kept,
    go_on,
    running,
)
from tests.session.rig import PATIENCE
from tests.support.launch import REPOSITORY

HANDLES: Final = 64
STORIES: Final = (Cut("eca", "edit_rejected"), Cut("acp", "qwen-edit-diff"))
FREE: Final = (0, 1, 2, 5, 12, HANDLES)
"""How many handles are free when a server is to start: it needs eight."""


def test_without_file_handles_nothing_is_lost(tmp_path: Path) -> None:
    """What cannot be started or written is said, and done once there are handles."""
    run = f"from tests.faults import test_handles as it; it.main({str(tmp_path)!r})"
    path = os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "rplugin/python3")])
    done = subprocess.run(
        [sys.executable, "-c", run],
        env={**os.environ, "PYTHONPATH": path},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found) == len(STORIES) * len(FREE)
    assert [it for it in found if it["lost"]] == []
    assert sum(it["prompts"] for it in found) >= 2 * len(found)
    assert [it["free"] for it in found if not it["started"]] == [0, 1, 2, 5] * len(STORIES)
    for it in found:
        assert it["started"] or "too many files are open to start" in it["shown"]


def main(folder: str) -> None:
    """Play the stories in a process of its own, and print what was counted."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (HANDLES, HANDLES))
    places = [(cut, free) for cut in STORIES for free in FREE]
    found = [anyio.run(_play, cut, free, Path(folder)) for cut, free in places]
    print(json.dumps(found))  # noqa: T201


async def _play(cut: Cut, free: int, folder: Path) -> dict[str, object]:
    home = folder / f"{cut.protocol}{free}"
    home.mkdir()
    story, losses = Story(cut, home), Losses()
    async with running(story) as rig:
        await rig.done()
        user, held = User(rig, story.actions), _all_but(free)
        with anyio.fail_after(PATIENCE):
            await user.act()
            rig.persistence.write()
            shown, has_started = rig.view.text(), not rig.is_dead
            for handle in held:
                os.close(handle)
            await count(rig, user, story, losses)
            await go_on(rig, losses)
    count_kept(user, story, losses)
    told = {"free": free, "started": has_started, "shown": shown, "lost": losses.lost}
    return {**told, "prompts": losses.counts["prompts"]}


def _all_but(free: int) -> list[int]:
    """Take all file handles but some."""
    held = list[int]()
    try:
        while True:
            held.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        pass
    for _ in range(min(free, len(held))):
        os.close(held.pop())
    return held

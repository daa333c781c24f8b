"""A clock that is set back while Neovim runs: nothing typed goes, no file is deleted."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.session.lives import SHELL, begin, life_in, make_project, saved, state, undo, work
from tests.session.rig import NEOVIM, Recorder

from eca_nvim.chat.vocabulary.events import ToolFinished
from eca_nvim.chat.vocabulary.ops import RestoreDraft
from eca_nvim.chat.vocabulary.turn_events import TurnEnded
from eca_nvim.session.persistence import Persistence
from eca_nvim.store import MOST_DRAFTS, MOST_PROMPTS, Draft, Store, StoreChanges

pytestmark = pytest.mark.anyio

SetBack = Callable[[], None]
HOUR = 3600


@pytest.fixture
def set_back(monkeypatch: pytest.MonkeyPatch) -> SetBack:
    """Let the clock be an hour ahead until it is set back: that of files is right all the time."""
    seconds, nanoseconds = time.time, time.time_ns
    monkeypatch.setattr(time, "time", lambda: seconds() + HOUR)
    monkeypatch.setattr(time, "time_ns", lambda: nanoseconds() + HOUR * 10**9)
    return monkeypatch.undo


def filled(folder: Path) -> Store:
    """Return a store with as many prompts and drafts as it takes."""
    store = Store(folder, "/project")
    prompts = {f"prompt {it}": time.time() for it in range(MOST_PROMPTS)}
    drafts = {f"chat {it}": Draft("theirs", time.time(), 1) for it in range(MOST_DRAFTS)}
    store.write(StoreChanges(prompts=prompts, drafts={**drafts}))
    return store


def test_what_is_typed_and_sent_is_the_newest(tmp_path: Path, set_back: SetBack) -> None:
    store = filled(tmp_path)
    persistence = Persistence(store, Recorder(), NEOVIM)
    persistence.load()
    set_back()
    for text in ("one", "two", "one"):
        persistence.keep_prompt(text)
    persistence.keep_draft("mine", "half")
    persistence.write()
    assert [*store.read().prompts][-2:] == ["two", "one"]
    assert store.read().drafts["mine"].text == "half"


def test_a_draft_is_there_once(tmp_path: Path, set_back: SetBack) -> None:
    store, view = Store(tmp_path, "/project"), Recorder()
    persistence = Persistence(store, view, NEOVIM)
    persistence.load()
    set_back()
    persistence.keep_draft("mine", "half")
    persistence.restore("mine")
    persistence.restore("another")
    assert view.of(RestoreDraft) == []
    store.path.unlink(missing_ok=True)
    persistence.close()
    assert store.read().drafts["mine"].text == "half"


@pytest.mark.parametrize("when", ["in a turn", "between turns", "between Neovims"])
async def test_what_a_command_changed_or_deleted_comes_back(
    when: str, tmp_path: Path, set_back: SetBack
) -> None:
    """What seems older than the command, and may be the user's, is not deleted."""
    root = tmp_path / "work"
    make_project(root)
    before = state(root)
    life = life_in(root, tmp_path / "saved")
    async with life() as rig:
        agent = await begin(rig)
        work(root)
        if when == "in a turn":
            set_back()
        agent.say("a", ToolFinished(SHELL), TurnEnded())
        await saved(rig)
        if when == "between turns":
            set_back()
        if when != "between Neovims":
            await undo(rig)
    if when == "between Neovims":
        set_back()
        async with life() as rig:
            await rig.ready()
            await undo(rig, 1)
    after = state(root)
    assert {path: after.get(path) for path in before} == before
    assert {Path(path).name for path in after.keys() - before.keys()} <= {"new"}

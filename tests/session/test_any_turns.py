"""Whatever turns, users and kills do to any files: all of it comes back, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import anyio
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.review.test_checkpoint_store import EDITS, NAMES, ODD, Edits, edit, files, git
from tests.session.lives import SHELL, Life, begin, life_in, saved
from tests.session.rig import Rig

from eca_nvim.chat.vocabulary.events import ToolFinished
from eca_nvim.chat.vocabulary.panels import RestoreCheckpoint
from eca_nvim.chat.vocabulary.query_intents import ListChanges, PlanUndo, UndoTurn
from eca_nvim.chat.vocabulary.turn_events import TurnEnded

Files: TypeAlias = Mapping[str, tuple[bytes, int | None]]
Turn: TypeAlias = tuple[Files, Files]
"""The files before a turn and after it."""

ENDS, IS_KILLED, IS_THE_USERS = "ends", "is killed", "is the user's"
STEPS = st.lists(
    st.tuples(st.sampled_from([ENDS, ENDS, IS_KILLED, IS_THE_USERS]), EDITS),
    min_size=1,
    max_size=4,
)
FEW = settings(max_examples=3, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
Steps: TypeAlias = Sequence[tuple[str, Edits]]


def project(folder: Path) -> Path:
    root = folder / "work"
    root.mkdir()
    git(root, "init", "-q")
    return root


def stored(edits: Edits) -> Edits:
    return [it for it in edits if not ODD & {*it[0]}]


def listed(edits: Edits) -> Edits:
    """Return the edits of files that an undo restores: whose names can be shown, and no links."""
    odd = {it for it in NAMES if not it.isprintable()}
    return [it for it in stored(edits) if not odd & {*it[0]} and not isinstance(it[1], str)]


async def play(root: Path, life: Life, steps: Steps) -> list[Turn]:
    """Let commands and the user change files; a Neovim that is killed is followed by another."""
    turns: list[Turn] = []
    left = iter(steps)
    while await _live(root, life, left, turns):
        pass
    return turns


async def _live(
    root: Path, life: Life, left: Iterator[tuple[str, Edits]], turns: list[Turn]
) -> bool:
    """Play what one Neovim sees; returns whether it was killed."""
    async with life() as rig:
        agent = await rig.ready()
        await rig.ask(ListChanges("a", -1))  # what ran before is over now
        for how, edits in left:
            if how == IS_THE_USERS:
                edit(root, edits)
                continue
            before, half = files(root), len(edits) // 2
            await begin(rig, f"turn {len(turns) + 1}", agent)
            edit(root, edits[:half])
            if how == IS_KILLED:
                await saved(rig)
                break
            edit(root, edits[half:])
            turns.append((before, files(root)))
            agent.say("a", ToolFinished(SHELL), TurnEnded())
            await saved(rig)
        else:
            return False
    edit(root, edits[half:])  # the command goes on until its server ends, too
    turns.append((before, files(root)))
    return True


async def undo(rig: Rig, number: int) -> None:
    """Undo a turn in all files, also in those that have changed since."""
    planned = await rig.ask(PlanUndo("a", -number, turn=number))
    assert all("taken" in it for it in planned["rows"]), planned
    wanted = [(it["path"], it["seen"]) for it in planned["rows"]]
    if wanted:
        done = await rig.ask(UndoTurn("a", -100 - number, planned["turns"], wanted))
        assert done["failed"] == []


@FEW
@given(EDITS, STEPS)
def test_turns_are_undone_in_a_later_neovim(
    tmp_path_factory: pytest.TempPathFactory, first: Edits, steps: Steps
) -> None:
    folder = tmp_path_factory.mktemp("turns")
    root = project(folder)
    life = life_in(root, folder / "saved")
    steps = [(how, listed(edits)) for how, edits in steps if how != IS_THE_USERS]

    async def run() -> None:
        edit(root, listed(first))
        turns = await play(root, life, steps)
        async with life() as rig:
            await rig.ready()
            for number, (before, _) in reversed([*enumerate(turns, 1)]):
                await undo(rig, number)
                assert files(root) == before

    anyio.run(run)


@FEW
@given(EDITS, STEPS)
def test_the_files_before_any_prompt_come_back(
    tmp_path_factory: pytest.TempPathFactory, first: Edits, steps: Steps
) -> None:
    folder = tmp_path_factory.mktemp("prompts")
    root = project(folder)
    life = life_in(root, folder / "saved")
    steps = [(how, stored(edits)) for how, edits in steps]

    async def run() -> None:
        edit(root, stored(first))
        turns = await play(root, life, steps)
        async with life() as rig:
            await rig.ready()
            last = files(root)
            for number, (before, _) in reversed([*enumerate(turns, 1)]):
                await rig.session._checkpoints.load()
                known = rig.session._checkpoints.known or ()
                prompt = next(it.id for it in known if it.about.get("prompt") == f"turn {number}")
                restored = await rig.ask(RestoreCheckpoint(prompt, -number))
                assert all("fault" not in it for it in restored["files"]), restored
                assert files(root) == before
                if number == len(turns):
                    latest = restored["undo"]
            if turns:
                await rig.ask(RestoreCheckpoint(latest, -99))
                assert files(root) == last

    anyio.run(run)

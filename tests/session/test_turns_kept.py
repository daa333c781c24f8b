"""Turns of earlier Neovims are listed, undone and redone, also if those were killed."""

import os
import shutil
import threading
from collections.abc import Sequence
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from tests.session.lives import (
    SHELL,
    Life,
    Value,
    begin,
    life_in,
    make_project,
    saved,
    state,
    undo,
    work,
)
from tests.session.rig import PATIENCE, words
from tests.support.calls import eca_call

from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.events import ToolFinished, ToolRequested
from eca_nvim.chat.vocabulary.ops import Answer, OpenBlock
from eca_nvim.chat.vocabulary.panels import RestoreCheckpoint
from eca_nvim.chat.vocabulary.query_intents import (
    KeepChanges,
    ListChanges,
    ListChats,
    ListUnreviewed,
    PlanUndo,
    UndoTurn,
)
from eca_nvim.chat.vocabulary.turn_events import TurnBegan, TurnEnded
from eca_nvim.review.git import run_git
from eca_nvim.review.tree_changes import TreeRequest
from eca_nvim.review.turn_changes import TurnChanges
from eca_nvim.review.turn_store import load_turns
from eca_nvim.session.files import turn_recorder
from eca_nvim.session.files.checkpoints import Checkpoints
from eca_nvim.session.requests.review import UNCOVERED

pytestmark = pytest.mark.anyio


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    make_project(root)
    return root


@pytest.fixture
def life(folder: Path, tmp_path: Path) -> Life:
    return life_in(folder, tmp_path / "saved")


async def test_a_turn_of_an_earlier_neovim_is_undone_and_redone(life: Life, folder: Path) -> None:
    before = state(folder)
    async with life() as rig:
        agent = await begin(rig)
        work(folder)
        write = eca_call("w", "write_file", arguments={"path": str(folder / "ignored")})
        agent.say("a", ToolFinished(SHELL), ToolRequested(write))
        (folder / "ignored").write_text("theirs\n")
        agent.say("a", ToolFinished(write), TurnEnded())
        await saved(rig)
        (turn,) = rig.session._ledger.turns("a")
        blob = turn.files[str(folder / "ignored")].before.blob
        assert blob is not None
        assert (blob.content, blob.read()) == (None, b"mine\n")  # the store has it
    after = state(folder)
    async with life() as rig:
        await rig.ready()
        await rig.stored()
        listed = await rig.ask(ListChanges("a", -1))
        assert {Path(it["path"]).name for it in listed} == {"a", "b", "new", "ignored"}
        assert {(it["turn"], it["prompt"]) for it in listed} == {(1, "tidy up")}
        assert await undo(rig) == {
            "a": "+1 -1 restored, changed by a command",
            "b": "+1 -0 created again, deleted by a command",
            "new": "+0 -1 deleted, made by a command",
            "ignored": "+1 -1 restored",
        }
        assert state(folder) == before
        assert not (folder / "deep").exists()
        await saved(rig)
    async with life() as rig:
        await rig.ready()
        await rig.stored()
        assert await rig.ask(ListChanges("a", -1)) == []
        await undo(rig, 1)
        assert state(folder) == after


async def test_what_was_kept_stays_reviewed(life: Life, folder: Path) -> None:
    async with life() as rig:
        agent = await begin(rig)
        work(folder)
        agent.say("a", ToolFinished(SHELL), TurnEnded())
        await saved(rig)
        listed = await rig.ask(ListUnreviewed("a", -1, begins=True))
        left = {Path(it["path"]).name: it for it in listed}
        rig.do(KeepChanges("a", left["a"]["keys"]))
        await saved(rig)
    async with life() as rig:
        await rig.ready()
        rig.do(KeepChanges("a", left["b"]["keys"]))  # from a list that is still on the screen
        names = {Path(it["path"]).name for it in await rig.ask(ListUnreviewed("a", -1))}
        assert names == {"new"}
        assert {Path(it["path"]).name for it in await rig.ask(ListChanges("a", -2))} == names
        (turn,) = rig.session._ledger.turns("a")
        assert turn.is_open  # it is not forgotten
        rig.do(KeepChanges("a", left["new"]["keys"]))
        assert await rig.ask(ListUnreviewed("a", -3)) == []
        assert not turn.is_open


async def test_the_next_turn_has_the_next_number(life: Life, folder: Path) -> None:
    for number in (1, 2):
        async with life() as rig:
            agent = await begin(rig, f"prompt {number}")
            (folder / "a").write_text(f"{number}\n")
            agent.say("a", ToolFinished(SHELL), TurnEnded())
            await saved(rig)
    async with life() as rig:
        await rig.ready()
        listed = await rig.ask(ListChanges("a", -1))
        found = {(it["turn"], it["prompt"]) for it in listed}
        assert found == {(1, "prompt 1"), (2, "prompt 2")}


async def test_what_ran_as_neovim_was_killed_is_known_and_asked_about(
    life: Life, folder: Path
) -> None:
    before = state(folder)
    async with life() as rig:
        await begin(rig)
        await saved(rig)
        work(folder)
    async with life() as rig:
        await rig.ready()
        planned = await rig.ask(PlanUndo("a", -1))
        taken = {Path(it["path"]).name: words(it["taken"]) for it in planned["rows"]}
        assert taken["b"] == "+1 -0 changed by others, too, created again, deleted by a command"
        await undo(rig)
        assert state(folder) == before


async def test_a_command_that_had_ended_is_known_though_nothing_was_compared(
    life: Life, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when Neovim quits at once; what was changed later may be the work of others."""
    async with life() as rig:
        agent = await begin(rig)
        await saved(rig)
        work(folder)
        with monkeypatch.context() as quitting:
            quitting.setattr(Checkpoints, "want", lambda _, about=None: TreeRequest(about))
            agent.say("a", ToolFinished(SHELL))
            await rig.session._recorder.saved()
    await anyio.sleep(0.02)  # the clock of files has steps
    (folder / "a").write_text("1\nmine\n3\n")
    async with life() as rig:
        await rig.ready()
        planned = await rig.ask(PlanUndo("a", -1))
        assert {Path(it["path"]).name: words(it["taken"]) for it in planned["rows"]} == {
            "a": "+1 -1 changed by others, too, restored, changed by a command",
            "b": "+1 -0 created again, deleted by a command",
            "new": "+0 -1 deleted, made by a command",
        }


async def test_contents_in_packs_are_read_ahead_by_few_processes(
    life: Life, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(40):
        (folder / f"many {number}").write_text(f"{number}\nthen\n")
    async with life() as rig:
        agent = await begin(rig)  # the first tree goes into packs
        for number in range(40):
            (folder / f"many {number}").write_text(f"{number}\nnow\n")
        agent.say("a", ToolFinished(SHELL), TurnEnded())
        await saved(rig)
    async with life() as rig:
        await rig.ready()
        await rig.stored()
        asked = list[str]()

        def counted(place: Path, *words: str, fed: bytes = b"") -> bytes:
            asked.append(words[1])
            return run_git(place, *words, fed=fed)

        monkeypatch.setattr("eca_nvim.review.repository.run_git", counted)
        listed = await rig.ask(ListChanges("a", -1))
        assert sorted(it["before"][0] for it in listed) == ["then"] * 40
        assert len((await rig.ask(PlanUndo("a", -2)))["rows"]) == 40
        # One more for the record of the turn.
        assert (asked.count("--batch"), asked.count("blob")) == (1, 1)


async def test_commands_of_two_neovims_at_once_are_uncertain_in_both(
    life: Life, folder: Path
) -> None:
    async with life(1) as rig, life(1 << 30) as other:
        first, second = await begin(rig), await begin(other)
        await saved(rig)
        await saved(other)
        (folder / "a").write_text("by one of them\n")
        for agent in (first, second):
            agent.say("a", ToolFinished(SHELL), TurnEnded())
        for each in (rig, other):
            (row,) = (await each.ask(PlanUndo("a", -1)))["rows"]
            assert "changed by others, too" in words(row["taken"])


async def test_without_the_store_nothing_of_earlier_neovims_is_known(
    life: Life, folder: Path
) -> None:
    async with life() as rig:
        agent = await begin(rig)
        work(folder)
        agent.say("a", ToolFinished(SHELL), TurnEnded())
        await saved(rig)
        assert rig.saved_in is not None
        shutil.rmtree(rig.saved_in)
    async with life() as rig:
        await rig.ready()
        assert await rig.ask(ListChanges("a", -1)) is None


async def test_a_chat_that_is_deleted_while_its_turns_are_loaded_has_none(
    life: Life, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with life() as rig:
        agent = await begin(rig)
        work(folder)
        agent.say("a", ToolFinished(SHELL), TurnEnded())
        await saved(rig)
    begun, go = threading.Event(), threading.Event()

    def load(*asked: Value) -> Sequence[TurnChanges]:
        begun.set()
        assert go.wait(PATIENCE)
        return load_turns(*asked)

    monkeypatch.setattr(turn_recorder, "load_turns", load)
    async with life() as rig:
        await rig.ready()
        rig.do(ListChanges("a", -1))
        await anyio.to_thread.run_sync(begun.wait, PATIENCE)
        rig.session._chats.forget("a")
        go.set()
        await rig.view.until(lambda: [it for it in rig.view.of(Answer) if it.request == -1])
        assert not rig.session._ledger.all_turns("a")


async def test_a_store_that_cannot_be_looked_at_ends_no_chat(folder: Path, tmp_path: Path) -> None:
    async with life_in(folder, tmp_path / ("long" * 100))() as rig:
        agent = await begin(rig)
        agent.say("a", ToolFinished(SHELL), TurnEnded())
        await rig.stored()
        assert await rig.ask(ListChanges("a", -1)) is None
        first, *_ = rig.lines()
        assert first.startswith("no checkpoint was made: ")
        assert ":Eca log" not in first, "it is no fault of ours"


async def test_a_host_that_died_is_not_waited_for_though_its_neovim_runs(
    life: Life, folder: Path
) -> None:
    before = state(folder)
    async with life(os.getpid()) as rig:
        await begin(rig)
        await saved(rig)
        work(folder)
    async with life(os.getpid()) as rig:
        await rig.ready()
        await undo(rig)
        assert state(folder) == before


async def test_a_chat_that_went_on_elsewhere_goes_on_with_the_next_number(
    life: Life, folder: Path
) -> None:
    async with life(os.getpid()) as rig:
        agent = await rig.ready("other")
        await rig.stored()
        for number in (1, 2):
            async with life() as other:
                theirs = await begin(other, f"elsewhere {number}")
                (folder / "a").write_text(f"{number}\n")
                theirs.say("a", ToolFinished(SHELL), TurnEnded())
                await saved(other)
        await rig.ask(ListChats(-5))
        rig.do(intents.OpenChat("a"))
        await begin(rig, "here", agent)
        (folder / "a").write_text("here\n")
        agent.say("a", ToolFinished(SHELL), TurnEnded())
        await saved(rig)
        listed = await rig.ask(ListChanges("a", -1))
        found = {(it["turn"], it["prompt"]) for it in listed}
        assert found == {(1, "elsewhere 1"), (2, "elsewhere 2"), (3, "here")}
        await undo(rig)
        assert (folder / "a").read_text() == "2\n"


async def test_what_is_restored_while_a_command_runs_is_not_its_work(
    life: Life, folder: Path
) -> None:
    async with life() as rig:
        agent = await begin(rig)
        (folder / "b").write_text("mine, before\n")
        await rig.stored()
        known = rig.session._checkpoints.known or ()
        (folder / "b").write_text("mine\n")
        (folder / "a").write_text("by the command\n")
        checkpoint = next(it.id for it in known if it.about["kind"] == "prompt")
        restored = await rig.ask(RestoreCheckpoint(checkpoint, -9))
        assert {Path(it["path"]).name for it in restored["files"]} == {"a", "b"}
        (folder / "new").write_text("new\n")
        agent.say("a", ToolFinished(SHELL), TurnEnded())
        listed = await rig.ask(ListChanges("a", -1))
        assert [Path(it["path"]).name for it in listed] == ["new"]


async def test_going_back_is_taken_back_in_a_later_neovim(life: Life, folder: Path) -> None:
    before = state(folder)
    async with life() as rig:
        agent = await begin(rig)
        work(folder)
        agent.say("a", ToolFinished(SHELL), TurnEnded())
        await saved(rig)
        after = state(folder)
        prompt = next(it.block for it in rig.view.of(OpenBlock) if it.kind == "user")
        planned = await rig.ask(PlanUndo("a", -1, since=prompt))
        files = [(it["path"], it["seen"]) for it in planned["rows"]]
        await rig.ask(UndoTurn("a", -2, planned["turns"], files, since=prompt))
        assert state(folder) == before
    async with life() as rig:
        await rig.ready()
        await rig.session._checkpoints.load()
        known = rig.session._checkpoints.known or ()
        kept = [it for it in known if it.about.get("prompt") == "before going back to tidy up"]
        assert len((await rig.ask(RestoreCheckpoint(kept[0].id, -3)))["files"]) == 3
        assert state(folder) == after


async def test_the_question_says_what_is_not_known_if_a_command_has_run(
    life: Life, folder: Path
) -> None:
    write = eca_call("w", "write_file", arguments={"path": str(folder / "a")})
    async with life() as rig:
        agent = await rig.ready()
        for number, calls in enumerate([(write,), (write, SHELL)], 1):
            rig.do(intents.SendPrompt("a", f"prompt {number}"))
            await rig.done()
            agent.say("a", TurnBegan())
            for call in calls:
                agent.say("a", ToolRequested(call))
                await rig.done()
                (folder / "a").write_text(f"{number}\n")
                agent.say("a", ToolFinished(call))
            agent.say("a", TurnEnded())
            await saved(rig)
        told = [(await rig.ask(PlanUndo("a", -it, turn=it)))["notes"] for it in (1, 2)]
        assert told == [(), UNCOVERED]

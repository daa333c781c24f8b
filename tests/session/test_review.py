"""The user's requests about changes of tools, through the whole session."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.session.rig import FakeAgent, Rig, words
from tests.support.calls import eca_call

from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.call_details import FileChange
from eca_nvim.chat.vocabulary.events import ToolFinished, ToolRequested
from eca_nvim.chat.vocabulary.ops import FilesChanged, Notify, ShowDiff
from eca_nvim.chat.vocabulary.query_intents import (
    KeepChanges,
    ListChanges,
    ListFiles,
    ListUnreviewed,
    PlanUndo,
    ShowCheckpoint,
    UndoTurn,
)
from eca_nvim.chat.vocabulary.turn_events import TurnBegan, TurnEnded

pytestmark = pytest.mark.anyio

Value: TypeAlias = Any
BEFORE = "one\ntwo\nthree\n"
AFTER = "one\nTWO\nthree\n"
DIFF = "@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_text(BEFORE)
    return path


def write(file: Path, text: str) -> None:
    file.write_text(text)


def read(file: Path) -> str:
    return file.read_text()


def become_a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


async def edit(rig: Rig, file: Path) -> FakeAgent:
    """Let the agent edit the file in a turn, after approval."""
    agent = await rig.ready()
    rig.do(intents.SendPrompt("a", "shout"))
    await rig.done()
    change = FileChange(str(file), DIFF, 1, 1)
    call = eca_call("t", "edit_file", arguments={"path": str(file)}, details=change)
    agent.say("a", TurnBegan(), ToolRequested(call, needs_approval=True))
    write(file, f"{BEFORE}four\n")
    rig.do(rig.decision("t"))
    await rig.done()
    write(file, f"{AFTER}four\n")
    agent.say("a", ToolFinished(eca_call("t")), TurnEnded())
    return agent


async def test_changes_are_listed_until_they_are_kept(rig: Rig, file: Path) -> None:
    await edit(rig, file)
    (entry,) = await rig.ask(ListChanges("a", -1))
    assert isinstance(entry, Mapping)
    assert (entry["path"], entry["line"], entry["text"]) == (str(file), 2, "TWO")
    assert (entry["turn"], entry["prompt"]) == (1, "shout")
    rig.unwritten[str(file)] = f"zero\n{AFTER}"
    (entry,) = await rig.ask(ListChanges("a", -4))
    assert entry["line"] == 3
    rig.do(KeepChanges("a", [entry["key"]]))
    assert await rig.ask(ListChanges("a", -5)) == []
    assert rig.view.of(Notify) == []


async def test_what_is_kept_in_the_list_is_reviewed_in_the_file(rig: Rig, file: Path) -> None:
    await edit(rig, file)
    assert await rig.ask(ListUnreviewed("nobody", -1)) == []
    rig.unwritten[str(file)] = f"zero\n{AFTER}"
    (hunk,) = await rig.ask(ListUnreviewed("a", -2))
    assert (hunk["line"], hunk["before"], hunk["after"]) == (3, ["two"], ["TWO"])
    assert await rig.ask(ListUnreviewed("a", -3, path=str(file))) == [hunk]
    assert await rig.ask(ListUnreviewed("a", -4, path="/elsewhere")) == []
    (entry,) = await rig.ask(ListChanges("a", -5))
    assert hunk["keys"] == (entry["key"],)
    rig.do(KeepChanges("a", [entry["key"]]))
    assert await rig.ask(ListUnreviewed("a", -6)) == []


@pytest.mark.parametrize(
    ("intent", "told"),
    [
        (ListChanges("nobody", -1), "no changes in this chat"),
        (ListChanges("a", -1, turn=2), "no changes in turn 2"),
    ],
)
async def test_that_nothing_was_ever_changed_is_told(
    rig: Rig, file: Path, intent: ListChanges, told: str
) -> None:
    await edit(rig, file)
    assert await rig.ask(intent) is None
    assert rig.view.of(Notify) == [Notify("info", told)]


async def test_a_turn_is_planned_and_undone(rig: Rig, file: Path) -> None:
    await edit(rig, file)
    planned = await rig.ask(PlanUndo("a", -1))
    assert (planned["turns"], planned["title"]) == ([1], "undo turn 1: shout")
    (plan,) = planned["rows"]
    assert (plan["path"], plan["kept"], words(plan["taken"])) == (str(file), None, "+1 -1 restored")
    files = [(str(file), plan["seen"]), ("/not/in/it", "")]
    done = await rig.ask(UndoTurn("a", -2, [1], files))
    assert done == {"done": [str(file)], "failed": [], "told": "turn 1 undone in 1 file"}
    assert read(file) == f"{BEFORE}four\n"
    assert rig.view.of(FilesChanged)[-1].paths == [str(file)]
    assert (await rig.ask(PlanUndo("a", -3)))["rows"] == []
    assert (await rig.ask(PlanUndo("a", -4, turn=1)))["again"] is True
    assert (await rig.ask(PlanUndo("a", -5, turn=1, paths=["/elsewhere"])))["rows"] == []


async def change_both(rig: Rig, file: Path, other: Path) -> None:
    """Let the agent edit the file, and write another in the same turn."""
    agent = await edit(rig, file)
    call = eca_call("t2", "write_file", arguments={"path": str(other)})
    agent.say("a", ToolRequested(call, needs_approval=False))
    write(other, "new\n")
    agent.say("a", ToolFinished(call))


@pytest.mark.parametrize("typed", [False, True])
async def test_a_file_that_changed_since_it_was_shown_stays(
    rig: Rig, file: Path, tmp_path: Path, typed: bool
) -> None:
    other = tmp_path / "other"
    await change_both(rig, file, other)
    files = [(it["path"], it["seen"]) for it in (await rig.ask(PlanUndo("a", -1)))["rows"]]
    assert [path for path, _ in files] == [str(file), str(other)]
    if typed:
        rig.unwritten[str(file)] = "mine\n"
    else:
        write(file, "mine\n")
    kept = read(file)
    done = await rig.ask(UndoTurn("a", -2, [1], files))
    fault = "changed since it was shown: ask again"
    assert (done["done"], done["failed"]) == ([str(other)], [{"path": str(file), "fault": fault}])
    assert read(file) == kept
    assert not other.exists()
    (plan,) = (await rig.ask(PlanUndo("a", -3)))["rows"]
    why = "unsaved changes" if typed else "changed since"
    assert words(plan["kept"]) == f"+4 -1 {why}, kept as it is"
    await rig.ask(UndoTurn("a", -4, [1], [(str(file), plan["seen"])]))
    assert read(file) == f"{BEFORE}four\n"


async def test_what_fails_says_why(rig: Rig, file: Path) -> None:
    await edit(rig, file)
    become_a_folder(file)
    (plan,) = (await rig.ask(PlanUndo("a", -1)))["rows"]
    done = await rig.ask(UndoTurn("a", -2, [1], [(str(file), plan["seen"])]))
    assert done == {
        "done": [],
        "failed": [{"path": str(file), "fault": "it is not a regular file"}],
        "told": None,
    }


async def test_the_checkpoint_of_a_file_is_shown_beside_it(rig: Rig, file: Path) -> None:
    await edit(rig, file)
    rig.do(ShowCheckpoint("a", [1], str(file)))
    await rig.view.until(lambda: rig.view.of(ShowDiff))
    (shown,) = rig.view.of(ShowDiff)
    assert (shown.before, shown.after) == (f"{BEFORE}four\n", f"{AFTER}four\n")
    assert (shown.kind, shown.request) == ("changed", None)
    rig.do(ShowCheckpoint("a", [2], str(file)))
    await rig.view.until(lambda: "this change is no longer there" in rig.lines())
    write(file, "\0")
    rig.do(ShowCheckpoint("a", [1], str(file)))
    await rig.view.until(lambda: "there is no text to compare" in rig.lines())
    assert len(rig.view.of(Notify)) == 2


async def test_files_are_counted(rig: Rig, file: Path) -> None:
    await edit(rig, file)
    used = (await rig.ask(ListFiles("a", -1)))["files"]
    assert [(it["path"], words(it["use"])) for it in used] == [(str(file), "turn 1 written +1 -1")]
    assert await rig.ask(ListFiles("nobody", -2)) is None

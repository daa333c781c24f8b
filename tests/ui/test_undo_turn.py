"""Undoing a turn: the float that shows what would happen, and what it sends."""

from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import AssertScreen, StartNeovim
from tests.ui.listed import change, make_file, rows, show, wait_row
from tests.ui.staged import CHAT, WITHOUT_HOST, draw, sent, wait_sent
from tests.ui.talk import Value
from tests.ui.undone import outcome, plan, planned

from eca_nvim.review.change_list import Table
from eca_nvim.review.undo import no_plan

pytestmark = pytest.mark.either_nvim


@pytest.fixture
def stage(start_nvim: StartNeovim, workspace: Path) -> Neovim:
    """Neovim with a file open, a chat that is not shown, and no host."""
    (workspace / "code.txt").write_text("theirs\n")
    settings = {"approval": {"guard": 0}}
    nvim = start_nvim("code.txt", init=WITHOUT_HOST, settings=settings, columns=80, lines=24)
    nvim.lua(f"require('eca.chat.buffers').ensure('{CHAT}')")
    return nvim


def ask(nvim: Neovim, *files: Table, again: bool = False, turn: str = "") -> None:
    """Ask for a turn to be undone, and answer with a plan."""
    nvim.command(f"Eca undo-turn {turn}")
    wanted = wait_sent(nvim, "plan_undo")[-1]
    answered = plan(*files, again=again) if files else no_plan(None)
    draw(nvim, ["answer", wanted["request"], answered])


def answer(
    nvim: Neovim, done: list[str], failed: list[Value] | None = None, *, again: bool = False
) -> None:
    wanted = wait_sent(nvim, "undo_turn")[-1]
    draw(nvim, ["answer", wanted["request"], outcome(done, failed, again=again)])


def test_a_turn_is_undone_after_a_look(
    stage: Neovim, workspace: Path, assert_screen: AssertScreen
) -> None:
    path = workspace / "code.txt"
    ask(
        stage,
        planned(path),
        planned(workspace / "new.txt", what="delete", added=0, removed=12),
        planned(workspace / "gone.txt", what="create", added=3, removed=0),
        planned(workspace / "big.bin", fault="it is larger than 16 MiB", added=0, removed=0),
    )
    stage.wait_screen("undo turn 2: shout")
    assert_screen(stage, "undo_turn")
    stage.keys("u")
    (wanted,) = wait_sent(stage, "undo_turn")
    assert (wanted["chat"], wanted["turns"]) == (CHAT, [2])
    files = [(Path(path).name, seen) for path, seen in wanted["files"]]
    assert files == [("code.txt", "so"), ("new.txt", "so"), ("gone.txt", "so")]
    failed = [{"path": str(workspace / "gone.txt"), "fault": "permission denied"}]
    answer(stage, [str(path)], failed)
    stage.wait_screen("gone.txt was not changed: permission denied")
    assert "turn 2 undone in 1 file" in stage.messages()
    assert stage.eval("expand('%:t')") == "code.txt"


@pytest.mark.parametrize("leave", ["q", "<Esc>", "<C-w>w"])
def test_leaving_does_nothing(stage: Neovim, workspace: Path, leave: str) -> None:
    stage.command("split | wincmd j")
    window = stage.eval("win_getid()")
    ask(stage, planned(workspace / "code.txt"))
    stage.wait_screen("undo turn 2")
    stage.keys(leave)
    stage.wait_screen(lambda screen: "undo turn 2" not in screen)
    assert sent(stage, "undo_turn") == []
    if leave != "<C-w>w":
        assert stage.eval("win_getid()") == window


def test_a_conflict_stays_unless_the_user_says_otherwise(stage: Neovim, workspace: Path) -> None:
    path = workspace / "code.txt"
    conflict = planned(path, conflict="changed since")
    ask(stage, conflict)
    screen = stage.wait_screen("changed since, kept as it is")
    assert "k keep mine  t take theirs" in screen
    stage.keys("u")
    stage.wait_screen("nothing was undone")
    assert sent(stage, "undo_turn") == []
    other = planned(workspace / "c.txt", conflict="changed since")
    ask(stage, conflict, planned(workspace / "b.txt"), other)
    screen = stage.wait_screen("kept as it is")
    assert "t take theirs  T all" in screen
    stage.keys("t")
    stage.wait_screen("changed since, restored")
    stage.keys("k")
    stage.wait_screen(lambda screen: "changed since, restored" not in screen)
    stage.keys("Tu")
    (wanted,) = wait_sent(stage, "undo_turn")
    assert [Path(path).name for path, _ in wanted["files"]] == ["code.txt", "b.txt", "c.txt"]


@pytest.mark.parametrize("lines", [1, 12_000])
def test_what_is_taken_replaces_unsaved_text_and_u_brings_it_back(
    stage: Neovim, workspace: Path, lines: int
) -> None:
    path = workspace / "code.txt"
    path.write_text("theirs\n" * lines)
    stage.command("edit!")
    stage.keys("Smine<Esc>")
    ask(stage, planned(path, conflict="unsaved changes"))
    stage.wait_screen("unsaved changes, kept as it is")
    stage.keys("tu")
    wait_sent(stage, "undo_turn")
    path.write_text("before\n" * lines)
    answer(stage, [str(path)])
    stage.wait_until("vim.fn.getline(1) == 'before'")
    assert stage.eval("&modified") == 0
    stage.keys("u")
    assert stage.buffer_lines() == ["mine", *["theirs"] * (lines - 1)]
    stage.command("edit!")


def test_the_difference_is_asked_for(stage: Neovim, workspace: Path) -> None:
    path = workspace / "code.txt"
    ask(stage, planned("/x"), planned(path))
    stage.wait_screen("undo turn 2")
    stage.keys("jd")
    (wanted,) = wait_sent(stage, "checkpoint")
    assert wanted == {"chat": CHAT, "turns": [2], "path": str(path)}


def test_a_turn_is_done_again(stage: Neovim, workspace: Path) -> None:
    ask(stage, planned(workspace / "code.txt"), again=True, turn="2")
    assert sent(stage, "plan_undo")[0]["turn"] == 2
    screen = stage.wait_screen("redo turn 2: shout")
    assert "u redo" in screen
    stage.keys("u")
    answer(stage, [str(workspace / "code.txt")], again=True)
    stage.wait_screen("turn 2 redone in 1 file")


def test_the_list_of_changes_says_what_is_undone(stage: Neovim, workspace: Path) -> None:
    path = make_file(workspace)
    new, old = workspace / "new.txt", change(path, key="k1", line=9)
    others = change(path, turn=2), change(new, key="new", turn=2, kind="new", text="new")
    show(stage, old, *others)
    stage.keys("Gk")
    stage.command("wincmd p")
    window, listed = stage.eval("win_getid()"), rows(stage)
    ask(stage, planned(path), planned(new, what="delete"))
    stage.wait_screen("undo turn 2")
    stage.keys("u")
    answer(stage, [str(path)], [{"path": str(new), "fault": "permission denied"}])
    wait_row(stage, 3, "undone  +1 -1  LINE 5")
    assert [*rows(stage)[:3], rows(stage)[4]] == [*listed[:3], listed[4]]
    assert stage.eval("win_getid()") == window
    assert stage.eval("line('.', getqflist({'winid': 0}).winid)") == 4
    ask(stage, planned(path), again=True, turn="2")
    stage.wait_screen("redo turn 2")
    stage.keys("u")
    wait_sent(stage, "undo_turn", 2)
    answer(stage, [str(path)])
    stage.wait_for(lambda: rows(stage) == listed, "the rows as they were")


def test_rows_of_other_turns_are_right_after_an_undo(stage: Neovim, workspace: Path) -> None:
    path = make_file(workspace)
    other = change(path, key="other", line=9)
    undone = change(path, key="undone", turn=2, line=1)
    covered = change(path, key="covered", turn=3)
    fourth = change(path, key="again", turn=4, added=3, line=2)
    show(stage, other, undone, covered, fourth)
    stage.keys("Gkkk")
    listed = rows(stage)
    for again, line, texts in (
        (False, 6, [listed[1], f"undone  {listed[3]}", f"gone  {listed[5]}", listed[7]]),
        (True, 9, listed[1::2]),
    ):
        ask(stage, planned(path), again=again, turn="2")
        stage.wait_screen("redo turn 2" if again else "undo turn 2")
        stage.keys("u")
        wait_sent(stage, "undo_turn", 2 if again else 1)
        answer(stage, [str(path)], again=again)
        asked = wait_sent(stage, "changes", 3 if again else 2)[-1]
        left = [
            {**other, "line": line},
            *([undone, covered] if again else []),
            fourth,
        ]
        draw(stage, ["answer", asked["request"], left])
        stage.wait_until(f"vim.fn.getqflist()[2].lnum == {line}")
        assert rows(stage)[1::2] == texts
    assert stage.eval("line('.')") == 5, "the cursor stays"


def test_nothing_to_undo_is_said(stage: Neovim) -> None:
    ask(stage)
    stage.wait_screen("nothing to undo")


def test_a_key_that_comes_too_soon_undoes_nothing(stage: Neovim, workspace: Path) -> None:
    stage.lua("require('eca.config').setup({ approval = { guard = 600000 } })")
    ask(stage, planned(workspace / "code.txt"))
    stage.wait_screen("undo turn 2")
    stage.keys("u")
    stage.wait_screen("undo turn 2")
    assert sent(stage, "undo_turn") == []


def test_who_goes_on_keeps_his_keys(stage: Neovim, workspace: Path) -> None:
    stage.command("Eca undo-turn")
    (wanted,) = wait_sent(stage, "plan_undo")
    stage.keys("Ofull")
    draw(stage, ["answer", wanted["request"], plan(planned("/x"))])
    stage.keys(" house<Esc>")
    stage.wait_screen("the undo preview was not opened, as you kept typing: ask again")
    assert stage.buffer_lines()[0] == "full house"
    stage.command("edit!")


def test_who_typed_goes_on_typing(stage: Neovim, workspace: Path) -> None:
    stage.command("inoremap <F5> <Cmd>Eca undo-turn<CR>")
    stage.keys("A again<F5>")
    (wanted,) = wait_sent(stage, "plan_undo")
    draw(stage, ["answer", wanted["request"], plan(planned("/x"))])
    stage.wait_screen("undo turn 2")
    stage.keys("q")
    stage.wait_for(lambda: stage.mode == "i", "insert mode again")
    stage.keys("!")
    assert stage.buffer_lines() == ["theirs again!"]
    stage.command("stopinsert | edit!")


@pytest.mark.parametrize("columns", [80, 160])
def test_the_keys_are_seen_below_long_names(
    stage: Neovim, workspace: Path, assert_screen: AssertScreen, columns: int
) -> None:
    stage.resize(columns, 24)
    deep = workspace / "some" / "other" / "rather" / "long" / "folder" / "for" / "helpers"
    ask(
        stage,
        planned(deep / "of_the_calculator.py", conflict="changed by others, too"),
        planned(deep / "of_the_parser.py", fault="it is larger than 16 MiB", added=0, removed=0),
        planned(deep / "new.py", what="delete", added=0, removed=1200),
        *(planned(deep / f"number_{count}.py", conflict="changed since") for count in range(3)),
    )
    stage.wait_screen("t take theirs")
    assert_screen(stage, f"undo_conflict_{columns}")
    stage.keys("t")
    stage.wait_screen("too, restored")
    stage.wait_screen("k keep mine  t take theirs  T all  d diff  q cancel")


def test_more_files_than_rows_scroll_above_the_keys(stage: Neovim, workspace: Path) -> None:
    ask(stage, *(planned(workspace / f"number_{count}.py") for count in range(60)))
    screen = stage.wait_screen("u undo  d diff  q cancel")
    assert "number_59.py" not in screen
    stage.keys("G")
    assert "number_59.py" in stage.wait_screen("u undo  d diff  q cancel")
    stage.keys("u")
    stage.wait_screen("60 files are being restored")

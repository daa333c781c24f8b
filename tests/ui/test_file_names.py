"""Dangerous or hidden file names, in every place that shows names of files."""

from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Value
from tests.ui.listed import change, make_file, rows, show, start_stage
from tests.ui.staged import CHAT, draw, wait_sent
from tests.ui.undone import outcome, plan, planned

NAME = "a\x1b[31m\u202eb\nc.txt"
SHOWN = "a [31m<U+202E>b c.txt"


@pytest.fixture
def file(workspace: Path) -> Path:
    return make_file(workspace).rename(workspace / NAME)


@pytest.fixture
def stage(start_nvim: StartNeovim, file: Path) -> Neovim:
    return start_stage(start_nvim, file.parent)


def answer(nvim: Neovim, command: str, intent: str, value: Value) -> None:
    """Run a command that asks the host for something, and answer."""
    nvim.command(command)
    asked = wait_sent(nvim, intent)[-1]
    draw(nvim, ["answer", asked["request"], value])


def test_in_the_list_of_files(stage: Neovim, file: Path) -> None:
    row = {"path": str(file), "heat": [], "use": [["  read", ""]]}
    answer(stage, "Eca files", "files", {"head": [], "files": [row], "more": 0})
    stage.wait_screen(f"{SHOWN}  read")


@pytest.mark.parametrize("fault", ["it is larger than 16 MiB", None])
def test_in_what_undo_would_do(stage: Neovim, file: Path, fault: str | None) -> None:
    stage.lua("require('eca.config').setup({ approval = { guard = 0 } })")
    answer(stage, "Eca undo-turn", "plan_undo", plan(planned(file, fault=fault)))
    stage.wait_screen(f"{SHOWN}  ")
    stage.keys("u")
    if fault is None:
        (wanted,) = wait_sent(stage, "undo_turn")
        assert wanted["files"] == [[str(file), "so"]]
        failed = outcome([], [{"path": str(file), "fault": "no"}])
        draw(stage, ["answer", wanted["request"], failed])
        stage.wait_screen(f"{SHOWN} was not changed: no")


def test_in_the_question_for_a_comment(stage: Neovim, file: Path) -> None:
    show(stage, change(file), change(file, key="k", kind="moved", text="moved", origin=str(file)))
    stage.input("c")
    stage.wait_screen(f"Comment on {SHOWN}:5:")
    stage.keys("why?<CR>")
    assert rows(stage)[2:] == ["comment, not sent: why?", "+1 -1  moved"]
    assert wait_sent(stage, "comment")[0]["paths"] == [str(file)]


def test_in_the_questions_about_a_conflict(stage: Neovim, file: Path) -> None:
    for path in (file, file.parent / "other.txt"):
        path.write_text("old\n")
        stage.lua("vim.cmd.edit({ args = { ... }, magic = { file = false } })", str(path))
        stage.keys("Smine<Esc>")
        path.write_text("theirs\n")
        draw(stage, ["files", CHAT, [str(path)]])
        stage.wait_screen("changed on disk")
        stage.command("set hidden")
    stage.input(":Eca conflicts<CR>")
    stage.wait_screen(f"1: {SHOWN}")
    stage.input("1<CR>")
    stage.wait_screen(f"{SHOWN} changed on disk and in its buffer")
    stage.keys("1<CR>")
    stage.command("edit!")

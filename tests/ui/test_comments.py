"""Comments in the list of changes, in the files, and above the input; sent as one prompt."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Value
from tests.ui.listed import LINES, change, make_file, rows, show, start_stage, wait_row
from tests.ui.staged import CHAT, draw, sent, wait_sent

ROW = "+1 -1  LINE 5"


@pytest.fixture
def file(workspace: Path) -> Path:
    return make_file(workspace)


@pytest.fixture
def stage(start_nvim: StartNeovim, file: Path) -> Neovim:
    nvim = start_stage(start_nvim, file.parent)
    nvim.lua(f"require('eca.window').current_chat = function() return '{CHAT}' end")
    return nvim


def comment(nvim: Neovim, text: str, name: str = "code.txt:5") -> Mapping[str, Value]:
    """Comment on what is under the cursor, and return what the host gets."""
    count = len(sent(nvim, "comment"))
    nvim.input("c")
    nvim.wait_screen(f"Comment on {name}:")
    nvim.keys(f"{text}<CR>")
    return wait_sent(nvim, "comment", count + 1)[-1]


def told(nvim: Neovim, *comments: Mapping[str, Value]) -> None:
    """Draw the comments that the host has."""
    draw(nvim, ["comments", CHAT, [*comments]])


def test_comments_in_the_list(stage: Neovim, file: Path) -> None:
    other = change(file.parent / "new.txt", key="new", kind="new", text="new file")
    show(stage, change(file), change(file, key="k9", line=9), other)
    first = comment(stage, "why loud?")
    assert first == {
        "chat": CHAT,
        "id": first["id"],
        "text": "why loud?",
        "paths": [str(file)],
        "line": 5,
        "count": 1,
        "before": ["line 5"],
        "subject": "",
        "turn": 1,
    }
    assert rows(stage)[:3] == ["turn 1: shout", ROW, "comment, not sent: why loud?"]
    again = comment(stage, "!")  # on the change: its comment is offered
    assert (again["id"], again["text"]) == (first["id"], "why loud?!")
    stage.keys("j")
    assert comment(stage, "!")["text"] == "why loud?!!"  # and on its own row
    stage.keys("r")
    stage.wait_screen("no change under the cursor")
    stage.keys("2j")
    whole = comment(stage, "why a new file?", "new.txt")
    assert (whole["subject"], whole["count"]) == ("new file", 0)
    stage.keys("gg")
    turn = comment(stage, "too much at once", "turn 1")
    assert turn["subject"] == "all changes of the turn “shout”"
    assert turn["paths"] == [str(file), str(file.parent / "new.txt")]
    assert rows(stage) == [
        "turn 1: shout",
        "comment, not sent: too much at once",
        ROW,
        "comment, not sent: why loud?!!",
        ROW,
        "+1 -1  new file",
        "comment, not sent: why a new file?",
    ]
    assert len({it["id"] for it in sent(stage, "comment")}) == len([first, whole, turn])

    show(stage, change(file), command="Eca changes 2")
    stage.wait_screen("3 comments not sent yet")
    assert rows(stage)[-2:] == ["comments", "comment, not sent: why a new file?"]
    stage.keys("G")
    assert comment(stage, "<C-u>", "new.txt")["text"] == ""
    assert rows(stage) == [
        "turn 1: shout",
        "comment, not sent: too much at once",
        ROW,
        "comment, not sent: why loud?!!",
    ]
    told(
        stage,
        {**first, "text": "why?", "state": "open", "line": 5},
        {**turn, "state": "addressed"},
    )
    wait_row(stage, 1, "comment, addressed: too much")
    assert rows(stage)[3] == "comment, open: why?"
    stage.keys("s")
    (asked,) = wait_sent(stage, "send_comments")
    text = "code.txt:5\n\n```diff\n+@file\n```\n\nwhy?"
    draw(stage, ["answer", asked["request"], {"text": text, "typed": "why?", "count": 1}])
    (prompt,) = wait_sent(stage, "prompt")
    assert (prompt["chat"], prompt["text"], prompt["contexts"]) == (CHAT, text, [])
    stage.wait_screen("1 comment sent as a prompt")
    draw(stage, ["emit", "EcaTurnFinished", {"chat": CHAT}])
    count = len(sent(stage, "check_comments"))
    stage.wait_for(lambda: len(sent(stage, "check_comments")) >= count, "a look at the comments")


def drawn(nvim: Neovim) -> list[tuple[int, list[str]]]:
    """Return the virtual lines of the current buffer, with the line above them."""
    marks: list[Value] = nvim.lua(
        "local space = vim.api.nvim_create_namespace('eca.review.comments') "
        "return vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })"
    )
    return [
        (row + 1, ["".join(text for text, _ in line) for line in details["virt_lines"]])
        for _, row, _, details in marks
    ]


def test_comments_in_the_code(stage: Neovim, file: Path) -> None:
    """On any lines, wrapped below them; they move with the text, and a reload keeps their place."""
    stage.command(f"edit {file}")
    stage.input(":5,6Eca changes comment<CR>")
    stage.wait_screen("Comment on code.txt:5:")
    words = " ".join(["why"] * 40)
    stage.keys(f"{words}<CR>")
    (first,) = sent(stage, "comment")
    assert (first["line"], first["count"], "before" in first) == (5, 2, False)
    ((line, text),) = drawn(stage)
    assert line == 6
    assert len(text) == 2
    assert all(it.startswith("▎ ") for it in text)
    assert text[-1].endswith("why  not sent")
    assert max(map(len, text)) <= 100
    stage.keys("3GOmine<Esc>")
    assert drawn(stage)[0][0] == 7
    told(stage, {**first, "text": "why?", "state": "open", "line": 6})
    stage.wait_for(lambda: drawn(stage) == [(7, ["▎ why?  open"])], "the comment")
    stage.command("edit!")
    assert drawn(stage) == [(7, ["▎ why?  open"])]
    told(stage, {**first, "text": "a\x1b[1m\n%{b}", "state": "addressed", "line": 99})
    last = len(LINES)
    shown = [(last, ["▎ a<1b>[1m", "▎ %{b}  addressed"])]
    stage.wait_for(lambda: drawn(stage)[0][0] == last, "the last line")
    assert [(line, len(text)) for line, text in drawn(stage)] == [(last, len(shown[0][1]))]
    stage.command("diffthis")
    assert drawn(stage) == []
    stage.command("diffoff")
    assert len(drawn(stage)) == 1
    draw(stage, ["forget", CHAT], ["emit", "EcaChatClosed", {"chat": CHAT}])
    stage.wait_for(lambda: drawn(stage) == [], "the comment to go with its chat")
    stage.command("enew")
    stage.keys(":Eca changes comment<CR>")
    stage.wait_screen("no file to comment on here")


def test_a_comment_typed_while_the_list_is_made_anew_is_kept(stage: Neovim, file: Path) -> None:
    stage.lua("vim.ui.input = function(_, done) package.loaded.done = done end")
    show(stage, change(file))
    stage.keys("c")
    show(stage, change(file))
    stage.lua("package.loaded.done('late')")
    wait_row(stage, 2, "comment, not sent: late")


def test_the_last_comment_in_a_list_without_changes_is_removed(stage: Neovim, file: Path) -> None:
    show(stage, change(file))
    first = comment(stage, "why?")
    show(stage, listed=True)
    assert rows(stage)[-1] == "comment, not sent: why?"
    stage.keys("c")
    stage.wait_screen("Comment on code.txt:5:")
    stage.keys("<C-u><CR>")
    removed = wait_sent(stage, "comment", 2)[-1]
    assert (removed["id"], removed["text"]) == (first["id"], "")
    assert rows(stage) == []

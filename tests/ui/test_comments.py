"""Comments on changes in the quickfix list, sent as one prompt."""

from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.listed import change, make_file, rows, show, start_stage, wait_row
from tests.ui.staged import CHAT, draw, sent, wait_sent


@pytest.fixture
def file(workspace: Path) -> Path:
    return make_file(workspace)


@pytest.fixture
def stage(start_nvim: StartNeovim, file: Path) -> Neovim:
    return start_stage(start_nvim, file.parent)


def comment(nvim: Neovim, text: str, name: str = "code.txt:5") -> None:
    """Comment on what is under the cursor."""
    nvim.input("c")
    nvim.wait_screen(f"Comment on {name}:")
    nvim.keys(f"{text}<CR>")


def test_comments_become_one_prompt(stage: Neovim, file: Path) -> None:
    fenced = {"before": ["```"], "after": ["a", "b"], "count": 2, "line": 9}
    show(stage, change(file), change(file, key="k9", **fenced))
    stage.keys("s")
    stage.wait_screen("no comments to send")
    stage.keys("cwhy loud?<CR>")
    wait_row(stage, 1, "commented")
    stage.keys("jcand this?<CR>")
    wait_row(stage, 2, "commented")
    stage.keys("k:Eca changes comment<CR>")
    stage.wait_screen("Comment on code.txt:5: why loud?")
    stage.keys("!<CR>s")
    (prompt,) = wait_sent(stage, "prompt")
    assert prompt["chat"] == CHAT
    assert prompt["text"] == (
        "code.txt:5\n\n```diff\n-line 5\n+LINE 5\n```\n\nwhy loud?!\n\n"
        "code.txt:9-10\n\n````diff\n-```\n+a\n+b\n````\n\nand this?"
    )
    wait_row(stage, 1, "sent")
    stage.keys("s")
    assert len(sent(stage, "prompt")) == 1


def test_an_empty_comment_takes_it_back(stage: Neovim, file: Path) -> None:
    show(stage, change(file))
    stage.keys("cno<CR>")
    wait_row(stage, 1, "commented")
    stage.keys("c<C-u><CR>")
    wait_row(stage, 1, "+1 -1")
    stage.keys("cno<Esc>")
    assert rows(stage)[1] == "+1 -1  LINE 5"


def test_comments_wait_until_they_are_sent(stage: Neovim, file: Path) -> None:
    both = change(file), change(file, key="k9", line=9)
    show(stage, *both)
    comment(stage, "why?")
    stage.keys("j")
    comment(stage, "and this?", "code.txt:9")
    show(stage, *both)
    stage.wait_screen("2 comments not sent yet")
    assert rows(stage)[1:] == ["commented  +1 -1  LINE 5"] * 2
    show(stage, change(file, turn=2), command="Eca changes 2")
    stage.keys("s")
    (prompt,) = wait_sent(stage, "prompt")
    assert prompt["text"].count("why?") == prompt["text"].count("and this?") == 1
    stage.command("messages clear")
    show(stage, *both)
    assert rows(stage)[1] == "sent  +1 -1  LINE 5"
    assert stage.messages() == ""
    stage.keys("s")
    stage.wait_screen("no comments to send")


def test_a_comment_outlives_what_it_is_about(stage: Neovim, file: Path) -> None:
    show(stage, change(file), change(file, key="k9", line=9), change(file, key="k12", line=12))
    comment(stage, "never again")
    stage.keys("rj")
    comment(stage, "good", "code.txt:9")
    stage.keys("aj")
    comment(stage, "hm", "code.txt:12")
    assert rows(stage)[1:3] == [
        "reverted  commented  +1 -1  LINE 5",
        "kept  commented  +1 -1  LINE 5",
    ]
    show(stage, change(file, key="k2", line=2, turn=2))
    stage.wait_screen("3 comments not sent yet")
    assert rows(stage) == [
        "turn 1: shout",
        "reverted  commented  +1 -1  LINE 5",
        "kept  commented  +1 -1  LINE 5",
        "gone  commented  +1 -1  LINE 5",
        "turn 2: shout",
        "+1 -1  LINE 5",
    ]
    stage.keys("jjc<C-u><CR>")
    wait_row(stage, 3, "gone  +1 -1")
    show(stage, change(file, key="k9", line=9))
    assert rows(stage)[1:] == ["commented  +1 -1  LINE 5", "reverted  commented  +1 -1  LINE 5"]
    show(stage, listed=True)
    stage.keys("s")
    (prompt,) = wait_sent(stage, "prompt")
    assert "never again" in prompt["text"]
    assert "good" in prompt["text"]
    assert "hm" not in prompt["text"]
    stage.command("wincmd p | edit code.txt | edit!")


def test_a_comment_typed_while_the_list_is_made_anew_is_kept(stage: Neovim, file: Path) -> None:
    stage.lua("vim.ui.input = function(_, done) package.loaded.done = done end")
    show(stage, change(file))
    stage.keys("c")
    show(stage, change(file))
    stage.lua("package.loaded.done('late')")
    wait_row(stage, 1, "commented")


def test_a_chat_takes_its_comments_along(stage: Neovim, file: Path) -> None:
    show(stage, change(file))
    comment(stage, "why?")
    draw(stage, ["forget", CHAT], ["emit", "EcaChatClosed", {"chat": CHAT}])
    stage.wait_screen("1 comment discarded: the chat was deleted")
    draw(stage, ["emit", "EcaChatClosed", {"chat": CHAT}])
    stage.keys("s")
    stage.wait_screen("no comments to send")


def test_a_turn_is_commented(stage: Neovim, file: Path) -> None:
    other = change(file.parent / "new.txt", key="new", kind="new", text="new file")
    show(stage, change(file), change(file, key="k9", line=9), other)
    stage.keys("gg")
    comment(stage, "too much at once", "turn 1")
    assert rows(stage) == [
        "commented  turn 1: shout",
        *["+1 -1  LINE 5"] * 2,
        "+1 -1  new file",
    ]
    show(stage, change(file, turn=2))
    assert rows(stage)[0] == "commented  turn 1: shout"
    stage.keys("ggr")
    stage.wait_screen("no change under the cursor")
    stage.keys("s")
    (prompt,) = wait_sent(stage, "prompt")
    assert prompt["text"] == (
        "all changes of the turn “shout”: code.txt, new.txt\n\ntoo much at once"
    )
    wait_row(stage, 0, "sent  turn 1: shout")


def test_lines_of_a_file_are_commented(stage: Neovim, file: Path) -> None:
    """Without a list, as in a review in the code."""
    stage.command(f"edit {file}")
    stage.lua("require('eca.window').current_chat = function() return 'c1' end")
    stage.lua("vim.schedule(function() require('eca.review.notes').on_lines(0, 5, 6, { 'x' }) end)")
    stage.wait_screen("Comment on code.txt:5:")
    stage.keys("why loud?<CR>")
    show(stage, change(file))
    assert rows(stage)[:2] == ["comments", "commented  +2 -1  LINE 5"]
    stage.keys("s")
    (prompt,) = wait_sent(stage, "prompt")
    quoted = "```diff\n-x\n+LINE 5\n+line 6\n```"
    assert prompt["text"].startswith(f"code.txt:5-6\n\n{quoted}\n\nwhy loud?")

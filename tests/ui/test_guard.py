"""A key pressed just after something appeared is ignored; the test has its own clock."""

import re
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Value
from tests.ui.staged import (
    CHAT,
    WITHOUT_HOST,
    approval,
    draw,
    offered,
    question,
    request,
    sent,
    wait_sent,
)

CLOCK = "_G.now = 1e9 vim.uv.hrtime = function() return _G.now end "
HALF_A_SECOND = "_G.now = _G.now + 5e8"
TYPED_MEANWHILE = f"""
local ops, key = ...
vim.schedule(function()
  require('eca.view.frames').apply(1, ops)
  {HALF_A_SECOND}
  vim.api.nvim_input(key)
end)
"""


@pytest.fixture
def stage(start_nvim: StartNeovim) -> Neovim:
    """Let a call wait for half a second, with the user in the float."""
    nvim = start_nvim(init=CLOCK + WITHOUT_HOST)
    nvim.lua("vim.keymap.set('n', '<F5>', '<Plug>(EcaApprove)')")
    nvim.lua("vim.keymap.set('n', '<F6>', '<Plug>(EcaApproveAll)')")
    nvim.lua("require('eca.chat.buffers').use(require('eca.chat.buffers').ensure(...).id)", CHAT)
    wait(nvim, approval(title="$ ls", lines=["$ ls"]))
    nvim.wait_screen("a allow")
    nvim.command("Eca approval")
    nvim.lua(HALF_A_SECOND)
    return nvim


def wait(nvim: Neovim, *items: Value) -> None:
    draw(nvim, ["pending", list(items)])
    nvim.keys("")


def test_what_asks_the_same_is_answered_at_once(stage: Neovim) -> None:
    wait(stage, approval(title="$ ls", lines=["$ ls"], marks=[[0, 0, 1, "EcaMuted"]], block=7))
    stage.keys("a")
    assert len(wait_sent(stage, "decide")) == 1


@pytest.mark.either_nvim
@pytest.mark.parametrize("key", ["a", "r", "<F5>", "<F6>"])
@pytest.mark.parametrize(
    "other",
    [
        {"title": "$ ls", "lines": ["$ rm -r /"]},
        {"title": "$ rm -r /", "lines": ["$ ls"]},
        {"title": "$ ls", "lines": ["$ ls"], "choices": offered("ls")},
        {"title": "$ ls", "lines": ["$ ls"], "warnings": ["outside the workspace"]},
    ],
)
def test_what_asks_something_else_now_is_guarded_anew(
    stage: Neovim, other: dict[str, Value], key: str
) -> None:
    wait(stage, approval(**other, digest="other"))
    stage.keys(key)
    assert sent(stage, "decide") == []
    stage.lua(HALF_A_SECOND)
    stage.keys(key)
    assert len(sent(stage, "decide")) == 1


@pytest.mark.parametrize("key", ["a", "r", "*", "<F5>", "<F6>"])
def test_a_key_typed_while_neovim_was_busy_answers_nothing(stage: Neovim, key: str) -> None:
    """However long it was: nothing is drawn meanwhile."""
    worse = approval("t2", title="$ rm -r /", lines=["$ rm -r /"])
    stage.lua(TYPED_MEANWHILE, [{"op": "pending", "items": [worse, approval("t3")]}], key)
    stage.wait_screen("$ rm -r /")
    stage.keys("")
    assert sent(stage, "decide") == []
    stage.lua(HALF_A_SECOND)
    stage.keys(key)
    assert sent(stage, "decide") + sent(stage, "decide") != []


def test_what_was_put_aside_is_not_answered_in_the_place_of_what_has_just_gone(
    stage: Neovim,
) -> None:
    stage.keys("q")
    hidden, other = approval(title="$ ls", lines=["$ ls"]), approval("t2")
    wait(stage, hidden, other)
    stage.lua(HALF_A_SECOND)
    wait(stage, hidden)
    stage.keys("<F5>")
    stage.wait_screen("has just appeared")
    assert sent(stage, "decide") == []
    stage.lua(HALF_A_SECOND)
    stage.keys("<F5>")
    assert [it["digest"] for it in sent(stage, "decide")] == ["t1"]


@pytest.mark.parametrize(
    "command", ["approve", "approve!", "approve-all", "choose 1", "reject look first"]
)
def test_a_command_answers_nothing_that_came_while_it_was_typed(
    stage: Neovim, command: str
) -> None:
    stage.keys(f":Eca {command}")
    stage.lua(HALF_A_SECOND)
    wait(stage, approval("t2", title="$ rm -r /", lines=["$ rm -r /"], remember=["rm"]))
    stage.lua(HALF_A_SECOND)
    stage.keys("<CR>")
    stage.wait_screen(re.compile("came while you typed|have just appeared"))
    assert sent(stage, "decide") == []
    stage.keys(":<Up><CR>")
    assert [it["digest"] for it in wait_sent(stage, "decide")] == ["t2"]


@pytest.mark.either_nvim
def test_nor_what_was_behind_what_has_gone_meanwhile(stage: Neovim) -> None:
    first = approval(title="$ ls", lines=["$ ls"])
    wait(stage, first, approval("t2"))
    stage.lua(HALF_A_SECOND)
    stage.keys(":Eca approve")
    stage.lua(HALF_A_SECOND)
    wait(stage, approval("t2"))
    stage.keys("<CR>")
    stage.wait_screen("came while you typed")
    assert sent(stage, "decide") == []


@pytest.mark.either_nvim
def test_nor_a_question_that_is_another_one_now(stage: Neovim) -> None:
    wait(stage, question(options=[["keep", ""], ["delete", ""]]))
    stage.lua(HALF_A_SECOND)
    stage.keys(":Eca answer keep")
    stage.lua(HALF_A_SECOND)
    wait(stage, question(options=[["stay", ""], ["keep", "the other one"]], digest="other"))
    stage.keys("<CR>")
    stage.wait_screen("came while you typed")
    assert sent(stage, "answer") == []


def test_a_question_with_other_options_is_guarded_anew(stage: Neovim) -> None:
    wait(stage, question(options=[["keep", ""], ["delete", ""]]))
    stage.lua(HALF_A_SECOND)
    wait(stage, question(options=[["delete", ""], ["keep", ""]], digest="other"))
    stage.keys("1")
    assert sent(stage, "answer") == []
    stage.lua(HALF_A_SECOND)
    stage.keys("1")
    assert wait_sent(stage, "answer")[0]["text"] == "delete"


def test_who_presses_twice_answers_what_he_has_seen(stage: Neovim) -> None:
    stage.keys("q")
    wait(stage, approval("t2"), approval("t3"))
    stage.lua(HALF_A_SECOND)
    stage.keys("<F5><F5>")
    assert [it["digest"] for it in sent(stage, "decide")] == ["t2"]
    stage.wait_screen("the request has just appeared")
    stage.lua(HALF_A_SECOND)
    stage.keys("<F5>")
    assert [it["digest"] for it in sent(stage, "decide")] == ["t2", "t3"]


def test_a_diff_is_guarded_from_when_it_can_be_seen(stage: Neovim, workspace: Path) -> None:
    stage.command(f"autocmd OptionSet diff lua {HALF_A_SECOND}")
    path = str(workspace / "README.md")
    wait(stage, approval(title="edit", paths=[path], lines=["edit"]))
    draw(stage, ["diff", CHAT, "t1", path, "old\n", "new\n", "changed", request(), None, None])
    stage.wait_until("vim.fn.tabpagenr('$') == 2")
    stage.keys("a")
    assert sent(stage, "decide") == []
    stage.lua(HALF_A_SECOND)
    stage.keys("a")
    assert len(wait_sent(stage, "decide")) == 1

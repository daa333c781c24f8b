"""Text that was typed for a request that is gone, and windows that come late under a user."""

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.opened import OPENED, Answered
from tests.ui.staged import CHAT, WITHOUT_HOST, approval, draw, sent
from tests.ui.test_every_key import Walk


@pytest.fixture
def stage(start_nvim: StartNeovim) -> Neovim:
    """Neovim without a host, and without guard time."""
    return start_nvim(init=WITHOUT_HOST, settings={"approval": {"guard": 0}})


def draft(nvim: Neovim) -> str:
    code = "return require('eca.input.field').draft(require('eca.chat.buffers').get(...).input)"
    return str(nvim.lua(code, CHAT))


def type_too_late(nvim: Neovim) -> None:
    """Write a reason while the request that it is for goes away."""
    draw(nvim, ["pending", [approval()]])
    nvim.wait_screen("a allow")
    nvim.command("Eca approval")
    nvim.keys("R")
    nvim.keys("use the")
    draw(nvim, ["pending", []])
    nvim.wait_screen(lambda screen: "a allow" not in screen)
    nvim.keys(" other one<CR>")
    nvim.wait_screen("what you typed is in the input")


def test_late_answer_is_not_sent_and_not_lost(stage: Neovim) -> None:
    stage.lua("require('eca.chat.buffers').ensure(...)", CHAT)
    type_too_late(stage)
    assert sent(stage, "decide") == []
    assert draft(stage) == "use the other one"


def test_late_answer_leaves_the_draft_that_is_there(stage: Neovim) -> None:
    stage.lua("require('eca').open({ chat = ... })", CHAT)
    stage.keys("ia draft<Esc>")
    type_too_late(stage)
    assert draft(stage) == "use the other one\na draft"


def test_a_reason_for_what_is_gone_is_kept(stage: Neovim) -> None:
    stage.lua("require('eca').open({ chat = ... })", CHAT)
    stage.keys(":Eca reject use the other one<CR>")
    stage.wait_screen("what you typed is in the input")
    assert draft(stage) == "use the other one"
    stage.keys(":Eca reject<CR>")
    stage.wait_screen("no pending request")


def test_what_comes_back_into_the_input_leaves_the_cursor_in_the_draft(stage: Neovim) -> None:
    stage.lua("require('eca').open({ chat = ... })", CHAT)
    stage.keys("imy draft")
    draw(stage, ["input", CHAT, "use rg\nplease"])
    stage.wait_screen("use rg")
    stage.keys(" goes on<Esc>")
    assert draft(stage) == "use rg\nplease\nmy draft goes on"


def test_what_comes_back_into_an_empty_input_has_the_cursor_at_its_end(stage: Neovim) -> None:
    stage.lua("require('eca').open({ chat = ... })", CHAT)
    stage.keys("i")
    draw(stage, ["input", CHAT, "use rg\nplease"])
    stage.wait_screen("use rg")
    stage.keys(", all of it<Esc>")
    assert draft(stage) == "use rg\nplease, all of it"


LATE = {name: it.open for name, it in OPENED.items() if isinstance(it.open, Answered)}


@pytest.mark.parametrize("name", LATE)
def test_nothing_opens_under_a_user_who_went_on_typing(start_nvim: StartNeovim, name: str) -> None:
    nvim = Walk(start_nvim, OPENED[name]).nvim
    asked = LATE[name].ask(nvim)
    nvim.keys(":EcaChat<CR>ione ")
    before = nvim.eval("[win_getid(), winnr('$'), tabpagenr('$')]")
    LATE[name].answer(nvim, asked)
    nvim.keys("two")
    assert nvim.eval("[win_getid(), winnr('$'), tabpagenr('$')]") == before
    assert nvim.buffer_lines()[-1].endswith("one two")
    nvim.keys("<Esc>")
    nvim.wait_screen("not opened, as you kept typing")

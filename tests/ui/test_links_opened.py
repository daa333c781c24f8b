"""`gx` on links of the agent: what is opened, and what is said of it."""

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.staged import CHAT, WITHOUT_HOST, chat_text, draw

OPENER = "_G.opened = {} vim.ui.open = function(it) table.insert(_G.opened, it) end"


@pytest.fixture
def stage(start_nvim: StartNeovim) -> Neovim:
    nvim = start_nvim("README.md", init=WITHOUT_HOST, columns=160, lines=40)
    nvim.lua(f"require('eca').open({{ chat = '{CHAT}' }})")
    nvim.command("wincmd h")
    return nvim


def test_a_link_that_says_another_address_hides_nothing(stage: Neovim) -> None:
    stage.lua(OPENER)
    text = "[https://good.org](https://evil.org/a) [the docs](https://docs.org)"
    draw(stage, *chat_text(text))
    screen = stage.wait_screen("[https://good.org](https://evil.org/a) the docs")
    stage.command("wincmd b | wincmd k")
    stage.lua("vim.fn.search('good')")
    stage.keys("gx")
    stage.lua("vim.fn.search('evil')")
    stage.keys("gx")
    stage.lua("vim.fn.search('the docs')")
    stage.keys("gx")
    stage.wait_screen("opening https://docs.org")
    opened = stage.lua("return _G.opened")
    assert opened == ["https://good.org", "https://evil.org/a", "https://docs.org"]
    assert "docs.org" not in screen


def test_the_only_link_of_a_line_is_opened_from_anywhere_in_it(stage: Neovim) -> None:
    stage.lua(OPENER)
    alone = f"Open [this page](https://alone.org/?at={'x' * 400}) now"
    several = [
        "[a](https://a.org) or [b](https://b.org)",
        "so [https://good.org](https://evil.org/a)",
    ]
    draw(stage, *chat_text("\n\n".join([alone, *several])))
    stage.wait_screen("so ")
    stage.command("wincmd b | wincmd k")
    for word in ("Open", " or", "so "):
        stage.lua("vim.fn.search(...)", f"{word}")
        stage.keys("gx")
    stage.wait_screen("nor just one in the line")
    assert stage.lua("return _G.opened") == [f"https://alone.org/?at={'x' * 400}"]


def test_a_link_that_its_program_does_not_open_is_yanked(stage: Neovim) -> None:
    """`xdg-open` starts, and ends with 3 if there is no browser."""
    opener = "vim.ui.open = function() return vim.system({ 'sh', '-c', 'exit ' .. _G.code }) end"
    stage.lua(opener)
    for code in (0, 3):
        stage.lua("_G.code = ...", code)
        draw(stage, ["external", f"https://{code}.org"])
    stage.wait_screen("yanked, as no program opens it: https://3.org")
    assert stage.eval('@"') == "https://3.org"
    assert "opens it: https://0.org" not in stage.messages()

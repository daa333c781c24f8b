"""The diff tab page on narrow screens, and when the answer is given elsewhere."""

from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.staged import CHAT, WITHOUT_HOST, approval, draw, request, wait_sent
from tests.ui.test_diff_tab import AFTER, BEFORE, LAYOUT, show


def test_narrow_screens_name_the_keys_alone(start_nvim: StartNeovim, workspace: Path) -> None:
    (workspace / "code.txt").write_text(BEFORE)
    nvim = start_nvim(init=WITHOUT_HOST)
    item = approval(remember=["edit_file"])
    shown = [
        "diff",
        CHAT,
        "t1",
        str(workspace / "code.txt"),
        BEFORE,
        AFTER,
        "changed",
        request(),
        None,
    ]
    draw(nvim, ["pending", [item]], shown)
    screen = nvim.wait_screen("a A r R q ]c")
    assert "proposed" in screen
    nvim.resize(200, 24)
    nvim.command("wincmd =")
    nvim.wait_screen("a accept")


@pytest.fixture
def compared(start_nvim: StartNeovim, workspace: Path) -> Neovim:
    """Neovim whose user compares in a tab page; `g:layout` is what he came from."""
    (workspace / "code.txt").write_text(BEFORE)
    settings = {"approval": {"guard": 0}}
    nvim = start_nvim("README.md", init=WITHOUT_HOST, settings=settings, columns=160, lines=40)
    nvim.lua("vim.g.layout = vim.inspect((function() " + LAYOUT + " end)())")
    show(nvim, workspace / "code.txt")
    return nvim


@pytest.mark.parametrize("command", ["approve", "approve!", "reject", "approve-all"])
def test_an_answer_by_command_leads_back(compared: Neovim, command: str) -> None:
    compared.keys(f":Eca {command}<CR>")
    wait_sent(compared, "reject" if command == "reject" else "approve")
    assert compared.lua("return vim.inspect((function() " + LAYOUT + " end)()) == vim.g.layout")


def test_a_request_that_is_gone_leaves_the_tab_page(compared: Neovim) -> None:
    draw(compared, ["pending", []])
    compared.wait_screen(lambda screen: "a accept" not in screen)
    assert compared.eval("tabpagenr('$')") == 2

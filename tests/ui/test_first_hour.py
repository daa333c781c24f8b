"""What a new user meets in the first hour.

Links without a browser, contexts that do not exist, a turn that ends out of sight, and an input
that is ready to type in.
"""

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.view import CHAT, View, assistant, open_view, start_view

from eca_nvim.chat.vocabulary import ops

ADDRESS = "https://example.org/authorize?" + "state=0123456789&" * 20 + "end=1"
NO_OPENER = "vim.ui.open = function() return nil, 'vim.ui.open: no handler found' end "
TITLE = {"server": "ready", "title": "fix it", "trust": False, "pending": 0}


@pytest.fixture
def view(start_nvim: StartNeovim) -> View:
    return open_view(start_nvim, "README.md", columns=120)


def told(nvim: Neovim) -> str:
    return str(nvim.eval("execute('messages')"))


def test_a_long_link_shows_its_address_and_a_short_one_hides_it(view: View) -> None:
    words = f"Open [this]({ADDRESS}) now\nor [that](https://example.org/short) one\nthe end"
    view.draw(*assistant(1, words))
    screen = view.nvim.wait_screen("the end")
    assert "example.org/short" not in screen
    assert "[this](https://example.org/authorize?" in screen
    rows = [line.split("│")[1].strip() for line in screen.lines() if line.count("│") == 1]
    shown = rows[next(row for row, line in enumerate(rows) if "Open [this]" in line) :]
    assert "" not in shown[: shown.index("the end")]


def test_a_link_that_nothing_opens_is_yanked_and_shown(view: View) -> None:
    view.draw(*assistant(1, f"Open [this]({ADDRESS}) now"))
    view.nvim.lua(NO_OPENER)
    view.nvim.keys("<C-w>k/this<CR>gx")
    assert view.nvim.eval("getreg('\"')") == ADDRESS
    view.nvim.wait_until("vim.fn.execute('messages'):find('yanked, .*: https:') ~= nil")
    view.nvim.resize(80, 24)
    view.nvim.keys("gx")
    view.nvim.wait_screen(lambda screen: "yanked" in screen.lines()[-1])


def test_a_file_that_a_prompt_names_and_is_not_there_is_named(view: View) -> None:
    prompt = "look at @nope.txt, (@src/none.py) @README.md and @gone/: @me @1.5 a@b.c @dataclass"
    view.nvim.lua("require('eca').send(...)", prompt)
    view.nvim.wait_until("vim.fn.execute('messages'):find('context not sent') ~= nil")
    line = next(line for line in told(view.nvim).splitlines() if "not sent" in line)
    missing = "@nope.txt, @src/none.py, @gone/"
    assert line.endswith(f"context not sent: not found: {missing}; correct the name")
    assert [sent["text"] for sent in view.sent("prompt")] == [prompt]
    view.nvim.resize(80, 24)
    view.nvim.lua("require('eca').send('look at @nope.txt')")
    view.nvim.wait_screen("not found: @nope.txt; correct the name")


def end_turn(view: View, chat: str, reason: str, state: str = "idle") -> None:
    view.draw(
        ops.SetStatus(chat, {**TITLE, "state": "running"}),
        ops.Emit("EcaTurnFinished", {"chat": chat, "reason": reason}),
        ops.SetStatus(chat, {**TITLE, "state": state}),
    )
    view.nvim.lua("vim.wait(0)")


def test_a_turn_that_ends_out_of_sight_is_told(view: View) -> None:
    for reason, state in (("done", "idle"), ("failed", "idle"), ("stopped", "idle")):
        end_turn(view, CHAT, reason, state)
    end_turn(view, "hidden", "stopped")
    end_turn(view, "hidden", "done", state="running")  # another prompt follows
    assert "the turn has" not in told(view.nvim)
    end_turn(view, "hidden", "done")
    view.nvim.wait_until("vim.fn.execute('messages'):find('the turn has ended %(fix it%)') ~= nil")
    view.nvim.command("messages clear | tabnew")
    end_turn(view, CHAT, "failed")
    view.nvim.wait_until("vim.fn.execute('messages'):find('the turn has failed %(fix it%)') ~= nil")
    view.nvim.command("messages clear | tabclose | doautocmd FocusLost")
    end_turn(view, CHAT, "done")
    assert "the turn has" not in told(view.nvim)


@pytest.mark.parametrize(("notify", "expected"), [("always", True), (False, False)])
def test_the_option_says_when_the_end_of_a_turn_is_told(
    start_nvim: StartNeovim, notify: object, expected: bool
) -> None:
    view = open_view(start_nvim, settings={"turn": {"notify": notify, "bell": True}})
    rung = "vim.api.nvim_ui_send = function() _G.rung = true end"
    view.nvim.lua(rung + " vim.fn.chansend = function() _G.rung = true end")
    end_turn(view, CHAT, "done")
    view.nvim.wait_until("_G.rung")
    view.nvim.keys("")
    assert ("the turn has ended" in told(view.nvim)) == expected


def test_the_chat_can_begin_in_insert_mode(start_nvim: StartNeovim) -> None:
    view = start_view(start_nvim, "README.md", settings={"input": {"insert": True}})
    view.nvim.keys(":EcaChat<CR>")
    view.nvim.wait_until("vim.fn.mode() == 'i'")
    view.nvim.keys("hi<Esc>")
    chat = view.nvim.lua("return require('eca').current()")
    assert view.draft(chat) == "hi"
    view.draw(*assistant(1, "text", chat=chat))
    view.nvim.lua("require('eca.actions.blocks').go_to(...)", chat, 1)
    view.nvim.lua("vim.wait(0)")
    assert view.nvim.mode == "n"

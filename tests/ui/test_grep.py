"""`:Eca grep`: matches in the whole chat, also in closed blocks, and jumps to them."""

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import handshake, text, turn
from tests.ui.staged import CHAT, WITHOUT_HOST, draw, wait_sent
from tests.ui.talk import done, lines_of, say, start_chat, tool, wait_idle, wait_line

pytestmark = pytest.mark.either_nvim

LONG = "\n".join(f"row {number}" for number in range(1, 400))
LIST = """
return vim.tbl_map(function(item)
  return { item.lnum, item.text }
end, vim.fn.getloclist(require('eca.window').shown() or 0))
"""
CURSOR = """
local win = require('eca.window').shown()
local row, column = unpack(vim.api.nvim_win_get_cursor(win))
local line = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), row - 1, row, true)[1]
return line:sub(column + 1)
"""


def ran(call: str, output: str) -> list[dict[str, object]]:
    run = tool("Run", call, manualApproval=False, arguments={"pattern": call})
    return [*run, *done(call, output, arguments={"pattern": call})]


@pytest.fixture
def nvim(start_nvim: StartNeovim, scripted_server: PrepareScript) -> Neovim:
    """Show a chat with two closed calls, the second with a long output, the cursor in its input."""
    server = scripted_server(
        handshake(),
        turn(
            text("\n\nFirst a Needle.\n"),
            ran("one", "some\nhay and a needle\nmore"),
            text("\nmore\n"),
            ran("two", LONG),
            text("\nthe end"),
        ),
    )
    nvim = start_chat(start_nvim, server)
    say(nvim, "go")
    wait_line(nvim, "the end")
    wait_idle(nvim)
    return nvim


def under_cursor(nvim: Neovim, words: str) -> None:
    nvim.wait_for(lambda: str(nvim.lua(CURSOR)).startswith(words), f"the cursor on {words!r}")


def test_hits_are_listed_with_the_line_that_shows_them(nvim: Neovim) -> None:
    nvim.keys(":Eca grep needle<CR>")
    nvim.wait_screen("[Location List] Eca grep needle")
    nvim.wait_screen("chat|5| hay and a needle")
    assert lines_of(nvim)[4].startswith("✓ grep one")
    assert nvim.lua(LIST) == [[3, "First a Needle."], [5, "hay and a needle"]]


def test_a_jump_opens_the_block_and_goes_to_the_hit(nvim: Neovim) -> None:
    nvim.keys(":Eca grep needle<CR>")
    nvim.wait_screen("[Location List] Eca grep needle")
    nvim.keys("j<CR>")
    under_cursor(nvim, "needle")
    assert "hay and a needle" in lines_of(nvim)
    nvim.keys(":lprev<CR>")
    under_cursor(nvim, "Needle.")
    nvim.keys("gg:lnext<CR>")
    under_cursor(nvim, "needle")


def test_a_chat_that_floats_goes_to_the_first_hit(nvim: Neovim) -> None:
    nvim.keys(":Eca hide<CR>")
    nvim.resize(60, 24)
    nvim.keys(":EcaChat<CR>:Eca grep needle<CR>")
    nvim.wait_screen("hit 1 of 2, :lnext goes to the next")
    under_cursor(nvim, "Needle.")
    nvim.keys(":lnext<CR>")
    under_cursor(nvim, "needle")
    assert nvim.eval("winnr('$')") == 1 + 2
    assert nvim.eval("win_gettype()") == "popup"


def test_a_hit_that_is_cut_is_shown_with_all_of_the_output(nvim: Neovim) -> None:
    nvim.keys(":Eca grep row 350<CR>")
    nvim.wait_screen("[Location List] Eca grep row 350")
    nvim.keys("<CR>")
    nvim.wait_until("vim.bo.filetype == 'eca-output'")
    assert nvim.eval("getline('.')") == "row 350"


def test_upper_case_tells_the_cases_apart(nvim: Neovim) -> None:
    nvim.keys(":Eca grep Needle<CR>")
    nvim.wait_screen("[Location List] Eca grep Needle")
    assert len(nvim.lua(LIST)) == 1


@pytest.mark.parametrize(
    ("pattern", "told"),
    [("straw", "not found: straw"), ("(", "not a regular expression"), ("", "usage: :Eca grep")],
)
def test_nothing_to_find_is_told(nvim: Neovim, pattern: str, told: str) -> None:
    nvim.keys(f":Eca grep {pattern}<CR>")
    nvim.wait_screen(told)


def test_a_long_output_opens_whole(nvim: Neovim) -> None:
    nvim.keys("<C-w>kgg/grep two<CR>zo")
    wait_line(nvim, "… 199 more lines")
    nvim.keys("/199 more<CR><CR>")
    nvim.wait_until("vim.bo.filetype == 'eca-output'")
    assert nvim.eval("[line('$'), getline('.'), &modifiable, &buftype]") == [
        399,
        "row 201",
        0,
        "nofile",
    ]
    nvim.wait_screen("grep two")
    nvim.keys("q")
    nvim.wait_until("vim.bo.filetype ~= 'eca-output'")


def test_the_chat_is_written_to_a_file_and_none_is_overwritten(nvim: Neovim) -> None:
    path = nvim.launch.cwd / "chat.md"
    nvim.keys(":Eca export chat.md<CR>")
    nvim.wait_screen("lines written to")
    exported = path.read_text()
    assert "hay and a needle" in exported
    assert "row 350" in exported
    path.write_text("mine")
    nvim.keys(":Eca export chat.md<CR>")
    nvim.wait_screen("already exists")
    assert path.read_text() == "mine"
    nvim.keys(":Eca export! chat.md<CR>")
    nvim.wait_for(lambda: path.read_text() == exported, "the chat to be written again")
    nvim.keys(":Eca export no/such/folder.md<CR>")
    nvim.wait_screen("Can't open file")


def test_what_comes_while_the_command_line_window_is_open_is_shown_later(nvim: Neovim) -> None:
    nvim.input("<Esc>:Eca grep needle<CR>q:iecho 1")
    nvim.wait_until("#vim.api.nvim_get_autocmds({ event = 'CmdwinLeave' }) > 0")
    nvim.keys("<Esc>:q<CR>")
    nvim.wait_screen("the list was not opened, as you kept typing")


def test_the_transcript_is_opened_if_only_the_input_is_left(nvim: Neovim) -> None:
    nvim.keys("<Esc>:only<CR>:Eca grep needle<CR>")
    nvim.wait_screen("[Location List] Eca grep needle")
    nvim.keys("j<CR>")
    under_cursor(nvim, "needle")


def test_a_chat_that_has_come_into_the_window_meanwhile_stays_where_it_is(
    start_nvim: StartNeovim,
) -> None:
    nvim = start_nvim("README.md", init=WITHOUT_HOST, columns=160, lines=40)
    for chat in ("other", CHAT):
        nvim.lua("require('eca').open({ chat = ... })", chat)
        text = "\n".join(f"{'word' if chat == 'other' else 'line'} {it}" for it in range(9))
        draw(nvim, ["open", chat, 1, "assistant", [], 0, None], ["append", chat, 1, text])
    nvim.wait_screen("line 8")
    nvim.keys("<Esc>:Eca grep line<CR>")
    hits = [{"block": 1, "shown": 1, "row": row, "column": 0, "text": "line"} for row in (1, 7)]
    draw(nvim, ["answer", wait_sent(nvim, "grep")[-1]["request"], {"hits": hits, "more": 0}])
    nvim.wait_screen("[Location List] Eca grep line")
    nvim.keys(":lnext<CR>")
    asked = wait_sent(nvim, "reveal")[-1]
    nvim.lua("require('eca').open({ chat = 'other' })")
    before = nvim.lua(CURSOR)
    draw(nvim, ["answer", asked["request"], 3])
    nvim.lua("_G.drawn = nil vim.schedule(vim.schedule_wrap(function() _G.drawn = true end))")
    nvim.wait_until("_G.drawn")
    assert nvim.lua(CURSOR) == before
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    nvim.lua("vim.api.nvim_set_current_win((require('eca.window').shown()))")
    nvim.keys(":lfirst<CR>")
    asked = wait_sent(nvim, "reveal", 2)[-1]
    draw(nvim, ["answer", asked["request"], 99])  # its rows were removed meanwhile
    nvim.lua("_G.drawn = nil vim.schedule(vim.schedule_wrap(function() _G.drawn = true end))")
    nvim.wait_until("_G.drawn")
    assert "Invalid" not in nvim.messages()

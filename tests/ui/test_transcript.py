"""Blocks in the transcript's buffer: where ops put them, and what they cost."""

import re

import pytest
from msgspec.structs import replace
from tests.chat.driver import call, said
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.growth import LUA_COST
from tests.support.screen import Value
from tests.ui.staged import chat_text, draw
from tests.ui.view import CHAT, View, assistant, numbered, open_view, start_view, tool, user

from eca_nvim.chat.handlers import reducer
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.user_actions import folding
from eca_nvim.chat.vocabulary import ops
from eca_nvim.chat.vocabulary.events import ChatEvent, ToolFinished, ToolOutput, ToolRunning
from eca_nvim.chat.vocabulary.ops import BlockKind
from eca_nvim.nvim.frames import wire

TOGETHER = """
local ops, counted = ..., 0
for _, name in ipairs({ 'nvim_buf_set_lines', 'nvim_buf_set_text' }) do
  local real = vim.api[name]
  vim.api[name] = function(...)
    counted = counted + 1
    return real(...)
  end
end
require('eca.view.frames').apply(1, ops)
return counted
"""
"""Lua that draws a frame and counts the edits."""
LOOKS = """
local marks = vim.api.nvim_buf_get_extmarks(..., -1, 0, -1, { details = true })
return vim.tbl_map(function(mark)
  mark[4].ns_id = nil
  return vim.inspect({ mark[2], mark[3], mark[4] })
end, marks)
"""
TABLE = "| a | b |\n|---|---|\n| long | c |"


@pytest.fixture
def view(start_nvim: StartNeovim) -> View:
    return open_view(start_nvim, columns=100, lines=30)


def body(block: int, *lines: str, **more: Value) -> ops.SetBody:
    return ops.SetBody(CHAT, block, lines, **more)


def test_messages_stand_apart_and_tools_close_together(view: View) -> None:
    view.draw(
        *user(1, "do it"),
        *assistant(2, "I do"),
        tool(3, "read a"),
        tool(4, "read b"),
        *assistant(5, "done"),
    )
    assert view.lines() == ["do it", "", "I do", "", "✓ read a", "✓ read b", "", "done"]


def test_blocks_that_arrive_together_are_one_edit_and_look_the_same(
    start_nvim: StartNeovim,
) -> None:
    view = start_view(start_nvim)
    texts = ("\n\nplain\n\n", f"{TABLE}\n\n```c\nint x;\n```", "```lua\nopen", "last", "`a`\n")
    kinds = (BlockKind.USER, BlockKind.ASSISTANT, BlockKind.REASONING, BlockKind.SYSTEM)
    one_by_one: list[ops.ViewOp] = []
    together: list[ops.ViewOp] = []
    for number in range(40):
        text, kind = texts[number % 5], kinds[number % 4]
        head = [("▾ thought", "EcaReasoning")] if kind is BlockKind.REASONING else ()
        opening = ops.OpenBlock("one", number, kind, head, depth=number % 3 // 2)
        closing = [ops.CloseBlock("one", number)] if number % 7 else []
        one_by_one += [opening, ops.AppendText("one", number, text), *closing]
        whole = replace(opening, chat="two", text=text, closed=bool(closing))
        together += [whole, tool(100 + number, "read a", "two")]
        one_by_one.append(tool(100 + number, "read a", "one"))
    view.draw(*one_by_one)
    assert view.nvim.lua(TOGETHER, [wire(op) for op in together]) == 1
    assert view.lines("two") == view.lines("one")
    assert view.nvim.lua(LOOKS, view.buffer("two")) == view.nvim.lua(LOOKS, view.buffer("one"))
    for chat in ("one", "two"):
        view.draw(
            ops.AppendText(chat, 0, " and more\n"),
            ops.AppendText(chat, 0, "```"),
            ops.CloseBlock(chat, 0),
        )
    assert view.lines("two") == view.lines("one")
    assert view.nvim.lua(LOOKS, view.buffer("two")) == view.nvim.lua(LOOKS, view.buffer("one"))


def test_older_blocks_that_arrive_together_are_one_edit(start_nvim: StartNeovim) -> None:
    view = start_view(start_nvim)
    older = [("▴ older messages …", "EcaMuted")]
    texts = ("plain", f"{TABLE}\n\n```c\nint x;\n```", "last")
    frames: dict[str, list[ops.ViewOp]] = {"one": [], "two": []}
    for chat, frame in frames.items():
        view.draw(ops.OpenBlock(chat, 1, BlockKind.OLDER, older), *user(2, "go on", chat))
        for number in range(30):
            after = number + 9 if number else 1
            text, kind = texts[number % 3], (BlockKind.USER, BlockKind.ASSISTANT)[number % 2]
            opening = ops.OpenBlock(chat, number + 10, kind, after=after)
            if chat == "two":
                frame.append(replace(opening, text=text, closed=True))
            else:
                append = ops.AppendText(chat, number + 10, text)
                frame += [opening, append, ops.CloseBlock(chat, number + 10)]
    view.draw(*frames["one"])
    assert view.nvim.lua(TOGETHER, [wire(op) for op in frames["two"]]) == 1
    assert view.lines("two") == view.lines("one")
    assert view.nvim.lua(LOOKS, view.buffer("two")) == view.nvim.lua(LOOKS, view.buffer("one"))


def test_text_grows_where_it_is_though_other_blocks_follow(view: View) -> None:
    view.draw(*assistant(1, "first"), tool(2, "read a"), ops.AppendText(CHAT, 1, " more\nsecond"))
    assert view.lines() == ["first more", "second", "", "✓ read a"]


def test_line_breaks_at_the_end_of_text_wait_for_more(view: View) -> None:
    view.draw(*assistant(1, "\n\none\n\n"))
    assert view.lines() == ["one"]
    view.draw(ops.AppendText(CHAT, 1, "\n"), ops.AppendText(CHAT, 1, "two\n"))
    assert view.lines() == ["one", "", "", "two"]
    view.draw(ops.CloseBlock(CHAT, 1), tool(2, "read a"))
    assert view.lines() == ["one", "", "", "two", "", "✓ read a"]


def test_a_body_opens_under_its_header_and_collapses(view: View) -> None:
    view.draw(tool(1, "$ ls"), tool(2, "read b"), body(1, "a", "b"))
    assert view.lines() == ["✓ $ ls", "a", "b", "✓ read b"]
    view.draw(body(1, "c"))
    assert view.lines() == ["✓ $ ls", "c", "✓ read b"]
    view.draw(body(1))
    assert view.lines() == ["✓ $ ls", "✓ read b"]


def test_a_header_changes_in_place_with_its_colours(view: View) -> None:
    view.draw(tool(1, "edit a"), tool(2, "read b"))
    view.draw(ops.SetHeader(CHAT, 1, [("✗", "EcaToolFailed"), (" edit a 3s", "EcaToolName")]))
    assert view.lines() == ["✗ edit a 3s", "✓ read b"]
    screen = view.nvim.wait_screen("✗ edit a 3s")
    assert "DiagnosticError" in screen.groups_at(*screen.find("✗"))


def test_a_nested_block_goes_after_those_already_nested(view: View) -> None:
    view.draw(tool(1, "agent"), tool(2, "read b"))
    view.draw(tool(3, "grep x", depth=1, after=1), tool(4, "grep y", depth=1, after=1))
    view.draw(body(3, "found"))
    assert view.lines() == ["✓ agent", "✓ grep x", "found", "✓ grep y", "✓ read b"]
    view.nvim.wait_screen(re.compile(r"^.*││  ✓ grep y", re.MULTILINE))


def test_calls_that_only_look_join_in_one_line_that_opens(view: View) -> None:
    chat, joined = Chat(CHAT, RenderSettings(folders=("/workspace",))), ["✓ read a, b", "", "so"]
    calls = (call(key, arguments={"path": f"/workspace/{key}"}) for key in "ab")
    looked: list[ChatEvent] = [ToolFinished(it, ("text",)) for it in calls]
    for event in (*looked, *said("so")):
        view.draw(*reducer.apply(chat, event, 0).ops)
    assert view.lines() == joined
    view.draw(*folding.toggle(chat, 0, 0, to_open=True).ops)
    assert view.lines() == ["✓ read a, b", "✓ read a", "text", "✓ read b", "text", "", "so"]
    view.nvim.wait_screen(re.compile(r"^.*││  ✓ read b", re.MULTILINE))
    view.draw(*folding.toggle(chat, 0, 0, to_open=False).ops)
    assert view.lines() == joined


def test_output_of_a_call_that_runs_is_shown_by_its_end_with_its_colours(view: View) -> None:
    chat = Chat(CHAT, RenderSettings())
    running = ToolRunning(call("1", "shell_command", arguments={"command": "make"}))
    pieces = [*(f"line {number}\n" for number in range(1, 101)), "\x1b[31mit bro"]
    events: list[ChatEvent] = [running, *(ToolOutput("1", piece) for piece in pieces)]
    view.draw(*(op for event in events for op in reducer.apply(chat, event, 0).ops))
    assert view.lines() == ["● $ make · it bro"]
    view.draw(*folding.toggle(chat, 0, 0, to_open=True).ops)
    view.draw(*reducer.apply(chat, ToolOutput("1", "ke\n"), 0).ops)
    lines = view.lines()
    assert lines[:4] == ["● $ make · it broke", "$ make", "… 51 lines before", "line 52"]
    assert lines[-1] == "it broke"
    screen = view.nvim.wait_screen(re.compile(r"^.*│ +it broke", re.MULTILINE))
    assert "DiagnosticError" in screen.groups_at(*screen.find("it broke"))


def test_removal_closes_the_gap(view: View) -> None:
    view.draw(*user(1, "a"), tool(2, "read"), tool(3, "write"), *assistant(4, "end"))
    view.draw(ops.RemoveBlock(CHAT, 1))
    assert view.lines() == ["✓ read", "✓ write", "", "end"]
    view.draw(ops.RemoveBlock(CHAT, 4), ops.RemoveBlock(CHAT, 2))
    assert view.lines() == ["✓ write"]
    view.draw(ops.RemoveBlock(CHAT, 3), *assistant(5, "new"))
    assert view.lines() == ["new"]


def test_removal_between_texts_keeps_them_apart(view: View) -> None:
    view.draw(tool(1, "read"), *assistant(2, "text"), tool(3, "write"))
    view.draw(ops.RemoveBlock(CHAT, 2))
    assert view.lines() == ["✓ read", "✓ write"]
    view.draw(ops.OpenBlock(CHAT, 4, BlockKind.ASSISTANT, after=1), ops.AppendText(CHAT, 4, "new"))
    assert view.lines() == ["✓ read", "", "new", "", "✓ write"]


def test_a_cleared_chat_starts_again(view: View) -> None:
    view.draw(*user(1, "a"), *assistant(2, "b"), ops.ClearChat(CHAT), *user(1, "c"))
    assert view.lines() == ["c"]


def test_what_is_yanked_has_no_bars_and_no_indents(view: View) -> None:
    view.draw(*user(1, "my words"), tool(2, "$ ls"), body(2, "a file"))
    screen = view.nvim.wait_screen("│ a file")
    assert "▌ my words" in screen
    view.nvim.keys("<C-w>kggyG")
    assert view.nvim.eval("getreg('\"')") == "my words\n\n✓ $ ls\na file\n"


def test_marks_colour_parts_of_a_body_and_whole_rows(view: View) -> None:
    marks = ((0, 0, 1, "EcaDiffAddText"), (1, 0, -1, "EcaDiffDelete"))
    view.draw(tool(1, "edit"), body(1, "+new", "-old", marks=marks))
    screen = view.nvim.wait_screen("+new")
    row, column = screen.find("+new")
    assert "DiffAdd" in screen.groups_at(row, column)
    assert "DiffAdd" not in screen.groups_at(row, column + 1)
    assert "Removed" in screen.groups_at(*screen.find("-old"))


def test_the_user_cannot_edit_it(view: View) -> None:
    view.draw(*assistant(1, "text"))
    view.nvim.keys("<C-w>kx")
    assert view.lines() == ["text"]
    assert "E21" in view.nvim.take_errors()[0]


def test_nothing_in_it_is_a_modeline(view: View) -> None:
    view.draw(*assistant(1, "# vim: set textwidth=7 :"))
    view.nvim.command("doautoall BufRead")
    assert view.nvim.lua("return vim.bo[...].modeline", view.buffer()) is False
    assert view.nvim.lua("return vim.bo[...].textwidth", view.buffer()) == 0


def test_the_block_of_a_row_is_known(view: View) -> None:
    view.draw(*user(1, "a"), tool(2, "$ ls"), body(2, "x", "y"))
    code = "return require('eca.transcript').block_at(...)"
    place = view.nvim.lua(code, view.buffer(), 4)
    expected = {"id": 2, "kind": "tool", "chat": CHAT, "header": 2, "first": 2, "last": 4}
    assert place == expected
    assert view.nvim.lua(code, view.buffer(), 1) is None


def test_a_new_host_counts_anew_below_what_is_there(view: View) -> None:
    view.draw(*user(1, "old"), tool(2, "old call"))
    view.draw(*user(1, "new"), tool(2, "new call"), ops.AppendText(CHAT, 2, "body"))
    assert view.lines() == ["old", "", "✓ old call", "", "new", "", "✓ new call", "body"]
    code = "return require('eca.transcript').block_at(...)"
    assert view.nvim.lua(code, view.buffer(), 2) is None
    assert view.nvim.lua(code, view.buffer(), 7)["id"] == 2


def test_editing_in_a_locked_moment_changes_nothing(view: View) -> None:
    """An op that raises E565 is drawn again later; it must not have been half drawn."""
    view.draw(*assistant(1, "one"))
    view.nvim.lua("""
    function _G.try_to_draw()
      local op = { op = 'append', chat = 'one', block = 1, text = ' two' }
      local worked, message = pcall(require('eca.view.ops').draw, { op })
      _G.outcome = { worked, message }
      return ''
    end
    vim.keymap.set('n', 'Z', 'v:lua.try_to_draw()', { expr = true })
    """)
    view.nvim.keys("Z")
    worked, message = view.nvim.lua("return _G.outcome")
    assert not worked
    assert "E565" in message
    view.draw(ops.AppendText(CHAT, 1, " two"))
    assert view.lines() == ["one two"]


APPENDS = """
local chat, buf, count = ...
local draw = require('eca.view.ops').draw
return { cost(function()
  for index = 1, count do
    local text = 'word ' .. index .. (index % 5 == 0 and '\\n' or '')
    draw({ { op = 'append', chat = chat, block = 1, text = text } })
  end
  require('eca.view.ops').settle()
end) }
"""


def cost_of_appends(view: View) -> tuple[float, float]:
    """Return the instructions and the bytes, as `LUA_COST` counts them."""
    steps, taken = view.nvim.lua(LUA_COST + APPENDS, CHAT, view.buffer(), 500)
    return float(steps), float(taken)


def test_appending_costs_the_same_in_a_long_chat(view: View) -> None:
    view.draw(*assistant(1, numbered(1, 1_000)))
    cost_of_appends(view)
    steps, taken = cost_of_appends(view)
    view.draw(ops.AppendText(CHAT, 1, numbered(1, 99_000)))
    assert len(view.lines()) > 100_000
    more_steps, more_taken = cost_of_appends(view)
    assert (more_steps <= 2 * steps, more_taken <= 2 * taken) == (True, True)


def test_a_chat_begins_in_a_locked_moment(view: View) -> None:
    """The first op of a chat makes its buffers, or fails whole and is drawn again."""
    view.nvim.lua("""
    _G.op = { op = 'open', chat = 'two', block = 1, kind = 'assistant', depth = 0 }
    _G.op.header = {}
    function _G.try_to_draw()
      _G.outcome = { pcall(require('eca.view.ops').draw, { _G.op }) }
      return ''
    end
    vim.keymap.set('n', 'Z', 'v:lua.try_to_draw()', { expr = true })
    """)
    view.nvim.keys("Z")
    outcome = view.nvim.lua("return _G.outcome")
    assert outcome[0] is True or "E565" in outcome[1]
    view.nvim.lua("if not _G.outcome[1] then require('eca.view.ops').draw({ _G.op }) end")
    view.draw(ops.AppendText("two", 1, "text"))
    assert view.lines("two") == ["text"]


def test_jumps_between_prompts_end_at_the_first_and_the_last(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim)
    view.draw(*user(1, "one"), *assistant(2, "text"), *user(3, "two"), *assistant(4, "more"))
    rows = []
    view.nvim.keys("<C-w>kgg")
    for key in ("]]", "]]", "[[", "[[", "]f", "[f"):
        view.nvim.keys(key)
        rows.append(view.nvim.eval("getline('.')"))
    assert rows == ["two", "two", "one", "one", "one", "one"]


def header(*segments: tuple[str, str]) -> ops.OpenBlock:
    """Return the op that opens a tool call with a header."""
    return ops.OpenBlock(CHAT, 1, BlockKind.TOOL, [("✓", "EcaToolDone"), *segments])


def test_finding_a_block_costs_the_same_in_a_long_chat(nvim: Neovim) -> None:
    """It is asked for with every redraw."""
    code = """
    local blocks = require('eca.transcript.blocks')
    local function cost_of(count)
      local chain = blocks.new(vim.api.nvim_create_buf(false, true), 'c')
      vim.api.nvim_buf_set_lines(chain.buf, 0, -1, false, vim.split(('\\n'):rep(count), '\\n'))
      for row = 0, count do
        blocks.link(chain, { id = row }, chain.last, row)
      end
      return (cost(function()
        for _ = 1, 2000 do
          assert(blocks.before(chain, count).id == count)
        end
      end))
    end
    cost_of(200)
    return cost_of(20000) / cost_of(200)
    """
    assert nvim.lua(LUA_COST + code) < 5


def test_a_buffer_that_is_wiped_out_between_two_ops_is_drawn_again(view: View) -> None:
    """By an autocommand of the user for an event between them."""
    view.nvim.command("autocmd User EcaChatOpened ++once silent! %bwipeout!")
    told = ops.Emit("EcaChatOpened", {"chat": CHAT})
    view.draw(*assistant(1, "one"), told, ops.ClearChat(CHAT), *assistant(2, "two"))
    view.open()
    assert view.lines()[-1].strip() == "two"


def test_enter_on_a_prompt_is_no_fault(view: View) -> None:
    view.draw(*user(1, "one\ntwo"))
    view.nvim.keys("<C-w>kggj$<CR>")
    assert view.nvim.messages() == ""


INTERRUPTED = """
local functions = require('eca.view.ops').text_functions
local append = functions.append
functions.append = function()
  functions.append = append
  error('Keyboard interrupt', 0)
end
"""
"""Lua code that does to the next text what <C-c> may do while it is drawn."""


def test_what_a_key_interrupts_is_drawn_all_the_same(view: View) -> None:
    view.nvim.lua(INTERRUPTED)
    draw(view.nvim, *chat_text("one"))
    view.nvim.wait_for(lambda: "one" in view.lines("c1")[-1], "the text")
    assert view.nvim.messages() == ""

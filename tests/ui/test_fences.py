"""Fences are found however their text arrives, and stay correct when rows move."""

from collections.abc import Iterator

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Value
from tests.ui.staged import CHAT, WITHOUT_HOST, chat_text, draw, wired

TEXTS = {
    "plain": "before\n```lua\nlocal a = 1\n```\nafter",
    "two": "```\none\n```\n\n~~~ Python 3\ntwo\n~~~\n",
    "longer": "````markdown\n```lua\ninner\n```\n````\nafter",
    "other marks": "~~~\n```\nnot closed by it\n~~~~\nafter",
    "in a list": "1. first\n\n   ```sh\n   ls\n   ```\n2. second",
    "unclosed": "text\n```lua\nlocal a = 1",
    "unclosed, blank end": "text\n```lua\nlocal a = 1\n\n\n",
    "opener last": "text\n```lua",
    "not a fence": "a ``` b\n``` x ``` y\n``\n",
    "wide": "ä\n```lua\n-- ü😀\n```\nö",
    "empty": "```\n```\nafter",
    "closer with more": "```\na\n```lua\nb\n```\nafter",
    "at once again": "```lua\na\n```\n```lua\nb\n```",
}
FENCES = """
local fences, buf = require('eca.markdown.fences'), ...
local found, last = {}, vim.api.nvim_buf_line_count(buf)
local written = require('eca.transcript.places').written_between(buf, 0, last)
for _, place in ipairs(fences.of_blocks(buf, written, 0, last)) do
  local fence = place.fence
  local closed, finished = fence.closed == true, fence.last ~= nil
  table.insert(found, { place.first, place.last, fence.language, closed, finished })
end
return found
"""


@pytest.fixture
def stage(start_nvim: StartNeovim) -> Neovim:
    """Neovim without a host; chats are drawn and not shown."""
    return start_nvim(init=WITHOUT_HOST)


def fences(nvim: Neovim, chat: str = CHAT) -> list[Value]:
    """Return first row, row after the last, language, closed and finished of each fence."""
    buffer = nvim.lua("return require('eca.chat.buffers').ensure(...).buf", chat)
    found: list[Value] = nvim.lua(FENCES, buffer)
    return found


def drawn(nvim: Neovim, *ops: list[Value]) -> None:
    """Draw ops at once."""
    code = """
    local view = require('eca.view.ops')
    for _, op in ipairs(...) do
      view.draw({ op })
    end
    view.settle()
    """
    nvim.lua(code, [wired(op) for op in ops])


def test_fences_of_a_whole_text(stage: Neovim) -> None:
    expected = {
        "plain": [[1, 4, "lua", True, True]],
        "two": [[0, 3, "", True, True], [4, 7, "python", True, True]],
        "longer": [[0, 5, "markdown", True, True]],
        "other marks": [[0, 4, "", True, True]],
        "in a list": [[2, 5, "sh", True, True]],
        "unclosed": [[1, 3, "lua", False, True]],
        "unclosed, blank end": [[1, 3, "lua", False, True]],
        "opener last": [[1, 2, "lua", False, True]],
        "not a fence": [],
        "wide": [[1, 4, "lua", True, True]],
        "empty": [[0, 2, "", True, True]],
        "closer with more": [[0, 5, "", True, True]],
        "at once again": [[0, 3, "lua", True, True], [3, 6, "lua", True, True]],
    }
    for name, text in TEXTS.items():
        drawn(stage, ["clear", CHAT], *chat_text(text))
        assert fences(stage) == expected[name], name


def cuts(text: str) -> Iterator[list[str]]:
    """Yield a text in three pieces, cut anywhere, and in its characters."""
    for first in range(1, len(text)):
        for second in (first, min(len(text) - 1, first + 3)):
            yield [text[:first], text[first:second], text[second:]]
    yield [*text]


def test_fences_do_not_depend_on_how_the_text_is_cut(stage: Neovim) -> None:
    for text in TEXTS.values():
        drawn(stage, ["clear", CHAT], *chat_text(text))
        whole = fences(stage)
        for pieces in cuts(text):
            appends = [["append", CHAT, 1, piece] for piece in pieces if piece]
            opened = ["open", CHAT, 1, "assistant", [], 0, None]
            drawn(stage, ["clear", CHAT], opened, *appends, ["close", CHAT, 1])
            assert fences(stage) == whole, pieces


def test_open_fences_grow_with_their_text(stage: Neovim) -> None:
    drawn(stage, *chat_text("```lua\none\ntwo", close=False))
    assert fences(stage) == [[0, 3, "lua", False, False]]
    drawn(stage, ["append", CHAT, 1, "\nthree\nfour"])
    assert fences(stage) == [[0, 5, "lua", False, False]]
    drawn(stage, ["append", CHAT, 1, "\n```\nafter"])
    assert fences(stage) == [[0, 6, "lua", True, True]]


def test_blocks_added_after_a_fence_are_not_part_of_it(stage: Neovim) -> None:
    drawn(
        stage,
        *chat_text("```\ncode\n```"),
        *chat_text("last", 2),
        ["open", CHAT, 3, "tool", [["ran it", ""]], 0, 1],
        ["body", CHAT, 3, ["a", "b"], [], ""],
    )
    assert fences(stage) == [[0, 3, "", True, True]]


def test_fences_move_with_what_opens_and_goes_above(stage: Neovim) -> None:
    header = [["thought", ""]]
    drawn(
        stage,
        ["open", CHAT, 1, "reasoning", header, 0, None],
        *chat_text("```lua\nx\n```", 2),
        *chat_text("```lua\ny\n```", 3),
    )
    assert [found[0] for found in fences(stage)] == [2, 6]
    drawn(stage, ["body", CHAT, 1, ["a", "b", "c"], [], None])
    assert [found[0] for found in fences(stage)] == [5, 9]
    drawn(stage, ["body", CHAT, 1, [], [], None])
    assert [found[0] for found in fences(stage)] == [2, 6]
    drawn(stage, ["remove", CHAT, 2])
    assert [found[:3] for found in fences(stage)] == [[2, 5, "lua"]]
    drawn(stage, ["remove", CHAT, 1])
    assert [found[:3] for found in fences(stage)] == [[0, 3, "lua"]]


def test_collapsed_fences_are_gone_and_come_back(stage: Neovim) -> None:
    body = ["text", "```lua", "x", "```", "end"]
    drawn(
        stage,
        ["open", CHAT, 1, "reasoning", [["thought", ""]], 0, None],
        ["body", CHAT, 1, body, [], None],
        ["close", CHAT, 1],
    )
    assert fences(stage) == [[2, 5, "lua", True, True]]
    for _ in range(2):
        drawn(stage, ["body", CHAT, 1, [], [], None])
        assert fences(stage) == []
        drawn(stage, ["body", CHAT, 1, body, [], None])
        assert fences(stage) == [[2, 5, "lua", True, True]]


def test_collapsing_within_an_open_fence_forgets_it(stage: Neovim) -> None:
    opened = ["open", CHAT, 1, "reasoning", [["thinking", ""]], 0, None]
    drawn(stage, opened, ["append", CHAT, 1, "```lua\nx\n"])
    drawn(stage, ["body", CHAT, 1, [], [], None])
    drawn(stage, ["body", CHAT, 1, ["```lua", "x", "```", "y"], [], None])
    assert fences(stage) == [[1, 4, "lua", True, True]]


def test_cleared_chats_have_no_fences(stage: Neovim) -> None:
    drawn(stage, *chat_text("```lua\nx", close=False))
    drawn(stage, ["clear", CHAT])
    assert fences(stage) == []
    drawn(stage, *chat_text("x\n```\ny\n```\nz"))
    assert fences(stage) == [[1, 4, "", True, True]]


def test_the_fence_around_a_row(stage: Neovim) -> None:
    drawn(stage, *chat_text("a\n```lua\nx\n```\nb"))
    buffer = stage.lua("return require('eca.chat.buffers').ensure(...).buf", CHAT)
    ask = "local place = require('eca.markdown.fences').at(...) return place and place.first or -1"
    assert [stage.lua(ask, buffer, row) for row in range(5)] == [-1, 1, 1, 1, -1]


def test_code_is_not_markdown_and_fences_name_its_language(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(init=WITHOUT_HOST, settings={"layout": "current"})
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    draw(nvim, *chat_text("# head\n```lua\n# **not** `markdown`\n- item\n```\n**bold** end"))
    screen = nvim.wait_screen("bold end")
    assert "# **not** `markdown`" in screen
    assert "- item" in screen
    assert "```" not in screen
    for label in "lua", "# **not**":
        row, _column = screen.find(label)
        assert "CursorLine" in screen.groups_at(row, len(screen.rows[row]) - 1)
    assert "Comment" in screen.groups_at(*screen.find("lua"))
    assert "Title" not in screen.groups_at(*screen.find("# **not**"))


def test_code_has_a_background_where_its_indent_goes_on(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(init=WITHOUT_HOST, settings={"layout": "current"})
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    draw(nvim, *chat_text(f"```\n    {'word ' * 25}\n```\nthe end"))
    screen = nvim.wait_screen("the end")
    first, column = screen.find("word")
    assert screen.lines()[first + 1][column:].startswith("word")
    for row in (first, first + 1):
        assert "CursorLine" in screen.groups_at(row, column - 1)
        assert "CursorLine" in screen.groups_at(row, column - 4)


def test_code_is_code_while_it_streams(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(init=WITHOUT_HOST, settings={"layout": "current"})
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    draw(nvim, *chat_text("```\n**code** one\n**code** two", close=False))
    nvim.wait_screen("**code** two")
    draw(nvim, ["append", CHAT, 1, "\n```\n**prose**"])
    screen = nvim.wait_screen(lambda screen: "**prose**" not in screen and "prose" in screen)
    assert "**code** two" in screen


def test_there_is_no_code_to_yank_outside_of_a_chat(stage: Neovim) -> None:
    stage.lua("vim.keymap.set('n', '<F5>', '<Plug>(EcaYankCode)')")
    stage.keys("i```<CR>code<CR>```<Esc>k<F5>")
    stage.wait_screen("no code block under the cursor")

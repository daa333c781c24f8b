"""Reading text of others in Neovim is work in proportion to its length."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.growth import LUA_COST, MOST
from tests.support.launch import REPOSITORY

WORST = {
    "agent_files.write": (
        (
            "local path = vim.fn.tempname()\n"
            "vim.fn.writefile(vim.split(text, '\\n'), path)\n"
            "vim.cmd.edit(path)\n"
            "local new = text:gsub('a', 'b')\n"
            "local write = { path = path, text = new, expires = os.time() + 99 }\n"
            "require('eca.editor.agent_files').write(write)\n"
            "vim.cmd('bwipeout!')"
        ),
        ["a", "é", "a\n", "a\r\n"],
    ),
    "cells.cut": ("require('eca.ui.display_width').cut(text, 20)", ["a", "́"]),
    "cells.pad_path": ("require('eca.ui.display_width').pad_path(text, 20)", ["a/", "́"]),
    "context_tokens": (
        "require('eca.context.tokens').find(text) require('eca.context.tokens').find_missing(text)",
        [
            *("@a", "@" + "a" * 900 + " ", " @" + "." * 900, "\\ ", " #a", "#a\n", "@a/b.c "),
            *("```\n", "~~~ @a\n", "`", " @buffer:1:", "@a:1-"),
        ],
    ),
    "fences": (
        (
            "local buf = vim.api.nvim_create_buf(false, true)\n"
            "local transcript = require('eca.transcript')\n"
            "transcript.attach(buf, 'one')\n"
            "vim.bo[buf].modifiable = true\n"
            "local block = { block = 1, kind = 'assistant', depth = 0, header = {} }\n"
            "transcript.open(buf, { block })\n"
            "transcript.append(buf, { block = 1, text = text })\n"
            "transcript.close(buf, { block = 1 })\n"
            "require('eca.markdown.fences').at(buf, 0)"
        ),
        ["`", " ", "~~~", "```\n", "|", "|a|\n|-|\n", "|" * 99 + "\n", "`" * 99 + "\n"],
    ),
    "sanitize.line": ("require('eca.ui.sanitize').line(text)", ["\u200b", "\ufe0f", "\u0007", "é"]),
    "sanitize.invisible": ("require('eca.ui.sanitize').invisible(text)", ["\u200b", "\ufe0f"]),
    "markdown.inline": (
        "require('eca.markdown.inline').parse(text)",
        [
            *("*a ", "*a* ", "_a ", "~~a ", "*a **b _c ", "*_", "`a``b```c", "[a](", "[a](b)"),
            *("[", "](", "<https://a", "https://a.b ", "h", "\\*", ".", "(", "(" * 50 + ")"),
            *("*", "_", "`", "<", "**a ", "\\", "~~"),
        ],
    ),
    "markdown.line": (
        "require('eca.markdown.line').parse(text)",
        [">", "|", "#", " ", "-", "- ", "1", "*", "http"],
    ),
    "reference": (
        (
            "vim.wo.wrap = false vim.api.nvim_set_current_line(text) vim.cmd('normal! $')\n"
            "local reference = require('eca.chat.reference') "
            "reference.under_cursor() reference.url_under_cursor()"
        ),
        ["a", ".", "a:1", "https://", "(", "a" * 900 + " "],
    ),
    "scan.trim": ("require('eca.text.scan').trim(text)", [" ", "a", "a "]),
    "secrets": (
        (
            "local python = require('eca.host.python')\n"
            "local find = python.find\n"
            "python.find = function() end\n"  # only what Lua does
            "require('eca.health.secrets').hide(text)\n"
            "python.find = find"
        ),
        ["a", "a1", "a1-", "-", "a " * 9],
    ),
    "sanitize.statusline": ("require('eca.ui.sanitize').statusline(text)", ["%", "\n"]),
}
"""Lua that reads `text`, and the pieces that its worst text is made of: add yours."""

COUNT = """
local code, piece, size = ...
local read = assert(loadstring('local text = ...\\n' .. code))
local function cost_of(length)
  local text = piece:rep(math.floor(length / #piece)) .. 'a'
  return cost(function() read(text) end)
end
cost_of(size)
local steps, taken = cost_of(size)
local more_steps, more_taken = cost_of(10 * size)
return math.max(more_steps / math.max(steps, 10), more_taken / math.max(taken, 10))
"""


def test_ten_times_the_text_is_about_ten_times_the_work(nvim: Neovim) -> None:
    found = {
        f"{name} {piece[:20]!r}": growth(nvim, code, piece, 1_000)
        for name, (code, pieces) in WORST.items()
        for piece in pieces
    }
    assert not {case: more for case, more in found.items() if more > MOST}


@pytest.mark.parametrize("work", ["text:sub(at)", "for _ = 1, #text do local _ = at end"])
def test_work_that_grows_with_the_square_of_the_text_is_seen(nvim: Neovim, work: str) -> None:
    assert growth(nvim, f"for at = 1, #text do {work} end", "a", 300) > MOST


def growth(nvim: Neovim, code: str, piece: str, size: int) -> float:
    """Return how many times more a lot of text takes than a tenth of it."""
    return float(nvim.lua(LUA_COST + COUNT, code, piece, size))


CALL = re.compile(r":?\b(?:find|match|gmatch|gsub)\((?:[^'\n]*, *)?'((?:[^'\\\n]|\\.)*)'")
UNANCHORED_END = re.compile(r"^(?!\^).*[*+-]\$$")


@pytest.mark.parametrize(
    "path", sorted((REPOSITORY / "lua").rglob("*.lua")), ids=lambda it: it.name
)
def test_no_pattern_tries_a_run_from_each_of_its_places(path: Path) -> None:
    code = path.read_text(encoding="utf-8")
    patterns = CALL.findall(code)
    assert not [it for it in patterns if UNANCHORED_END.match(it)], "see lua/eca/text/scan.lua"
    assert "vim.trim" not in code.replace("`vim.trim`", ""), "see lua/eca/text/scan.lua"

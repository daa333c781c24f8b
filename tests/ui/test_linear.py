"""Reading text of others in Neovim takes at most time in proportion to its length."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.launch import REPOSITORY

MOST = 5
"""How much longer one text may take than ten with a tenth of its length each."""

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
        "require('eca.context.tokens').find(text) require('eca.context.missing').find(text)",
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
            "transcript.append(buf, 1, text)\n"
            "transcript.close(buf, 1)\n"
            "transcript.lock(buf)"
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
    "sanitize.statusline": ("require('eca.ui.sanitize').statusline(text)", ["%", "\n"]),
}
"""Lua that reads `text`, and the pieces that its worst text is made of: add yours."""

MEASURE = """
local code, piece, size, most = ...
local run = assert(loadstring('local text = ...\\n' .. code))
local function seconds(length, times)
  local text = piece:rep(math.floor(length / #piece)) .. 'a'
  collectgarbage()
  local start = os.clock()
  for _ = 1, times do
    run(text)
  end
  return os.clock() - start
end
local growth
for _ = 1, 5 do
  local long = seconds(10 * size, 1)
  growth = long < 0.02 and 1 or long / seconds(size, 10)
  if growth <= most then break end
end
return growth
"""
"""Measures as `tests/support/growth.py` does."""


def test_ten_times_the_text_takes_about_ten_times_as_long(nvim: Neovim) -> None:
    slow = []
    for name, (code, pieces) in WORST.items():
        for piece in pieces:
            growth = nvim.lua(MEASURE, code, piece, 10_000, MOST)
            if growth > MOST:
                slow.append(f"{name} {piece[:20]!r}: {growth:.1f} times as long")
    assert not slow


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

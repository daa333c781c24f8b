"""Every decoration of the transcript on rows that wrap, in narrow windows, at any 'conceallevel'.

The table has a row for each kind of block and each group of Markdown: a new one must join it.
"""

import re
from typing import NamedTuple

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Value
from tests.ui.staged import CHAT, WITHOUT_HOST, draw

from eca_nvim.chat.vocabulary.ops import BlockKind

WORDS = "word " * 20
CHAT_COLUMNS = 41

TEXT, HEADER, BODY, PROMPT = "   ", "     ", "↳│ ", " ▌ "


class Row(NamedTuple):
    """A block, and the beginnings of its first row and of the wrapped ones, as patterns."""

    kind: str
    text: str
    first: str
    more: str
    headed: bool = False
    depth: int = 0


def prose(text: str, first: str, more: str = TEXT + "word") -> Row:
    """Return a row for Markdown of the agent."""
    return Row("assistant", text, TEXT + first, more)


HEADED = (" ✓ word", "   word")
"""The header of a block after its margin, which is the sign of a block around it, and a blank."""

BLOCKS: dict[str, Row] = {
    "user": Row("user", WORDS, PROMPT + "word", PROMPT + "word"),
    "assistant": prose(WORDS, "word"),
    "system": Row("system", WORDS, TEXT + "word", TEXT + "word"),
    "note": Row("note", WORDS, TEXT + "word", TEXT + "word"),
    **{
        kind: Row(kind, "", "  ✓ word".replace("  ✓", f"{TEXT}✓"), HEADER + "word", headed=True)
        for kind in BlockKind
        if kind not in ("user", "assistant", "system", "note")
    },
}
NESTED = {
    "nested user": Row("user", WORDS, "│▌ word", "│▌ word", depth=1),
    "nested assistant": Row("assistant", WORDS, "│  word", "│  word", depth=1),
    "nested tool": Row("tool", "", "│  ✓ word", "│    word", headed=True, depth=1),
    "twice nested": Row("tool", "", "║  ✓ word", "║    word", headed=True, depth=2),
}
BODIES = {
    "body": Row("tool", WORDS, " │ word", BODY + "word"),
    "body of reasoning": Row("reasoning", WORDS, " │ word", BODY + "word"),
    "body of a diff": Row("tool", f"-   {WORDS}", " │ -   word", BODY + "    word"),
    "nested body": Row("tool", WORDS, "││ word", BODY + "word", depth=1),
}
MARKDOWN = {
    "EcaHeading": prose(f"# {WORDS}", "(# | )?word", TEXT + " ?word"),
    "EcaBold": prose(f"**{WORDS.strip()}**", r"(\*\*|  | )?word"),
    "EcaItalic": prose(f"*{WORDS.strip()}*", r"(\*| )?word"),
    "EcaBoldItalic": prose(f"***{WORDS.strip()}***", r"(\*+| +)?word"),
    "EcaStrike": prose(f"~~{WORDS.strip()}~~", r"(~~| +)?word"),
    "EcaCode": prose(f"`{WORDS.strip()}`", "(`| )?word"),
    "EcaCodeBlock": prose(f"```\n{WORDS}\n```", "word"),
    "EcaFence": prose(f"```lua {WORDS}\n```", "lua word"),
    "EcaLink": prose(f"[{WORDS.strip()}](x.md)", r"(\[| )?word"),
    "EcaQuote": prose(f"> > {WORDS}", "▎ ▎ word", TEXT + "▎ ▎ word"),
    "EcaListMark": prose(f"- {WORDS}", "• word", TEXT + "  word"),
    "EcaRule": prose("---", "─{38}", ""),
    "EcaTableBorder": prose(f"| {WORDS} |\n|{'-' * 60}|", "│ word", TEXT + "(word|├─|─+┤|│)"),
}
MORE = {
    "number": prose(f"12. {WORDS}", r"12\. word", TEXT + "    word"),
    "done": prose(f"- [x] {WORDS}", r"• (\[☑\]| ☑ |☑) word", TEXT + "  word"),
    "to do": prose(f"- [ ] {WORDS}", r"• (\[☐\]| ☐ |☐) word", TEXT + "  word"),
}
UNWRAPPED = {"EcaRule"}
TABLE = {**BLOCKS, **NESTED, **BODIES, **MARKDOWN, **MORE}


def ops(row: Row) -> list[list[Value]]:
    """Return the ops that draw a block, and the blocks around it."""
    around = [["open", CHAT, depth, "tool", [["around", ""]], depth - 1, None] for depth in (1, 2)]
    head = [["✓ " + WORDS.strip() if row.headed else "head", ""]]
    has_head = row.headed or row in BODIES.values()
    opened: list[Value] = ["open", CHAT, 9, row.kind, head if has_head else [], row.depth, None]
    body: list[list[Value]] = [["append", CHAT, 9, row.text]] if row.text else []
    return [["clear", CHAT], *around[: row.depth], opened, *body, ["close", CHAT, 9]]


@pytest.fixture(params=["current", "float"])
def stage(start_nvim: StartNeovim, request: pytest.FixtureRequest) -> Neovim:
    """Return Neovim with a chat of 41 columns."""
    columns = CHAT_COLUMNS + (4 if request.param == "float" else 0)
    settings = {"layout": request.param}
    nvim = start_nvim(settings=settings, columns=columns, lines=30, init=WITHOUT_HOST)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    return nvim


def rows(nvim: Neovim, name: str) -> list[str]:
    """Draw a block, and return its rows on the screen without those of the blocks around it."""
    end = f"end of {name}"
    draw(nvim, *ops(TABLE[name]), ["open", CHAT, 99, "flag", [[end, ""]], 0, None])
    screen = nvim.wait_screen(end)
    bottom, column = screen.find(end)
    left = column - len(TEXT)
    around = TABLE[name].depth + (name in BODIES)
    lines = screen.lines()[screen.find("○ idle")[0] + 1 + around : bottom]
    return [line[left : left + CHAT_COLUMNS].rstrip() for line in lines if line[left:].strip(" │")]


@pytest.mark.parametrize("level", range(4))
def test_every_row_of_a_long_line_keeps_its_bar_and_indent(stage: Neovim, level: int) -> None:
    stage.lua("vim.wo[vim.fn.bufwinid('eca://chat/1')][0].conceallevel = ...", level)
    for name, row in TABLE.items():
        first, *more = rows(stage, name)
        assert re.match(row.first, first), (name, first)
        assert more or name in UNWRAPPED, name
        for line in more:
            assert re.match(row.more, line), (name, line)


def test_every_decoration_is_in_the_table(stage: Neovim) -> None:
    code = "return vim.tbl_map(function(it) return { it.name, it.text } end, "
    groups = stage.lua(code + "require('eca.ui.highlights').groups)")
    of_markdown = {name for name, text in groups if text.startswith("Markdown")}
    assert set(TABLE) == {*BlockKind, *of_markdown, *NESTED, *BODIES, *MORE}


def test_a_float_has_one_background(start_nvim: StartNeovim) -> None:
    colours = "vim.api.nvim_set_hl(0, 'NormalFloat', { bg = '#123456' })"
    nvim = start_nvim(settings={"layout": "float"}, init=WITHOUT_HOST + colours)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    for row in (BLOCKS["assistant"], BODIES["body"], NESTED["nested tool"]):
        draw(nvim, *ops(row))
        screen = nvim.wait_screen("word word")
        place, column = screen.find("word")
        for cell in range(column - len(TEXT), column + 1):
            assert screen.highlight_at(place, cell)["background"] == 0x123456, (row, cell)

"""Markdown tables: aligned when complete if there is room, and yanked unchanged."""

import pytest
from tests.support.factories import StartNeovim
from tests.ui.view import CHAT, View, assistant, open_view

from eca_nvim.chat.vocabulary import ops

TABLE = "\n".join(
    [
        "| name | **what** | n |",
        "|---|:-:|--:|",
        "| `a` | 日本 | 1 |",
        "| longer | b | 1000 |",
    ]
)

ALIGN = """
local written = require('eca.transcript.places').written_between(..., 0, 1000)
require('eca.markdown.fences').of_blocks(..., written, 0, 1000)
require('eca.markdown.tables').request(..., written, 0, 1000)
"""


@pytest.fixture
def view(start_nvim: StartNeovim) -> View:
    return open_view(start_nvim)


def shown(view: View) -> list[str]:
    """Return the rows of tables on the screen, without what is to their left."""
    view.nvim.command("redraw!")
    rows = [line[line.index("│") + 1 :].strip() for line in view.nvim.screen.lines() if "│" in line]
    return [row for row in rows if row.startswith(("│", "├", "|"))]


def test_a_table_is_aligned_when_something_follows(view: View) -> None:
    view.draw(*assistant(1, f"See:\n{TABLE}"))
    assert shown(view)[0] == "│ name │ what │ n │"
    view.draw(ops.AppendText(CHAT, 1, "\n\nand so on\nmore"))
    assert shown(view) == [
        "│ name   │ what │    n │",
        "├────────┼──────┼──────┤",
        "│ a      │ 日本 │    1 │",
        "│ longer │  b   │ 1000 │",
    ]
    assert view.lines()[1:5] == TABLE.split("\n")


def test_a_table_at_the_end_is_aligned_when_the_text_is_complete(view: View) -> None:
    view.draw(*assistant(1, TABLE))
    assert shown(view)[-1] == "│ longer │ b │ 1000 │"
    view.draw(ops.CloseBlock(CHAT, 1))
    view.nvim.wait_screen("│ longer │  b   │ 1000 │")


def test_a_table_that_comes_piece_by_piece_is_aligned(view: View) -> None:
    view.draw(ops.OpenBlock(CHAT, 1, ops.BlockKind.ASSISTANT))
    for character in TABLE:
        view.draw(ops.AppendText(CHAT, 1, character))
    view.draw(ops.CloseBlock(CHAT, 1))
    assert shown(view)[-1] == "│ longer │  b   │ 1000 │"


def marks(view: View) -> int:
    """Count what fills up cells, seen or not."""
    code = "return #vim.api.nvim_buf_get_extmarks(..., %s, 0, -1, {})"
    return int(view.nvim.lua(code % "vim.api.nvim_create_namespace('eca.tables')", view.buffer()))


def test_a_table_far_above_the_end_is_aligned_when_it_is_seen(view: View) -> None:
    view.draw(*assistant(1, f"{TABLE}\n\n" + "text\n" * 500), ops.CloseBlock(CHAT, 1))
    view.nvim.wait_screen("text")
    assert marks(view) == 0
    view.nvim.keys("<C-w>kgg")
    view.nvim.wait_screen("│ longer │  b   │ 1000 │")
    filled = marks(view)
    view.nvim.keys("Ggg")
    view.nvim.wait_screen("│ longer │  b   │ 1000 │")
    assert marks(view) == filled > 0


def test_of_many_tables_that_come_together_only_those_on_the_screen_are_aligned(view: View) -> None:
    many = [op for block in range(1, 101) for op in assistant(block, f"{TABLE}\n\nand so on")]
    view.draw(*many)
    view.nvim.wait_screen("│ longer │  b   │ 1000 │")
    few = marks(view)
    view.nvim.lua(ALIGN, view.buffer())
    view.nvim.wait_until("true")
    assert 0 < few < marks(view) / 3


def test_a_table_that_was_never_seen_goes_without_a_trace(view: View) -> None:
    view.draw(*assistant(1, f"{TABLE}\n\n" + "text\n" * 500), ops.CloseBlock(CHAT, 1))
    view.draw(ops.ClearChat(CHAT), *assistant(2, "| a | b |\n\n" * 40), ops.CloseBlock(CHAT, 2))
    view.nvim.keys("<C-w>kgg")
    view.nvim.wait_screen("│ a │ b │")
    assert marks(view) == 0


def test_a_table_in_code_is_left_alone(view: View) -> None:
    view.draw(*assistant(1, f"```\n{TABLE}\n```\ntext"), ops.CloseBlock(CHAT, 1))
    assert shown(view)[-1] == "| longer | b | 1000 |"


def test_a_table_that_is_too_wide_is_left_alone(view: View) -> None:
    wide = TABLE.replace("longer", "very " * 40)
    view.draw(*assistant(1, wide), ops.CloseBlock(CHAT, 1))
    assert shown(view)[0] == "│ name │ what │ n │"


def test_rows_without_a_ruler_are_no_table(view: View) -> None:
    view.draw(*assistant(1, "| a | b |\n| long | c |"), ops.CloseBlock(CHAT, 1))
    assert shown(view) == ["│ a │ b │", "│ long │ c │"]


def test_nothing_stays_of_a_table_that_is_taken_out(view: View) -> None:
    view.draw(*assistant(1, TABLE), ops.CloseBlock(CHAT, 1), *assistant(2, "text"))
    view.draw(ops.RemoveBlock(CHAT, 1))
    assert marks(view) == 0

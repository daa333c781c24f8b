"""The float about usage; tasks and background work in the winbars."""

import pytest
from tests.support.factories import StartNeovim
from tests.ui.view import CHAT, View, open_view

from eca_nvim.chat.render.panel_rows import usage_rows
from eca_nvim.chat.vocabulary import ops
from eca_nvim.chat.vocabulary.turn_events import UsageCategory, UsageReported

USAGE = ops.SetUsage(
    CHAT,
    usage_rows(
        UsageReported(
            session_tokens=50_000,
            context_limit=200_000,
            output_limit=8_000,
            session_cost="0.09",
            last_message_cost="0.01",
            auto_compact_percentage=75,
            free_tokens=150_000,
            free_color="#5C6370",
            categories=(
                UsageCategory("System prompt", 10_000, "#61afef"),
                UsageCategory("Conversation", 40_000, "red | quit"),
            ),
        )
    ),
)


@pytest.fixture(params=[80, 160])
def view(start_nvim: StartNeovim, request: pytest.FixtureRequest) -> View:
    return open_view(start_nvim, columns=request.param, lines=40)


def test_usage_is_a_bar_with_its_legend(view: View) -> None:
    view.nvim.lua("vim.o.termguicolors = true")
    view.draw(USAGE)
    view.nvim.keys(":Eca usage<CR>")
    screen = view.nvim.wait_screen("50,000 of 200,000 tokens")
    bar = "█" * 12 + "░" * 23 + "┃" + "░" * 12
    for line in (
        bar,
        "█ System prompt     10,000    5.0%",
        "█ Conversation      40,000   20.0%",
        "░ free             150,000   75.0%",
        "┃ is compacted at 75%",
        "answers of up to 8,000 tokens",
        "this chat $0.09 · last message $0.01",
    ):
        assert line in screen
    row, column = screen.find(bar)
    assert "eca_color_61afef" in screen.groups_at(row, column)
    assert "String" in screen.groups_at(*screen.find("█ Conversation"))
    assert (
        view.nvim.lua("return vim.api.nvim_get_hl(0, { name = 'eca_color_61afef' }).fg") == 0x61AFEF
    )
    assert view.nvim.lua("return vim.fn.getcompletion('eca_color_', 'highlight')") == [
        "eca_color_5c6370",
        "eca_color_61afef",
    ]
    view.nvim.keys("q")
    view.nvim.wait_screen(lambda screen: "tokens" not in screen)


def test_without_colours_groups_of_our_own_tell_categories_apart(view: View) -> None:
    view.nvim.lua("vim.o.termguicolors, vim.fn.has = false, function() return 0 end")
    view.draw(USAGE)
    view.nvim.keys(":Eca usage<CR>")
    screen = view.nvim.wait_screen("50,000 of 200,000 tokens")
    assert "Function" in screen.groups_at(*screen.find("█ System prompt"))
    assert "String" in screen.groups_at(*screen.find("█ Conversation"))


def test_usage_that_is_not_known_is_said(view: View) -> None:
    view.nvim.keys(":Eca usage<CR>")
    view.nvim.wait_screen("usage of this chat is not known yet")


def test_the_plan_is_a_line_and_a_way_to_its_list(view: View) -> None:
    header = [("✓ tasks 2/5", "EcaToolName")]
    view.draw(
        ops.OpenBlock(CHAT, 7, ops.BlockKind.TASKS, header),
        ops.SetTaskList(CHAT, {"block": 7, "done": 2, "total": 5, "doing": "the third"}),
        ops.SetStatus(CHAT, {"state": "running"}),
    )
    view.nvim.wait_screen("▢ tasks 2/5 · doing: the third")
    view.nvim.keys(":Eca tasks<CR>")
    view.nvim.wait_until("#require('eca.host').sent > 0")
    assert view.sent("toggle") == [{"chat": CHAT, "block": 7, "open": True}]
    assert view.nvim.eval("getline('.')") == "✓ tasks 2/5"
    view.draw(ops.SetTaskList(CHAT, None))
    view.nvim.wait_screen(lambda screen: "doing: the third" not in screen)
    view.nvim.keys(":Eca tasks<CR>")
    view.nvim.wait_screen("no task list yet")


def test_work_in_the_background_and_retries_are_told(view: View) -> None:
    view.draw(ops.SetWork(["Syncing models", "Cleaning up"]))
    view.nvim.wait_screen("Syncing models +1")
    view.draw(ops.SetWork([]))
    view.nvim.wait_screen(lambda screen: "Syncing" not in screen)
    status = {"state": "running", "activity": "Retrying in 2s (attempt 1/10)", "retrying": True}
    view.draw(ops.SetServer("ready", "eca"), ops.SetStatus(CHAT, {**status, "elapsed": 4_000}))
    screen = view.nvim.wait_screen("Retrying in 2s (attempt 1/10)")
    assert "DiagnosticWarn" in screen.groups_at(*screen.find("Retrying in"))
    assert "↻ retrying" in screen

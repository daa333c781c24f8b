"""The winbars: their parts, what is left out without room, and that nothing in them runs."""

import re

import pytest
from tests.support.factories import StartNeovim
from tests.support.screen import Value
from tests.ui.view import CHAT, View, assistant, open_view

from eca_nvim.chat.vocabulary import ops

FULL = {
    "state": "running",
    "title": "Fix the flaky test",
    "model": "claude-sonnet",
    "agent": "code",
    "trust": False,
    "pending": 0,
    "tokens": 34_000,
    "limit": 200_000,
    "cost": "0.09",
    "elapsed": 12_300,
}


def show(view: View, **changes: object) -> None:
    status: dict[str, Value] = {**FULL, **changes}
    view.draw(ops.SetServer("ready", "eca"), ops.SetStatus(CHAT, status))


def test_everything_is_told_where_there_is_room(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, columns=250)
    show(view)
    view.nvim.wait_screen(
        re.compile(
            r"Fix the flaky test {10,}claude-sonnet · code · ● running 12s · 34k/200k · \$0.09$",
            re.MULTILINE,
        )
    )
    show(view, trust=True, variant="high", elapsed=3_725_000, tokens=1_234_567, limit=2_000_000)
    screen = view.nvim.wait_screen("TRUST · claude-sonnet · code/high · ● running 1h02m")
    assert "1.2M/2M" in screen
    assert "ErrorMsg" in screen.groups_at(*screen.find("TRUST"))
    show(view, currency="EUR")
    view.nvim.wait_screen("34k/200k · 0.09 EUR")


def test_the_least_important_goes_first(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, columns=100, lines=24)
    show(view)
    view.nvim.wait_screen(re.compile("Fix the flaky test  +claude-sonnet · code · ● running 12s"))
    show(view, title="A title of so many words that it cannot be shown", trust=True)
    view.nvim.wait_screen(re.compile(r"A title of \S.*…  +TRUST · …\S+sonnet · ● running 12s"))
    show(view, agent="plan", title="A title of many words", elapsed=3_725_000)
    view.nvim.wait_screen(re.compile(r"A title of many.*  …\S+sonnet · plan · ● running 1h02m"))


def test_text_draws_a_winbar_only_where_a_window_counts_it(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim)
    view.draw(*assistant(1, "text\n" * 100))
    view.nvim.wait_screen("text")  # and with it what opening the windows causes
    view.nvim.lua("""
        _G.drawn = 0
        local winbar = require('eca.window.winbar')
        local refresh = winbar.refresh_window
        winbar.refresh_window = function(win)
          _G.drawn = _G.drawn + 1
          refresh(win)
        end""")
    for _ in range(5):
        view.draw(ops.AppendText(CHAT, 1, "more\n"))
    assert view.nvim.lua("return _G.drawn") == 0
    view.nvim.keys("<C-w>kgg")
    view.draw(ops.AppendText(CHAT, 1, "unseen\n" * 5))
    view.nvim.wait_screen("↓ 5 new")


def test_states_are_told_by_a_sign(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim)
    view.nvim.wait_screen(re.compile("New chat  +○ idle"))
    view.draw(ops.SetServer("starting", "eca 0.155"))
    view.nvim.wait_screen("◌ starting")
    show(view, state="waiting")
    view.nvim.wait_screen("? waiting 12s")
    show(view, state="idle", elapsed=None)
    view.nvim.wait_screen("○ idle · 34k")
    view.draw(ops.SetServer("failed", "/opt/bin/my-eca"))
    assert "/opt" not in view.nvim.wait_screen("my-eca")
    view.draw(ops.SetServer("failed"))
    view.nvim.wait_screen("✗ failed")


def test_text_of_others_is_not_run(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, columns=250)
    title = "%{execute('let g:run = 1')}%#Error# [31m 50%"
    show(view, title=title, model="%=%!x", activity="%{1/0}")
    view.nvim.wait_screen("%{execute('let g:run = 1')}%#Error# [31m 50%")
    assert " %=%!x · code" in view.nvim.screen
    assert view.nvim.eval("exists('g:run')") == 0


def test_a_narrower_window_is_noticed(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, columns=250)
    show(view)
    view.nvim.wait_screen("$0.09")
    view.nvim.keys("<C-w>k:vertical resize 40<CR>")
    view.nvim.wait_screen(lambda screen: "$0.09" not in screen and "● running 12s" in screen)


def test_new_rows_are_told_in_the_narrowest_window(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, columns=100)
    view.draw(*assistant(1, "text\n" * 100))
    view.nvim.keys("<C-w>kgg:vertical resize 41<CR>")
    show(view)
    view.nvim.wait_screen("│ Fix the f…    …de-sonnet · ● running 12s")
    view.draw(ops.AppendText(CHAT, 1, "unseen\n" * 5))
    view.nvim.wait_screen(re.compile("│ Fix the flaky te…  +● running 12s · ↓ 5"))
    show(view, elapsed=3_725_000)
    view.nvim.wait_screen(re.compile("│ Fix the flaky…  +● running 1h02m · ↓ 5"))
    show(view, trust=True)
    view.nvim.wait_screen(re.compile("│ Fix the.*…  +TRUST · ● running 12s · ↓ 5"))


def test_a_buffer_that_the_user_opens_elsewhere_has_no_old_winbar(
    start_nvim: StartNeovim,
) -> None:
    view = open_view(start_nvim)
    show(view)
    chat = view.nvim.eval("bufnr('eca://chat/1')")
    view.nvim.keys(f"<Esc>:topleft vnew | buffer {chat} | enew<CR>")
    show(view, state="idle")
    view.nvim.keys(f":buffer {chat}<CR>")
    view.nvim.wait_for(lambda: "○ idle" in view.nvim.eval("&l:winbar"), "the winbar of today")


def test_the_input_tells_context_and_queue(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "README.md")
    show(view, activity="Generating")
    view.draw(ops.SetQueue(CHAT, [("queue", "later")]))
    view.nvim.wait_screen("@cursor · 1 queued · Generating · eca")
    view.draw(ops.SetQueue(CHAT, [("steer", "now"), ("queue", "later"), ("queue", "last")]))
    view.nvim.wait_screen("@cursor · 1 steering · 2 queued · Generating · eca")


def test_why_it_retries_is_visible_in_a_narrow_chat(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "README.md", columns=80)
    why = "Provider overloaded. Retrying in 4s (attempt 2/10)"
    view.nvim.wait_screen("@cursor")
    show(view, activity=why, retrying=True)
    view.nvim.wait_screen(why)
    view.draw(ops.SetQueue(CHAT, [("queue", "later")]))
    view.nvim.wait_screen("1 queued · Provider overloaded. Retrying in 4s")


def test_plans_background_work_and_retries_are_told(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, settings={"contexts": {"cursor": False}})
    show(view, retrying=True, model=None)
    view.nvim.wait_screen("↻ retrying 12s")
    view.draw(ops.SetTaskList(CHAT, {"block": 1, "done": 2, "total": 5, "doing": "test it"}))
    view.draw(ops.SetWork(["Loading models"]))
    view.nvim.wait_screen("▢ tasks 2/5 · doing: test it · Loading models · eca")
    show(view, state="idle")
    view.nvim.wait_screen(re.compile(r"▢ tasks 2/5 · Loading models"))
    view.draw(ops.SetTaskList(CHAT, None), ops.SetWork([]), ops.SetUsage(CHAT, [[("1 token", "")]]))
    view.nvim.wait_screen(lambda screen: "tasks" not in screen and "Loading" not in screen)
    assert view.nvim.lua("return require('eca.state.mirror').chat(...).usage", CHAT) == [
        [["1 token", ""]]
    ]


def test_a_plan_goes_with_the_host(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim)
    view.draw(ops.SetTaskList(CHAT, {"block": 1, "done": 2, "total": 5, "doing": "test it"}))
    view.nvim.wait_screen("▢ tasks 2/5")
    view.nvim.lua("require('eca.view.host_gone').show()")
    view.nvim.wait_screen(lambda screen: "tasks" not in screen)


def test_the_status_is_mirrored_for_statuslines(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim)
    assert view.nvim.lua("return require('eca').statusline()") == ""
    show(view, model="50%", variant=None)
    assert view.nvim.lua("return require('eca').statusline()") == "eca: running 50%%"
    status = view.nvim.eval("g:eca_status")
    assert status == {
        **FULL,
        "model": "50%",
        "chat": CHAT,
        "server": "ready",
        "server_name": "eca",
    }
    view.open("two")
    assert view.nvim.eval("g:eca_status.chat") == "two"


def test_a_statusline_shows_trust_and_what_waits(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim)
    show(view, state="waiting", pending=2, trust=True)
    text = "eca: waiting (2) claude-sonnet TRUST"
    assert view.nvim.lua("return require('eca').statusline()") == text
    lualine = """
        local extension = require('lualine.extensions.eca')
        local shown = vim.tbl_map(function(part)
          return part[1].cond() and part[1][1]() or ''
        end, extension.sections)
        return { extension.filetypes, shown.lualine_a, shown.lualine_z }"""
    types, both = ["eca-chat", "eca-input"], ["Fix the flaky test", text]
    assert view.nvim.lua(lualine) == [types, *both]
    view.nvim.keys("<C-w>k")
    assert view.nvim.lua(lualine) == [types, "", ""]
    view.nvim.command("set laststatus=3")  # one line for all windows
    assert view.nvim.lua(lualine) == [types, *both]


@pytest.mark.either_nvim
def test_health_says_that_another_plugin_draws_the_winbars(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, lines=60)
    show(view)
    view.nvim.command("checkhealth eca")
    view.nvim.wait_screen("no other plugin draws the winbars of the chat")
    view.nvim.command("tabclose")
    view.nvim.lua("vim.wo[require('eca.window').shown()][0].winbar = '%f'")
    view.nvim.command("checkhealth eca")
    view.nvim.wait_screen("another plugin draws the winbars of the chat")

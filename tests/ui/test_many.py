"""Many things at once, in Neovim: each costs as much as alone."""

from __future__ import annotations

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import handshake, text, turn
from tests.ui.staged import WITHOUT_HOST, approval, draw, wait_sent
from tests.ui.talk import lines_of, say, start_chat, wait_line

from eca_nvim.chat.text.output import LONGEST

IDS = "vim.tbl_map(function(item) return item.id end, require('eca').pending())"
SHOWN = """
local ids = ...
local found = {}
for _, part in ipairs(require('eca.window.chat_tabs').parts(ids, 90)) do
  found[#found + 1] = part.text
end
return found
"""


KEPT = """
local kept = setmetatable({}, { __mode = 'k' })
local function watch(module, name, is_result)
  local run = module[name]
  module[name] = function(...)
    local result = run(...)
    kept[is_result and result or ...] = name
    return result
  end
end
watch(require('eca.panels.chat_rows'), 'watch')
watch(require('eca.window.sizes'), 'opened')
watch(vim.fn, 'winsaveview', true)
function _G.kept()
  jit.flush() -- a trace keeps what it was compiled for
  collectgarbage()
  collectgarbage()
  return vim.tbl_values(kept)
end
"""
"""Lua code that tells which panels, windows of chats and places in them are still remembered."""


WATCHED_TWICE = """
local made, new_timer = 0, vim.uv.new_timer
vim.uv.new_timer = function()
  made = made + 1
  return new_timer()
end
for call = 1, 2 do
  require('eca.view.editor_calls').call(call, 'watch', {})
end
vim.uv.new_timer = new_timer
return made
"""
"""Lua code that does what two hosts ask for, one after the other."""


@pytest.fixture
def stage(start_nvim: StartNeovim) -> Neovim:
    """Start a Neovim with a chat and without a host."""
    nvim = start_nvim(columns=100, lines=30)
    nvim.lua(WITHOUT_HOST)
    nvim.command("EcaChat")
    return nvim


def test_a_line_without_an_end_is_shown_in_rows_that_are_quickly_drawn(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    words = "some words " * 100
    server = scripted_server(handshake(), turn(text("\nfirst\n\n", *[words] * 100, "\n\nlast")))
    nvim = start_chat(start_nvim, server)
    say(nvim, "go")
    wait_line(nvim, "last")
    lines = lines_of(nvim)
    rows = [line for line in lines if "words" in line]
    assert {len(row) for row in rows[:-1]} == {LONGEST}
    assert "".join(rows) == words * 100


def test_what_waits_is_told_by_what_has_changed(stage: Neovim) -> None:
    one, two, three = (approval(name, id=name) for name in ("one", "two", "three"))
    draw(stage, ["pending", [one, two]])
    stage.wait_until(f"vim.deep_equal({IDS}, {{ 'one', 'two' }})")
    draw(stage, ["pending", [three], []])
    stage.wait_until(f"vim.deep_equal({IDS}, {{ 'one', 'two', 'three' }})")
    draw(stage, ["pending", [{**two, "title": "another"}], []])
    stage.wait_until("require('eca').pending()[2].title == 'another'")
    draw(stage, ["pending", [], ["one", "three"]])
    stage.wait_until(f"vim.deep_equal({IDS}, {{ 'two' }})")
    draw(stage, ["pending", []])
    stage.wait_until(f"vim.deep_equal({IDS}, {{}})")


@pytest.mark.either_nvim
def test_a_winbar_has_parts_for_the_chats_that_have_room_and_want_something(stage: Neovim) -> None:
    names = [f"chat {number}" for number in range(300)]
    draw(stage, *(["open", name, 1, "assistant", [], 0, None] for name in names))
    waiting = {"state": "waiting", "pending": 1}
    draw(stage, ["status", "chat 299", waiting])
    stage.wait_until("require('eca.state.mirror').turn('chat 299') == 'waiting'")
    shown = stage.lua(SHOWN, "chat 5")
    assert len(shown) == 30
    assert str(shown[-1]).endswith("?")


def test_nothing_is_kept_of_what_was_closed(stage: Neovim) -> None:
    stage.lua(KEPT)
    draw(stage, *(["open", name, 1, "assistant", [], 0, None] for name in ("a", "b")))
    stage.keys(":tabnew<CR>:EcaChat<CR>]b]b<Esc>:tabclose<CR>")
    stage.keys(":Eca dashboard<CR>")
    row = {"id": "a", "line": [["a", "", 0]], "chat": "a"}
    (shown,) = wait_sent(stage, "show_panel")
    fields = {"op": "panel_rows", "panel": "dashboard", "showing": shown["showing"]}
    stage.lua(
        "require('eca.view.frames').apply(nil, { ... })",
        {**fields, "at": 0, "removed": 0, "rows": [row]},
    )
    assert "watch" in stage.lua("return kept()")
    assert stage.lua(WATCHED_TWICE) <= 1  # timers
    stage.keys("q")
    draw(stage, ["forget", "a"], ["forget", "b"])
    # The place in the chat that is left, if it was left once.
    stage.wait_for(lambda: stage.lua("return kept()") in ([], ["winsaveview"]), "no more")

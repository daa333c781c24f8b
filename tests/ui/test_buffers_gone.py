"""What the host says reaches every chat, whatever was done with the buffers of one."""

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.staged import CHAT, WITHOUT_HOST, chat_text, draw, question

OTHER = "c2"
SETTINGS = {"approval": {"guard": 0}}
KNOWN = """
local id = ...
local known = { require('eca.chat.buffers').get(id) ~= nil }
for _, kept in ipairs(package.loaded.memories) do
  known[#known + 1] = kept[id] ~= nil
end
return known
"""
MEMORY = """
package.loaded.memories = {}
local buffers = require('eca.chat.buffers')
local memory = buffers.memory
function buffers.memory()
  local made = memory()
  table.insert(package.loaded.memories, made)
  return made
end
"""


@pytest.fixture
def stage(start_nvim: StartNeovim) -> Neovim:
    """Neovim with two chats and no host; the windows show the second."""
    nvim = start_nvim("README.md", init=MEMORY + WITHOUT_HOST, settings=SETTINGS, columns=100)
    for chat in (CHAT, OTHER):
        nvim.lua("require('eca').open({ chat = ... })", chat)
    draw(nvim, *chat_text("hello"), ["input", CHAT, "a draft"])
    nvim.wait_until(f"require('eca.input.field').of_chat('{CHAT}') == 'a draft'")
    nvim.lua("require('eca.input.drafts').flush()")
    nvim.keys("<Esc>")
    return nvim


def buffer(kind: str, chat: str = CHAT) -> str:
    """Return the code that says which buffer a chat has."""
    return f"require('eca.chat.buffers').get('{chat}').{kind}"


def wipe(nvim: Neovim, kind: str, chat: str = CHAT) -> None:
    nvim.lua(f"vim.cmd.bwipeout({{ {buffer(kind, chat)}, bang = true }})")


@pytest.mark.parametrize("kind", ["buf", "input"])
def test_a_chat_without_one_of_its_buffers_is_deleted_whole(kind: str, stage: Neovim) -> None:
    both = [stage.lua(f"return {buffer(it)}") for it in ("buf", "input")]
    assert any(stage.lua(KNOWN, CHAT)[1:])
    wipe(stage, kind)
    draw(stage, ["forget", CHAT])
    stage.wait_until(f"require('eca.chat.buffers').get('{CHAT}') == nil")
    assert not any(stage.lua(KNOWN, CHAT))
    assert [stage.eval(f"bufexists({it})") for it in both] == [0, 0]
    assert "cannot draw" not in stage.messages()


def test_a_chat_that_is_deleted_during_a_command_line_window_leaves_nothing(stage: Neovim) -> None:
    both = [stage.lua(f"return {buffer(it)}") for it in ("buf", "input")]
    stage.keys("q:")
    draw(stage, ["forget", CHAT])
    stage.keys("")
    assert stage.eval("getcmdwintype()") == ":"
    stage.keys("<C-c><C-c>")
    stage.wait_until(f"vim.fn.bufexists({both[0]}) + vim.fn.bufexists({both[1]}) == 0")
    assert not any(stage.lua(KNOWN, CHAT))


SECRET = {"digest": "s1", "block": 901, "title": "Password?", "secret": True, "options": []}
EMPTY = """
local chat = require('eca.chat.buffers').restored(...)
require('eca.input.field').set_draft(chat.input, '')
"""
UNMADE = "autocmd FileType eca-input ++once ++nested bwipeout!"
"""Whatever keeps an input from being made: here one that is wiped out at once."""


@pytest.mark.parametrize("unmade", [False, True])
def test_a_question_reaches_its_input_when_that_of_a_chat_with_a_secret_was_wiped(
    unmade: bool, stage: Neovim
) -> None:
    stage.keys("<Esc>")
    wipe(stage, "input")
    stage.command(UNMADE if unmade else "")
    draw(stage, ["pending", [question("s1", **SECRET), {**question("q2"), "chat": OTHER}]])
    stage.wait_screen("Answer> type an answer")
    assert "cannot draw" not in stage.messages()
    if not unmade:
        assert stage.lua("return require('eca.input.field').of_chat(...)", CHAT) == "a draft"
        assert stage.lua(f"return vim.api.nvim_buf_is_loaded({buffer('input')})")


def test_a_chat_whose_input_cannot_be_made_keeps_no_question_from_another(stage: Neovim) -> None:
    both = [question("q1"), {**question("q2"), "chat": OTHER}]
    wipe(stage, "input")
    stage.command(UNMADE)
    draw(stage, ["pending", both])
    stage.wait_screen("Answer> type an answer")
    draw(stage, ["pending", []])
    stage.wait_screen(lambda screen: "Answer>" not in screen)

    stage.lua(EMPTY, CHAT)
    draw(stage, ["pending", both])
    stage.wait_screen("Answer> type an answer")
    wipe(stage, "input")
    stage.command(UNMADE)
    draw(stage, ["pending", []])
    stage.wait_screen(lambda screen: "Answer>" not in screen)
    stage.wait_log("a question is not in its input")

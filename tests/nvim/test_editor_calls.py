"""The Lua half of calls to the editor: each one is answered, also if it fails."""

from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.screen import Value

RECORD = """
_G.sent = {}
local host = require('eca.host')
host.send = function(name, payload) table.insert(_G.sent, payload) end
host.alive = function() end
"""
PUBLISH = """
local path, messages = ...
local buf = vim.fn.bufadd(path)
vim.fn.bufload(buf)
vim.diagnostic.set(vim.api.nvim_create_namespace('test'), buf, vim.tbl_map(function(message)
  return { lnum = 0, col = 0, message = message }
end, messages))
"""


@pytest.fixture
def calls(nvim: Neovim) -> Neovim:
    """Start a Neovim whose host only listens."""
    nvim.lua(RECORD)
    return nvim


def call(nvim: Neovim, name: str, arguments: Value, number: int = 1) -> Value:
    """Call a function and give its answer."""
    nvim.lua("require('eca.view.editor_calls').call(...)", number, name, arguments)
    return nvim.wait_until("_G.sent[#_G.sent]")


def test_an_unknown_function_is_answered_as_a_failure(calls: Neovim) -> None:
    answer = call(calls, "nonsense", {}, 9)
    assert (answer["call"], answer["ok"]) == (9, False)
    assert "nil" in answer["value"]


def test_a_function_that_fails_is_answered_with_the_reason(calls: Neovim) -> None:
    calls.lua("require('eca.editor.lookups').diagnostics = function() error('no luck') end")
    answer = call(calls, "diagnostics", {})
    assert answer["ok"] is False
    assert "no luck" in answer["value"]


def test_a_file_nobody_has_changed_is_left_out(calls: Neovim, workspace: Path) -> None:
    path = workspace / "new.txt"
    path.write_text("one\n")
    asked = {"paths": [str(path), str(workspace / "nowhere.txt")]}
    assert list(call(calls, "unsaved", asked)["value"]) == []
    calls.command(f"edit {path}")
    assert list(call(calls, "unsaved", asked)["value"]) == []


@pytest.mark.parametrize(
    "content",
    [b"one\ntwo\n", b"one\r\ntwo\r\n", b"one\ntwo", b"", b"\n", b"\n\n", b"one\n\n"],
)
def test_a_buffer_gives_what_it_would_write(calls: Neovim, workspace: Path, content: bytes) -> None:
    path = workspace / "open.txt"
    path.write_bytes(content)
    calls.command("set nofixendofline")
    calls.command(f"edit {path}")
    calls.command("set modified")
    path.write_bytes(b"changed behind its back")
    [told] = call(calls, "unsaved", {"paths": [str(path)]})["value"]
    assert told["text"].encode() == content
    calls.command("set nomodified")


def test_unsaved_changes_are_part_of_a_file(calls: Neovim, workspace: Path) -> None:
    path = workspace / "open.txt"
    path.write_text("one\n")
    calls.command(f"edit {path}")
    calls.lua("vim.api.nvim_buf_set_lines(0, 0, 1, true, { 'uno' })")
    answer = call(calls, "unsaved", {"paths": [str(path)]})["value"]
    assert answer == [{"path": str(path), "text": "uno\n"}]
    calls.command("undo | set nomodified")


def test_diagnostics_are_told_at_first_and_whenever_they_change(
    calls: Neovim, workspace: Path
) -> None:
    first, second = workspace / "first.txt", workspace / "second.txt"
    outside = workspace.parent / "outside.txt"
    for path in (first, second, outside):
        path.write_text("text\n")
    calls.lua(PUBLISH, str(first), ["one", "two"])
    told = call(calls, "watch", {}, 5)["value"]
    assert [(it["path"], len(it["items"])) for it in told] == [(str(first), 2)]
    calls.lua(PUBLISH, str(second), ["three"])
    calls.lua(PUBLISH, str(outside), ["nobody's business"])
    calls.lua(PUBLISH, str(first), [])
    calls.wait_until("#_G.sent == 2")
    answer = calls.lua("return _G.sent[2]")
    assert (answer["call"], answer["ok"]) == (5, True)
    told = {it["path"]: [found["message"] for found in it["items"]] for it in answer["value"]}
    assert told == {str(first): [], str(second): ["three"]}

"""Files that an ACP agent reads and writes through Neovim: unsaved text, and its way back."""

from pathlib import Path
from typing import Any

import pytest
from tests.agents.acp.file_turns import read, write
from tests.agents.acp.scripted import Scripted
from tests.agents.acp.test_official_sdk import CHOICES, update
from tests.support.factories import StartNeovim
from tests.ui.talk import wait_idle, wait_line

pytestmark = pytest.mark.either_nvim

LANGUAGE_SERVER = """
_G.saved = {}
vim.lsp.start({
  name = 'stand-in',
  root_dir = vim.fn.getcwd(),
  cmd = function()
    local closing = false
    return {
      request = function(method, _, callback)
        local sync = { openClose = true, change = 1, save = { includeText = true } }
        callback(nil, method == 'initialize' and { capabilities = { textDocumentSync = sync } })
        return true, 1
      end,
      notify = function(method, params)
        if method == 'textDocument/didSave' then
          table.insert(_G.saved, params.text)
        end
        return true
      end,
      is_closing = function()
        return closing
      end,
      terminate = function()
        closing = true
      end,
    }
  end,
})
vim.api.nvim_create_autocmd('BufWritePre', {
  callback = function()
    vim.api.nvim_buf_set_lines(0, 0, 0, true, { 'formatted' })
  end,
})
"""
TEXT = "one\ntwo\nthree\n"
TYPED = "one, typed\ntwo\nthree\n"
WRITTEN = "one, typed\ntwo\nTHREE\n"
MINE = "one, typed\ntwo\nmine\nthree\n"
DONE = update("tool_call_update", toolCallId="t", status="completed")


def edits(path: Path, old: str, new: str) -> dict[str, Any]:
    """Request permission for an edit."""
    diff = {"type": "diff", "path": str(path), "oldText": old, "newText": new}
    shown = {"toolCallId": "t", "title": "edit", "kind": "edit", "content": [diff]}
    return {"toolCall": shown, "options": CHOICES}


def test_a_folder_is_read_without_a_question_once_it_is_treated_as_a_project(
    start_nvim: StartNeovim, workspace: Path, tmp_path: Path
) -> None:
    scripted = Scripted(tmp_path)
    file = workspace / "README.md"
    scripted.play([read(file)], [read(file)])
    agent = {"command": scripted.command, "protocol": "acp"}
    settings: dict[str, Any] = {"server": "sdk", "servers": {"sdk": agent}}
    nvim = start_nvim(settings={**settings, "approval": {"guard": 0}}, columns=120)
    nvim.keys(":EcaChat one<CR>")
    nvim.wait_screen("3 always  Treat /")
    nvim.command("Eca choose 3")
    wait_idle(nvim)
    nvim.keys(":EcaChat two<CR>")
    nvim.wait_for(lambda: len(scripted.answers()) == 2, "the second text")
    assert not nvim.lua("return require('eca').pending()")


def test_unsaved_text_is_read_changed_and_comes_back(
    start_nvim: StartNeovim, workspace: Path, tmp_path: Path
) -> None:
    file, new = workspace / "code.txt", workspace / "made/new.txt"
    (workspace / ".hg").mkdir()
    file.write_text(TEXT)
    scripted = Scripted(tmp_path)
    scripted.play(
        [read(file), write(file, WRITTEN), write(new, "new\n")],
        [read(file)],
        [write(file, "late\n")],
        [{"ask": edits(file, MINE, "late\n")}, read(file), write(file, "late\n"), DONE],
        [write(tmp_path / "outside.txt", "trusted\n")],
    )
    servers = {"sdk": {"command": scripted.command, "protocol": "acp"}}
    settings: dict[str, Any] = {"server": "sdk", "servers": servers, "approval": {"guard": 0}}
    nvim = start_nvim(str(file), settings=settings, columns=120, lines=40)
    nvim.lua(LANGUAGE_SERVER)
    nvim.keys("A, typed<Esc>Gma")
    buffer = nvim.eval("bufnr()")

    def text() -> str:
        lines = nvim.lua("return vim.api.nvim_buf_get_lines(..., 0, -1, true)", buffer)
        return "".join(f"{line}\n" for line in lines)

    nvim.keys(":EcaChat go<CR>")
    screen = nvim.wait_screen("Always in this chat: any workspace file")
    assert "-three" in screen
    assert "+THREE" in screen
    assert "-one" not in screen
    assert scripted.answers() == [{"content": TYPED}]
    nvim.keys("g<CR>d")
    screen = nvim.wait_screen("proposed")
    assert screen.text().count("one, typed") == 2
    assert "THREE" in screen
    assert "a allow  A always" in screen
    nvim.keys("q")
    nvim.keys(":Eca choose 2<CR>")
    wait_idle(nvim)
    assert (file.read_text(), new.read_text(), text()) == (WRITTEN, "new\n", WRITTEN)
    assert nvim.lua("return _G.saved") == [WRITTEN]
    assert nvim.lua("return vim.bo[...].modified", buffer) is False
    assert nvim.lua("return vim.fn.bufexists(...)", str(new)) == 0
    assert nvim.lua("return vim.api.nvim_buf_get_mark(..., 'a')", buffer) == [3, 4]
    wait_line(nvim, "edit code.txt +1 -1")

    nvim.keys(":Eca changes<CR>")
    nvim.wait_screen("new.txt|1| +1 -0  new file")
    nvim.wait_screen("code.txt|3| +1 -1  THREE")
    assert "code.txt|1|" not in nvim.screen
    nvim.keys(":Eca undo-turn<CR>")
    nvim.wait_screen("undo turn 1: go")
    nvim.keys("u")
    nvim.wait_until(f"not vim.uv.fs_stat('{new}')")
    nvim.wait_for(lambda: (file.read_text(), text()) == (TYPED, TYPED), "what the user had typed")
    assert not new.parent.exists()

    nvim.keys(":EcaChat read<CR>")
    wait_idle(nvim)
    nvim.command("wincmd t")
    nvim.command(f"buffer {buffer}")
    nvim.keys("Omine<Esc>")
    nvim.keys(":EcaChat write<CR>")
    wait_idle(nvim)
    assert "it has changed since you read it" in scripted.answers()[-1]["error"]
    assert text() == MINE

    nvim.keys(":EcaChat in your own call<CR>")
    nvim.wait_screen("allow this?")
    nvim.keys(":Eca choose 1<CR>")
    wait_line(nvim, "✓ edit code.txt +1 -4")
    wait_idle(nvim)
    assert (file.read_text(), text()) == ("late\n", "late\n")
    nvim.keys(":Eca undo-turn<CR>")
    nvim.wait_screen("undo turn 4: in your own call")
    nvim.keys("u")
    nvim.wait_for(lambda: (file.read_text(), text()) == (MINE, MINE), "what the user had typed")

    nvim.keys(":Eca trust<CR>:EcaChat outside<CR>")
    wait_line(nvim, "outside.txt +1 -0")
    wait_idle(nvim)
    assert (tmp_path / "outside.txt").read_text() == "trusted\n"

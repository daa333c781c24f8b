"""Completion from the key to the demo agent and back: all parts are real."""

import os
import signal
from pathlib import Path

import pytest
from tests.support.factories import StartNeovim
from tests.ui.completed import menu, text

HOSTILE = (b"a b", b"-rf", b'it\'s "q"', b"new\nline", b"tab\t", b"\x1b[31m", b"bad\xff")
BIDIRECTIONAL = "rtl\u202e.py"


def test_paths_and_commands(
    start_nvim: StartNeovim, demo_server: list[str], workspace: Path
) -> None:
    for name in (*HOSTILE, BIDIRECTIONAL.encode()):
        (Path(os.fsdecode(os.fsencode(workspace) + b"/" + name))).write_bytes(b"")
    nvim = start_nvim(settings={"server": {"command": demo_server}}, columns=80)
    nvim.keys(":EcaChat<CR>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    nvim.keys("i")
    nvim.wait_until("#vim.lsp.get_clients({ bufnr = 0 }) > 0")
    nvim.keys("#")
    nvim.wait_screen("rtl<U+202E>.py")
    assert {"src/", "README.md", "a\\ b", "-rf", 'it\'s\\ "q"', BIDIRECTIONAL} <= {*menu(nvim)}
    assert not any("line" in name or "tab" in name or "31m" in name for name in menu(nvim))
    nvim.keys("src/")
    nvim.wait_for(lambda: {"src/calc.py", "src/mod.lua"} <= {*menu(nvim)}, "the folder")
    nvim.keys("<C-u>@cal")
    nvim.wait_for(lambda: menu(nvim)[:1] == ["src/calc.py"], "the file")
    nvim.keys("<C-n><C-y>")
    assert text(nvim) == "@src/calc.py"
    nvim.keys("<C-u>/dem")
    nvim.wait_screen("demo:greet")
    nvim.keys("<C-n><C-y>")
    nvim.wait_screen("who (Who is greeted):")
    nvim.keys("Ada<CR>")
    nvim.wait_for(lambda: text(nvim) == "/demo:greet Ada", "the argument")
    nvim.keys("<C-s>")
    nvim.wait_screen("Hello, Ada!")


@pytest.mark.either_nvim
def test_a_host_that_is_gone_completes_nothing_and_says_nothing(
    start_nvim: StartNeovim, demo_server: list[str], workspace: Path
) -> None:
    nvim = start_nvim(settings={"server": {"command": demo_server}}, columns=80)
    nvim.keys(":EcaChat<CR>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    nvim.wait_until("#vim.lsp.get_clients({ bufnr = 0 }) > 0")
    nvim.keys("i#")
    nvim.wait_screen("src/calc.py")
    os.kill(nvim.lua("return require('eca.host').pid()"), signal.SIGKILL)
    nvim.wait_until("require('eca').status().server == 'failed'")
    nvim.take_errors()
    nvim.keys("<C-e> #")
    assert "src/calc.py" in menu(nvim)
    nvim.keys("calc")
    assert menu(nvim)[:1] == ["src/calc.py"]
    nvim.keys("<Esc>cc/")
    assert menu(nvim) == []
    found = nvim.lua("""
        local params = vim.lsp.util.make_position_params(0, 'utf-16')
        return vim.tbl_values(
          vim.lsp.buf_request_sync(0, 'textDocument/completion', params, 5000))""")
    assert [it["result"]["items"] for it in found] == [[]]
    nvim.keys("<Esc>:Eca restart<CR>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    nvim.take_errors()
    (workspace / "fresh.txt").touch()
    nvim.keys("cc#fresh")
    nvim.wait_for(lambda: "fresh.txt" in menu(nvim), "the new host's answer")
    nvim.keys("<Esc>")

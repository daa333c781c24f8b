"""Completion from the key to the demo agent and back: all parts are real."""

import os
from pathlib import Path

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

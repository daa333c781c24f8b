"""The panel of memory on the screen: files open from there."""

import os
from pathlib import Path

import pytest
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import expect, fail, handshake, reply


@pytest.mark.either_nvim
def test_what_is_remembered_and_loaded_opens(
    start_nvim: StartNeovim, scripted_server: PrepareScript, tmp_path: Path
) -> None:
    kept, evil = tmp_path / "ipv6.md", "\x1b[31m%{1}\u202e\nname"
    kept.write_text("127.0.0.1")
    entries = [{"path": str(kept), "name": "Docker", "label": "global", "description": evil}]
    entries += [{"path": "https://evil", "name": "odd"}]
    method, commands = "memory/list", [{"name": "init", "type": "native"}]
    server = scripted_server(
        *(handshake(), expect(method), reply(method, {"entries": entries})),
        *(expect("chat/queryCommands"), reply("chat/queryCommands", {"commands": commands})),
        *(expect(method), fail(method, -32601, "no")),
    )
    nvim = start_nvim(settings={"server": {"command": server.command}}, columns=80)
    rules = Path(nvim.lua("return vim.fn.getcwd()"), ".eca/rules")
    rules.mkdir(parents=True)
    Path(rules, os.fsdecode(b"\xff.md")).write_text("no UTF-8")
    nvim.keys(":EcaChat<CR><Esc>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    nvim.keys(":Eca memory<CR>")
    nvim.wait_screen("memory: 2 remembered")
    screen = nvim.wait_screen("rules  1")
    assert "not tried with a real server" in screen
    assert "\u202e" not in screen
    nvim.wait_until("vim.fn.search('init .*built in', 'nw') > 0")
    for name, fault in (("odd", "an absolute path is needed"), ("rules.*md", "no UTF-8")):
        nvim.keys(f"/{name}<CR><CR>")
        nvim.wait_until(f"vim.fn.execute('messages'):find('{fault}', 1, true)")
    nvim.keys("/Docker<CR><CR>")
    nvim.wait_until("vim.fn.bufname():find('ipv6.md', 1, true)")
    nvim.keys(":Eca memory<CR>ggr")
    nvim.wait_screen("this server has no memory: it does not know memory/list")

"""A server is installed from the panel, used, and removed, on a real screen."""

import os
from collections.abc import Iterator

import pytest
from tests.server.test_installing import Web
from tests.support.factories import StartNeovim
from tests.support.screen import Screen
from tests.ui.talk import say, wait_line

pytestmark = pytest.mark.either_nvim

LISTED = """(function()
  local path = vim.fs.joinpath(vim.fn.stdpath('data'), 'eca/servers/registry.json')
  local listed = vim.fn.filereadable(path) == 1 and vim.fn.readblob(path) or ''
  return listed ~= '' and listed:find(('0'):rep(64)) %s nil
end)()"""


MARKED = """(function()
  return vim.tbl_filter(function(line)
    return vim.startswith(line, '●')
  end, vim.fn.getbufline('eca://panel/server', 1, '$'))
end)()"""


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    server = Web(tmp_path_factory.mktemp("web"))
    yield server
    server.close()


def test_a_server_is_installed_by_two_keys_and_the_focus_stays_there(
    start_nvim: StartNeovim, web: Web
) -> None:
    folders = [it for it in os.environ["PATH"].split(":") if not os.access(f"{it}/eca", os.X_OK)]
    base = f"https://127.0.0.1:{web.port}"
    nvim = start_nvim(
        settings={"install": {"releases": f"{base}/wrong", "registry": base}}, columns=80, lines=24
    )
    for key, value in {**web.trust, "PATH": ":".join(folders)}.items():
        nvim.lua("vim.env[...] = select(2, ...)", key, value)
    nvim.keys(":Eca install eca<CR>")
    screen = nvim.wait_screen("y does this · x gives up")
    assert "Get eca 1.0 from" in screen.text()
    (marked,) = nvim.lua(f"return {MARKED}")
    assert marked.split()[1:] == ["here", "demo"]
    assert f"{base}/wrong/" in screen.text()
    nvim.wait_until("vim.api.nvim_get_current_line():find('y does this')")
    nvim.lua("vim.wait(400)")  # the guard of what has just come
    nvim.keys("y")
    nvim.wait_screen("its SHA-256 is wrong: i looks again")
    nvim.wait_until("vim.api.nvim_get_current_line():find('not done *eca')")

    nvim.lua(
        "vim.g.eca = vim.tbl_deep_extend('force', vim.g.eca, ...)",
        {"install": {"releases": f"{base}/slow"}},
    )
    nvim.keys(":Eca restart<CR>:Eca install eca<CR>")
    nvim.wait_screen(f"{base}/slow/")
    nvim.wait_until("vim.api.nvim_get_current_line():find('y does this')")
    nvim.lua("vim.wait(400)")
    nvim.keys("y")
    nvim.wait_screen("of 0.3 MB")
    nvim.wait_screen("eca 1.0 is installed: :Eca restart starts it")
    assert nvim.lua("return vim.bo.filetype") == "eca-panel"
    nvim.wait_until("vim.api.nvim_get_current_line():find(' eca  *1.0 ')")
    (marked,) = nvim.lua(f"return {MARKED}")
    assert marked.split()[1:4] == ["the", "demo", "eca"], "it runs until a restart"
    assert nvim.lua("return require('eca.state.servers').how_to_install('eca')") is None
    assert nvim.lua("return vim.fn.getcompletion('Eca uninstall ', 'cmdline')") == ["eca"]
    nvim.keys(":Eca update --undo<CR>")
    nvim.wait_screen("no earlier version of eca is kept")
    nvim.keys(":Eca uninstall eca<CR>")
    nvim.wait_screen("Remove eca from the plugin's own folder?")
    nvim.keys("1<CR>")
    nvim.wait_screen("eca is removed")
    nvim.wait_until(f"{MARKED}[1]:find('here *demo')")
    nvim.keys(":Eca server acp-demo<CR>")
    nvim.wait_until(f"{MARKED}[1]:find('here *acp.demo') and #{MARKED} == 1")
    nvim.keys(":Eca uninstall eca<CR>")
    nvim.wait_screen(":Eca uninstall takes one of: none yet")
    nvim.keys(":Eca update<CR>")
    nvim.wait_screen(":Eca install has not installed eca, so")


def all_of_the_plan(screen: Screen) -> bool:
    """Return whether its first row and its last are on the screen."""
    return "approve?    boxed" in screen.text() and "y does this · x gives up" in screen.text()


def test_an_agent_in_an_archive_is_installed_and_talked_to(
    start_nvim: StartNeovim, web: Web
) -> None:
    base = f"https://127.0.0.1:{web.port}"
    nvim = start_nvim(settings={"install": {"registry": f"{base}/wrong"}}, columns=80, lines=20)
    for key, value in {**web.trust, "PATH": "/usr/bin:/bin"}.items():
        nvim.lua("vim.env[...] = select(2, ...)", key, value)
    nvim.keys(":Eca server<CR>")
    nvim.wait_screen("acp-demo")
    for row, said in (("wrong", "its SHA-256 is wrong: i looks again"), ("good", "is installed")):
        nvim.lua(
            "vim.g.eca = vim.tbl_deep_extend('force', vim.g.eca, ...)",
            {"install": {"registry": f"{base}/{row}"}},
        )
        nvim.keys(":Eca restart<CR>R")
        nvim.wait_until(LISTED % ("~=" if row == "wrong" else "=="))
        nvim.keys(":Eca install boxed<CR>")
        nvim.wait_screen(all_of_the_plan)
        nvim.keys(":call search('y does this')<CR>")  # the list may be read again just then
        nvim.wait_until("vim.api.nvim_get_current_line():find('y does this')")
        nvim.lua("vim.wait(400)")  # the guard of what has just come
        nvim.keys("y")
        nvim.wait_screen(said)
    nvim.wait_until("vim.api.nvim_get_current_line():find('here *boxed *1.5.0 ')")
    nvim.keys("<CR>")
    nvim.wait_screen("new chats talk to boxed")
    nvim.keys(":EcaChat<CR>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    say(nvim, "hello")
    wait_line(nvim, "out of a box")

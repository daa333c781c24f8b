"""`:Eca install`: what the winbar says meanwhile, and errors in the log only for real errors."""

import venv
from pathlib import Path

import pytest
from tests.support.factories import StartNeovim
from tests.ui.talk import lines_of
from tests.ui.view import start_view

BUILD = """
local code, told = ...
require('eca.host').revive = function() return 'stopped' end
local run = vim.system
vim.system = function(_, _, ended)
  vim.system = run
  ended({ code = code, stdout = told, stderr = '' })
end
require('eca.commands.plugin').install()
"""


@pytest.mark.parametrize(
    ("code", "level", "line"),
    [(0, "INFO", "the environment is ready"), (1, "ERROR", "cannot install: half done")],
)
def test_how_it_went_is_the_level_in_the_log(
    start_nvim: StartNeovim, code: int, level: str, line: str
) -> None:
    view = start_view(start_nvim)
    view.nvim.check_errors = False
    view.nvim.lua(BUILD, code, "half done\n")
    view.nvim.wait_screen(line)
    logged = view.nvim.wait_log("half done")
    assert logged.splitlines()[0].split(" ", 2)[2] == f"{level} view: half done"


HELD = """
local run = vim.system
vim.system = function(_, _, ended)
  vim.system, Ended = run, ended
end
require('eca.commands.plugin').install()
"""
BUILT = "its environment is being built, which takes a minute"


@pytest.mark.parametrize("is_first", [True, False])
def test_the_winbar_says_that_the_environment_is_being_built(
    start_nvim: StartNeovim, tmp_path: Path, is_first: bool
) -> None:
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    settings = {"python": str(tmp_path / "bare" / "bin" / "python")}
    nvim = start_nvim(settings=settings, columns=80)
    if is_first:
        nvim.lua(HELD)
        nvim.keys(":EcaChat hi<CR>")
    else:
        nvim.keys(":EcaChat hi<CR>")
        nvim.wait_screen("✗ failed")
        nvim.lua(HELD)
    nvim.wait_screen("◌ building")
    nvim.wait_for(lambda: BUILT in lines_of(nvim), "the line in the chat")
    assert nvim.lua("return require('eca').status().server") == "building"
    assert "✗ failed" not in nvim.screen.text()
    nvim.lua("Ended({ code = 1, stdout = 'no network', stderr = '' })")
    nvim.wait_screen("✗ failed")
    fault = "run :Eca install, :Eca log says more: no network"
    nvim.wait_for(lambda: fault in lines_of(nvim), "the fault")
    nvim.leave_prompt()
    nvim.take_errors()

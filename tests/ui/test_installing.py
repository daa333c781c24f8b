"""`:Eca install` in the log: errors only for real errors."""

import pytest
from tests.support.factories import StartNeovim
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

"""Agents that nobody uses end, and the next prompt starts them again: demo agents of both kinds."""

import pytest
from tests.support.factories import StartNeovim
from tests.support.processes import command_line
from tests.ui.talk import lines_of, say, wait_line

pytestmark = [pytest.mark.either_nvim, pytest.mark.whole_start]

MOMENT = 0.003
"""Minutes."""
ASLEEP = "require('eca').status().asleep"
WATCH = """
vim.g.exits = {}
vim.api.nvim_create_autocmd('User', {
  pattern = 'EcaServerExited',
  callback = function(event)
    vim.g.exits = vim.list_extend(vim.g.exits, { event.data.server_name .. event.data.state })
  end,
})
"""


def test_an_idle_agent_sleeps_and_wakes(start_nvim: StartNeovim) -> None:
    servers = {name: {"idle": MOMENT} for name in ("demo", "acp-demo")}
    nvim = start_nvim(settings={"server": "demo", "servers": servers}, columns=80)
    nvim.lua(WATCH)
    for number, name in enumerate(servers, 1):
        nvim.lua("require('eca').new({ server = ... })", name)
        nvim.wait_until(f"{ASLEEP} and require('eca').status().server_name == '{name}'")
        nvim.wait_screen("○ asleep")
        nvim.wait_for(
            lambda: not any("eca_nvim.demo" in command_line(it) for it in nvim.child.descendants()),
            "the agent to be gone",
        )
        before = lines_of(nvim)
        assert not any("stopped" in line for line in before)
        status = nvim.lua("return require('eca').status()")
        assert (status["server"], status["asleep"], status["state"]) == ("stopped", True, "idle")
        assert nvim.lua("return require('eca').statusline()").startswith("eca: asleep")
        say(nvim, "hello")
        wait_line(nvim, "Hello!")
        nvim.wait_until(ASLEEP)
        assert not any("stopped" in line or "ended" in line for line in lines_of(nvim))
        assert nvim.eval("g:exits")[-1] == f"{name}stopped"
        assert len(nvim.eval("g:exits")) >= 2 * number
    assert nvim.messages().strip() == ""

"""The example of the protocol's own SDK: what it does is fixed, so it follows no script."""

from tests.journeys.agents import example
from tests.journeys.answers import choose, start, waits
from tests.support.factories import StartNeovim
from tests.ui.talk import wait_idle, wait_line

WATCH = """
vim.g.reasons = {}
vim.api.nvim_create_autocmd('User', {
  pattern = 'EcaTurnFinished',
  callback = function(event)
    vim.g.reasons = vim.list_extend(vim.g.reasons, { event.data.reason })
  end,
})
"""


def test_it_is_allowed_rejected_and_stopped(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim, example())
    nvim.lua(WATCH)
    nvim.lua("require('eca').send('first')")
    choose(nvim, waits(nvim, "critical configuration file"), "allow_once")
    wait_line(nvim, "successfully updated the configuration")
    wait_idle(nvim)
    nvim.lua("require('eca').send('second')")
    choose(nvim, waits(nvim, "critical configuration file"), "reject_once")
    wait_line(nvim, "you prefer not to make that change")
    wait_idle(nvim)
    nvim.lua("require('eca').send('third')")
    waits(nvim, "critical configuration file")
    nvim.lua("require('eca').reject({ reason = 'do this instead' })")
    # It goes on after a no: the turn is stopped, and the reason is the next prompt.
    wait_line(nvim, "do this instead")
    waits(nvim, "critical configuration file")
    nvim.lua("require('eca').stop()")
    wait_idle(nvim)
    assert nvim.lua("return #require('eca').pending()") == 0
    assert nvim.eval("g:reasons") == ["done", "done", "stopped", "stopped"]

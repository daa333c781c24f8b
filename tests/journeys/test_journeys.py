"""The journeys of a user with each agent: what is typed, what is shown, what is on the disk."""

from tests.journeys.agents import RealAgent
from tests.journeys.scripted_model import scripted
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.talk import Value, wait_idle, wait_line

WIDTH = 120


def start(start_nvim: StartNeovim, agent: RealAgent) -> Neovim:
    """Open a chat with an agent."""
    nvim = start_nvim(settings=agent.settings, columns=WIDTH, lines=40)
    nvim.keys(":EcaChat<CR>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    return nvim


def prompt(nvim: Neovim, *steps: Value) -> None:
    """Send a prompt with a script for the model."""
    nvim.lua("require('eca').send(...)", f"go\n{scripted(*steps)}")


def test_stream(start_nvim: StartNeovim, agent: RealAgent) -> None:
    nvim = start(start_nvim, agent)
    prompt(nvim, {"think": "hm, well", "say": "hello from **the** script"})
    wait_line(nvim, "hello from **the** script")
    wait_idle(nvim)

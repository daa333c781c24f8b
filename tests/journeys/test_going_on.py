"""Chats of real agents go on after a restart: the model gets what was said before."""

from tests.journeys.agents import RealAgent
from tests.journeys.answers import let_it_remember, prompt, start
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.talk import wait_idle, wait_line

WORD = "pumpernickel"


def test_a_chat_goes_on_after_a_restart(start_nvim: StartNeovim, agent: RealAgent) -> None:
    nvim = start(start_nvim, agent)
    prompt(nvim, {"say": f"the word is {WORD}"})
    wait_line(nvim, f"the word is {WORD}")
    wait_idle(nvim)
    let_it_remember(nvim, agent)
    nvim.keys(":Eca restart<CR>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    recalls(nvim)


def recalls(nvim: Neovim) -> None:
    """Check that the model gets what was said before, and that it is shown once."""
    remembered = shown(nvim, f"I remember {WORD}")
    prompt(nvim, {"recall": WORD})
    nvim.wait_for(lambda: shown(nvim, f"I remember {WORD}") > remembered, "the model to remember")
    wait_idle(nvim)
    assert shown(nvim, f"the word is {WORD}") == 1


def shown(nvim: Neovim, text: str) -> int:
    """Return how often a text is in the chat."""
    return str(nvim.lua("return require('eca').transcript()")).count(text)

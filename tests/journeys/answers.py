"""A chat with a real agent, and the answers to what it asks."""

import time
from pathlib import Path

from tests.journeys.agents import RealAgent
from tests.journeys.script import scripted
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.talk import Value, lines_of, wait_idle

WIDTH = 120


def start(start_nvim: StartNeovim, agent: RealAgent, state: Path | None = None) -> Neovim:
    """Open a chat with an agent, in the mode in which it asks; state: where Neovim keeps it."""
    environment = {"XDG_STATE_HOME": str(state)} if state else {}
    nvim = start_nvim(settings=agent.settings, columns=WIDTH, lines=40, environment=environment)
    nvim.keys(":EcaChat<CR>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    ask_first(nvim, agent)
    return nvim


def waits(nvim: Neovim, word: str) -> Value:
    """Wait for a request whose title has a word, and return it."""
    return nvim.wait_for(
        lambda: [it for it in nvim.lua("return require('eca').pending()") if word in it["title"]],
        f"a request about {word!r}",
    )[0]


def choose(nvim: Neovim, request: Value, kind: str) -> None:
    """Answer a request by the first choice of a kind."""
    [choice, *_] = [it["id"] for it in request["choices"] if it["kind"] == kind]
    nvim.lua("require('eca').choose(...)", {"id": request["id"], "choice": choice})


def prompt(nvim: Neovim, *steps: Value) -> None:
    """Send a prompt with a script for the model."""
    nvim.lua("require('eca').send(...)", f"go\n{scripted(*steps)}")


def ask_first(nvim: Neovim, agent: RealAgent) -> None:
    """Choose the mode in which the agent asks, if it does not start in it."""
    if agent.asks_in is None:
        return
    nvim.wait_until("require('eca').status().agent")
    if nvim.lua("return require('eca').status().agent") != agent.asks_in:
        nvim.keys(f":Eca agent {agent.asks_in}<CR>")
        nvim.wait_until(f"require('eca').status().agent == '{agent.asks_in}'")


def let_it_remember(nvim: Neovim, agent: RealAgent) -> None:
    """Wait for the next minute if the agent forgets what is opened again in this one."""
    if agent.forgets_at_once:
        minute = int(time.time() / 60)
        nvim.wait_for(lambda: int(time.time() / 60) > minute, "the next minute", timeout=70)


def allow_all(nvim: Neovim, done: str) -> list[str]:
    """Allow what is asked, each call once, until a line is in the transcript; return the titles."""
    titles: dict[object, str] = {}

    def is_done() -> bool:
        for request in nvim.lua("return require('eca').pending()"):
            titles[request["id"]] = request["title"]
            choose(nvim, request, "allow_once")
        return any(done in line for line in lines_of(nvim))

    nvim.wait_for(is_done, f"{done!r} with all requests answered")
    wait_idle(nvim)
    return [*titles.values()]

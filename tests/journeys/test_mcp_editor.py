"""Real agents use the MCP server `editor`."""

from tests.journeys.agents import RealAgent
from tests.journeys.answers import ask_first, choose, prompt
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Value
from tests.ui.talk import lines_of, wait_idle, wait_line
from tests.ui.test_editor_services import finding, published

READ = "I have read it"


def test_an_agent_reads_diagnostics(start_nvim: StartNeovim, agent: RealAgent) -> None:
    agent.needs("mcp")
    settings = agent.settings
    settings["servers"][agent.name]["mcp"] = {"editor": True}
    nvim = start_nvim(settings=settings, columns=120, lines=40)
    published(nvim, nvim.launch.cwd / "README.md", finding("a word too much", 2, 2))
    nvim.keys(":EcaChat<CR>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    ask_first(nvim, agent)
    prompt(nvim, {"diagnose": "README.md"}, {"say": READ})
    for request in nvim.wait_for(lambda: asked(nvim), "a request, or the answer")[0]:
        choose(nvim, request, "allow_once")
    wait_line(nvim, READ)
    wait_idle(nvim)
    assert "README.md:3:2: warning: a word too much" in nvim.lua(
        "return require('eca').transcript()"
    )


def asked(nvim: Neovim) -> tuple[list[Value]] | None:
    """Return what waits for the user, once something does or the turn goes on: not all ask."""
    pending = nvim.lua("return require('eca').pending()")
    goes_on = any(READ in line for line in lines_of(nvim))
    return (list(pending),) if pending or goes_on else None

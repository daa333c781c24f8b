"""An ACP agent through the whole plugin: text, a request answered by number, a stop, its end."""

from pathlib import Path
from typing import Any

from tests.support import acp_script as agent
from tests.support import script
from tests.support.factories import StartNeovim
from tests.support.servers import ScriptedServer, scripted_acp
from tests.ui.talk import lines_of, say, wait_idle, wait_line

RUN: dict[str, Any] = {
    "title": "Run the tests",
    "kind": "execute",
    "rawInput": {"command": "make test"},
}
DONE = agent.update("tool_call_update", toolCallId="t1", status="completed")
WATCH = """
vim.g.reasons = {}
vim.api.nvim_create_autocmd('User', {
  pattern = 'EcaTurnFinished',
  callback = function(event)
    vim.g.reasons = vim.list_extend(vim.g.reasons, { event.data.reason })
  end,
})
"""


def prompts(server: ScriptedServer) -> list[str]:
    return [it["params"]["prompt"][0]["text"] for it in server.received("session/prompt")]


def test_an_agent_talks_asks_and_can_be_stopped(start_nvim: StartNeovim, tmp_path: Path) -> None:
    server = scripted_acp(
        [
            *agent.handshake(),
            *agent.session(),
            *agent.turn(agent.text("Hello from ", "an agent.")),
            *agent.turn(agent.permission("t1", 1, **RUN), DONE, agent.text("It was allowed.")),
            *agent.turn(
                agent.text("I begin."), agent.permission("t2", 2, **RUN), ends="cancelled"
            ),
            *agent.turn(agent.text("The one that waited.")),
            *agent.turn(agent.permission("t3", 3, **RUN), agent.text("I go on."),
                        script.expect("session/cancel"), ends="cancelled"),
            *agent.turn(agent.text("With pytest, then.")),
            *agent.turn(agent.permission("t4", 4, **RUN), agent.text("It was trusted.")),
            *(*script.expect("session/prompt"), *script.stderr("no memory\n"), *script.leave(3)),
        ],
        tmp_path / "agent",
    )  # fmt: skip
    servers = {"replay": {"command": server.command, "protocol": "acp"}}
    settings = {"server": "replay", "servers": servers, "approval": {"guard": 0}}
    nvim = start_nvim(settings=settings, columns=120, lines=40)
    nvim.lua(WATCH)
    nvim.keys(":EcaChat hello<CR>")
    wait_line(nvim, "Hello from an agent.")

    nvim.keys(":EcaChat run<CR>")
    screen = nvim.wait_screen("Always for this user")
    assert "make test" in screen
    nvim.keys(":Eca choose 3<CR>")
    wait_line(nvim, "It was allowed.")
    wait_line(nvim, "✓ $ make test")
    wait_idle(nvim)
    assert server.answers()[-1]["result"]["outcome"] == {"outcome": "selected", "optionId": "o3"}

    nvim.keys(":EcaChat again<CR>")
    nvim.wait_screen("Always for this user")
    nvim.keys(":EcaChat and this waits<CR>")
    nvim.wait_screen("and this waits")
    assert prompts(server)[-1] == "again"
    nvim.keys(":Eca stop<CR>")
    nvim.wait_for(lambda: prompts(server)[-1] == "and this waits", "the prompt that waited")
    assert server.answers()[-1]["result"]["outcome"] == {"outcome": "cancelled"}
    wait_line(nvim, "The one that waited.")
    wait_idle(nvim)

    nvim.keys(":EcaChat test it<CR>")
    nvim.wait_screen("Always for this user")
    nvim.keys(":Eca reject use pytest<CR>")
    wait_line(nvim, "With pytest, then.")
    wait_idle(nvim)
    assert prompts(server)[-1] == "use pytest"
    assert nvim.eval("g:reasons") == ["done", "done", "stopped", "done", "stopped", "done"]

    nvim.keys(":Eca trust<CR>:EcaChat go<CR>")
    wait_line(nvim, "It was trusted.")
    assert server.answers()[-1]["result"]["outcome"] == {"outcome": "selected", "optionId": "o1"}
    wait_idle(nvim)

    say(nvim, "the last")
    wait_line(nvim, "the agent ended, exit code 3: your next prompt")
    wait_line(nvim, "It wrote: no memory")
    assert nvim.eval("g:reasons")[-1] == "gone"
    nvim.keys(":Eca restart<CR>")
    wait_line(nvim, "it does not know what was said before")
    nvim.keys(":EcaChat hello again<CR>")
    nvim.wait_for(lambda: "\n".join(lines_of(nvim)).count("Hello from") == 2, "another answer")

"""The panel of tools on the screen: what is allowed there, and what each tool does."""

from pathlib import Path

import pytest
from tests.agents.acp.terminal_turns import create
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import content, expect, handshake, send, turn
from tests.ui.talk import say, wait_idle
from tests.ui.test_acp_terminals import terminal_chat

HOSTILE = "%{1}\x1b[31m\u202eevil\n" + "long" * 30
SCHEMA = {"properties": {"text": {"type": "string", "description": "What to say"}}}
ECHO = {"name": "echo", "description": "Echo a text.\nThe whole of it.", "parameters": SCHEMA}
TOOLS = (
    *send("tool/serverUpdated", {"name": "ECA", "type": "native", "tools": [{"name": HOSTILE}]}),
    *send(
        "tool/serverUpdated",
        {"name": "mock", "type": "mcp", "status": "running", "tools": [ECHO]},
    ),
)
CALL = {"id": "t1", "name": "echo", "server": "mock", "origin": "mcp", "arguments": {"text": "x"}}
ASKS = content({"type": "toolCallRun", "manualApproval": True, **CALL})


@pytest.mark.either_nvim
def test_what_was_always_allowed_is_shown_and_trust_is_taken_back(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    steps = (*TOOLS, *turn(ASKS, expect("chat/toolCallApprove")))
    server = scripted_server(handshake(), steps, expect("chat/update"), expect("chat/update"))
    nvim = start_nvim(settings={"server": {"command": server.command}}, columns=80)
    nvim.keys(":EcaChat go<CR>")
    nvim.wait_screen("A always")
    nvim.command("Eca approve!")
    nvim.wait_until("require('eca').status().state == 'idle'")
    nvim.keys("<Esc>:Eca tools<CR>")
    screen = nvim.wait_screen(
        "allowed  any echo on any server in all chats, until the server ends (:Eca"
    )
    assert "echo                     allowed  Echo a text." in screen
    assert "\u202e" not in screen
    nvim.keys("/^  echo<CR><CR>")
    nvim.wait_screen("The whole of it.")
    nvim.keys("G")
    screen = nvim.wait_screen("text                 string           What to say")
    assert "always allowed in this session (until the server restarts)" in screen
    nvim.keys("x")
    nvim.wait_screen("x does nothing on this row")
    nvim.command("Eca trust on")
    nvim.keys("gg")
    nvim.wait_screen("trust    all tools run without asking in")
    nvim.keys("ggx")
    nvim.wait_until("not require('eca').status().trust")
    (_, echo) = nvim.lua("return require('eca').tools()")
    assert (echo["mcp"], echo["server_name"], echo["disabled"]) == ("mock", "eca", False)


@pytest.mark.either_nvim
def test_five_thousand_tools_are_there_at_once(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    tools = [{"name": f"tool {number}", "description": "Does it. " * 30} for number in range(5000)]
    steps = send("tool/serverUpdated", {"name": "many", "type": "mcp", "tools": tools})
    server = scripted_server(handshake(), steps)
    nvim = start_nvim(settings={"server": {"command": server.command}}, columns=80)
    nvim.keys(":EcaChat<CR><Esc>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    nvim.keys(":Eca tools<CR>")
    nvim.wait_screen("tools: 5000")
    nvim.wait_until("vim.api.nvim_buf_line_count(0) > 5000")


@pytest.mark.either_nvim
def test_what_an_acp_agent_may_do_is_taken_back_at_once(
    start_nvim: StartNeovim, tmp_path: Path
) -> None:
    turns = ([create("echo hi")], [create("echo hi")], [create("echo hi")])
    nvim, _ = terminal_chat(start_nvim, tmp_path / "agent", *turns)
    say(nvim, "go")
    nvim.wait_screen("Always in this chat: this command here")
    nvim.command("Eca choose 2")
    wait_idle(nvim)
    say(nvim, "go on")
    wait_idle(nvim)  # it is not asked about
    nvim.keys("<Esc>:Eca tools<CR>")
    nvim.wait_screen("allowed  this command here: echo hi")
    nvim.keys("x")
    nvim.wait_until("vim.fn.search('this command here', 'nw') == 0")
    nvim.keys("q")
    say(nvim, "again")
    nvim.wait_screen("Always in this chat: this command here")

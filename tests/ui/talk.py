"""A chat with the whole plugin, and the messages of a server about tools."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.script import Steps, content, expect, status
from tests.support.servers import ScriptedServer

Value: TypeAlias = Any

LINES = """
local eca = require('eca')
local chat = ... or require('eca').status().chat
for _, known in ipairs(eca.chats()) do
  if known.id == chat then
    return vim.api.nvim_buf_get_lines(known.buf, 0, -1, true)
  end
end
"""
HOST = """
vim.iter(vim.api.nvim_list_chans()):map(function(it)
  return it.stream == 'job' and it.mode == 'rpc' and vim.fn.jobpid(it.id) or nil
end):next()
"""
DRAFT = """
local chat = require('eca.chat.buffers').get(require('eca').status().chat)
return table.concat(vim.api.nvim_buf_get_lines(chat.input, 0, -1, true), '\\n')
"""


def start_chat(
    start_nvim: StartNeovim,
    server: ScriptedServer | list[str],
    *arguments: str,
    settings: Mapping[str, Value] | None = None,
    columns: int = 120,
    lines: int = 30,
    **more: Value,
) -> Neovim:
    """Start Neovim with a server, and open the chat."""
    command = server.command if isinstance(server, ScriptedServer) else server
    options = {"server": {"command": command}, **(settings or {})}
    nvim = start_nvim(*arguments, settings=options, columns=columns, lines=lines, **more)
    nvim.keys(":EcaChat<CR>")
    return nvim


def host_of(nvim: Neovim) -> int:
    """Wait for Neovim's host and return its process id; its children look like it at first."""
    return int(nvim.wait_until(HOST))


def say(nvim: Neovim, text: str) -> None:
    """Type a prompt in the input, the current window, and send it."""
    nvim.keys(f"i{text}<C-s><Esc>")


def wait_idle(nvim: Neovim) -> None:
    """Wait until no turn runs."""
    nvim.wait_until("require('eca').status().state == 'idle'")


def lines_of(nvim: Neovim) -> list[str]:
    """Return the text of the current chat's transcript."""
    lines: list[str] = nvim.lua(LINES)
    return lines


def wait_line(nvim: Neovim, text: str) -> None:
    """Wait until a line of the transcript has a text."""
    nvim.wait_for(lambda: any(text in line for line in lines_of(nvim)), f"a line with {text!r}")


def draft(nvim: Neovim) -> str:
    """Return the text of the chat's input."""
    return str(nvim.lua(DRAFT))


def wait_kept(nvim: Neovim, text: str) -> None:
    """Wait until a text was saved: a draft, or the id of a session."""
    state = Path(nvim.eval("$XDG_STATE_HOME"))
    nvim.wait_for(
        lambda: any(text.encode() in kept.read_bytes() for kept in state.rglob("*.msgpack")),
        f"{text!r} to be kept",
    )


def catch_up(nvim: Neovim) -> None:
    """Wait until the host has handled all intents."""
    nvim.wait_until("require('eca').transcript()")


def prompts(server: ScriptedServer) -> list[str]:
    """Return the prompts that the server got."""
    return [it["params"]["message"] for it in server.received("chat/prompt")]


def tool(kind: str, call: str = "call-1", name: str = "grep", **fields: Value) -> Steps:
    """Send one content about a tool call; `kind` is its type without `toolCall`."""
    types = {"ed": "toolCalled"}
    base = {"id": call, "name": name, "server": "eca", "origin": "native"}
    return content({"type": types.get(kind, f"toolCall{kind}"), **base, **fields})


def asks(call: str = "call-1", name: str = "grep", **fields: Value) -> Steps:
    """Send a tool call that waits for approval."""
    fields.setdefault("arguments", {"pattern": call, "path": "src"})
    return tool("Run", call, name, manualApproval=True, **fields)


def done(call: str = "call-1", output: str = "found", name: str = "grep", **fields: Value) -> Steps:
    """Send the result of a tool call."""
    fields.setdefault("arguments", {"pattern": call, "path": "src"})
    outputs = [{"type": "text", "text": output}]
    result = {"error": False, "outputs": outputs, "totalTimeMs": 70}
    return tool("ed", call, name, **(result | fields))


def next_turn_works() -> Steps:
    """Wait for another prompt, and answer it briefly."""
    return [*expect("chat/prompt"), *status("running"), *status("idle")]

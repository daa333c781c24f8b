"""A form and a link of an ACP agent in a Neovim of 80 columns; the agent is the official SDK's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support import acp_agent, servers
from tests.support.editor import Neovim
from tests.support.factories import AssertScreen, StartNeovim
from tests.support.screen import Screen
from tests.ui.talk import lines_of, wait_idle, wait_line

pytestmark = pytest.mark.either_nvim

KEY = "s3cret-ŦŊĦ"
TOOLS = [
    {"const": "ruff", "title": "ruff"},
    {"const": "mypy", "title": "mypy", "description": "types"},
    {"const": "pytest", "title": "pytest"},
]
LICENCES = [
    {"const": "mit", "title": "MIT", "description": "short and permissive"},
    {"const": "gpl", "title": "GPL 3", "description": "copyleft"},
]
FIELDS: dict[str, Any] = {
    "name": {
        "type": "string",
        "title": "Project name",
        "description": "Lower-case letters and dashes.",
        "minLength": 3,
        "pattern": "^[a-z-]+$",
    },
    "licence": {"type": "string", "title": "Licence", "oneOf": LICENCES},
    "port": {"type": "integer", "title": "Port", "minimum": 1024, "default": 8080},
    "tests": {"type": "boolean", "title": "Write tests?"},
    "token": {"type": "string", "title": "API token", "format": "password"},
    "tools": {"type": "array", "title": "Tools", "items": {"anyOf": TOOLS}, "minItems": 1},
}
FORM: dict[str, Any] = {
    "sessionId": acp_agent.SESSION,
    "mode": "form",
    "message": "Before I set up the project I need a few things.",
    "requestedSchema": {"properties": FIELDS, "required": ["name", "tests"]},
}
URL = f"https://accounts.example.com/authorize?client=abc&state={'0123456789' * 6}"
LINK: dict[str, Any] = {
    "sessionId": acp_agent.SESSION,
    "mode": "url",
    "message": "Sign in, please.",
    "elicitationId": "e1",
    "url": URL,
}
OPENER = "_G.opened = {} vim.ui.open = function(it) table.insert(_G.opened, it) end"
BUFFERS = """
return vim.tbl_map(function(buf)
  return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\\n')
end, vim.api.nvim_list_bufs())
"""


def asks(params: dict[str, Any]) -> dict[str, Any]:
    return {"request": ["elicitation/create", params]}


def start(start_nvim: StartNeovim, folder: Path) -> Neovim:
    """Open a chat with an agent that asks for a form, then for a link."""
    script = folder / "script.json"
    script.write_text(json.dumps({"turns": [[asks(FORM)], [asks(LINK)]]}))
    command = servers.acp_agent(script, folder / "report.jsonl")
    agents = {"scripted": {"command": command, "protocol": "acp"}}
    settings = {"server": "scripted", "servers": agents, "approval": {"guard": 0}}
    return start_nvim(settings=settings, columns=80, lines=40)


def answers(folder: Path) -> list[Any]:
    """Return what the agent got, if the SDK finds it valid."""
    report = map(json.loads, (folder / "report.jsonl").read_text().splitlines())
    found = [it for it in report if "answer" in it]
    from tests.support.acp_models import faults

    assert not [*faults(found)]
    return [it["answer"] for it in found]


def is_hidden(screen: Screen) -> bool:
    return "(hidden): ****" in screen and "s3cret" not in screen


def test_a_form_is_filled_in_field_by_field(
    start_nvim: StartNeovim, tmp_path: Path, assert_screen: AssertScreen
) -> None:
    nvim = start(start_nvim, tmp_path)
    nvim.keys(":EcaChat set it up<CR>")
    nvim.wait_screen("the agent asks · 1 of 6")
    nvim.wait_screen("Answer> type an answer · <C-s> sends")

    nvim.keys(":EcaChat<CR>iab<C-s>")  # too short: it comes back, to be corrected
    nvim.wait_screen("! it must be a text of at least 3 characters, it has 2")
    nvim.wait_screen("Answer> ab")
    nvim.keys("c<C-s>")
    nvim.wait_screen("2 of 6")
    nvim.wait_screen("empty: skip")

    nvim.keys("<Esc>g<CR>")
    nvim.wait_screen("1-2 choose")
    assert_screen(nvim, "form")
    nvim.keys("2")
    nvim.wait_screen("3 of 6")
    nvim.wait_screen("<CR> take 8080")
    nvim.keys("<CR>")
    nvim.wait_screen("y yes  n no  i type answer  b back")
    nvim.keys("y")
    nvim.wait_screen("5 of 6")
    nvim.keys("b")
    nvim.wait_screen("an empty answer: take yes")
    nvim.keys("n")
    nvim.wait_screen("5 of 6")

    nvim.keys("i")
    nvim.input(KEY)
    nvim.wait_screen(is_hidden)
    nvim.input("<CR>")
    nvim.wait_screen("6 of 6")

    nvim.keys("<Esc>g<CR>")
    nvim.wait_screen("1-3 pick")
    nvim.keys("132<Space>2")  # picks all three, takes the line under the cursor back, and 2
    nvim.keys("/mypy<CR><Space>")
    nvim.wait_screen("✓ 2 mypy")
    nvim.keys("<CR>")
    wait_idle(nvim)
    wait_line(nvim, "→ abc, GPL 3, 8080, no, *****, ruff, mypy, pytest")
    assert answers(tmp_path) == [
        {
            "action": "accept",
            "content": {
                "name": "abc",
                "licence": "gpl",
                "port": 8080,
                "tests": False,
                "token": KEY,
                "tools": ["ruff", "mypy", "pytest"],
            },
        }
    ]
    assert not any(KEY in text for text in nvim.lua(BUFFERS))
    nvim.wait_screen("> type here")

    nvim.lua(OPENER)
    nvim.keys(":EcaChat sign in<CR>")
    screen = nvim.wait_screen("host: accounts.example.com")
    assert "1 open this page  x decline  q hide" in screen
    assert URL in "".join(line.strip("│↳ ") for line in screen.lines())  # wrapped, but whole
    assert nvim.lua("return _G.opened") == []
    nvim.keys(":EcaChat<CR>g<CR>1")
    nvim.wait_until("#_G.opened > 0")
    assert nvim.lua("return _G.opened") == [URL]
    wait_line(nvim, "✓ Sign in, please. → opened")
    nvim.wait_for(lambda: answers(tmp_path)[1:] == [{"action": "accept"}], "the consent")
    assert "Project name → abc" not in lines_of(nvim)  # folded

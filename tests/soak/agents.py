"""The servers of a soak: the demo agent in both protocols, scripts, recordings, and a keeper."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from tests.demo.client import DEMO, WITHOUT_PAUSES
from tests.support.script import (
    Steps,
    ask,
    content,
    handshake,
    pause,
    send,
    stream,
    text,
    turn,
    write,
)
from tests.support.servers import module_command, replay, replay_acp, scripted
from tests.ui.talk import asks, done

Value: TypeAlias = Any

ACP_DEMO = """
import asyncio, sys
from eca_nvim.demo import __main__ as demo, acp
acp.INTRODUCTION["agentCapabilities"]["sessionCapabilities"]["delete"] = {}
make = acp.AcpWire.__init__
def made(self, workshop):
    make(self, workshop)
    self.handlers = {**self.handlers, "session/delete": lambda params: {}}
acp.AcpWire.__init__ = made
sys.exit(asyncio.run(demo.serve()))
"""
"""The demo agent of the other protocol, which can delete chats: else they all stay."""
TURNS = 60
"""Turns of a script; afterwards its server answers nothing, and is ended when all rest."""
HOSTILE = (
    "%{system('false')} <C-c> \x1b[31mred\x1b[0m \u202eback\u202c \0nul \x07",
    "\n```lua\nfor i = 1, 10 do print(i) end\n```\n",
    "| a | b |\n|---|---|\n| 1 | " + "wide " * 40 + "|\n\n",
    "x" * 3000 + "\n",
    "vim: set ft=sh:\n",
)
RECORDED = ("ask", "edit_approved", "read", "shell", "subagent", "task", "think", "jobs", "mcp")
RECORDED_ACP = (
    *("codex-shell", "claudezed-edit-diff", "qwen-edit-diff", "qwen-long", "vibe-todo"),
    "sdkexample-perm-allow-once",
)


def _script(project: Path) -> Steps:
    """Return turns of all kinds, one after the other: long ones, calls, questions, files."""
    question = {"chatId": "$chat", "question": "Which?", "requestId": "q", "allowFreeform": True}
    steps = [*handshake()]
    for number in range(TURNS):
        call, file = f"call-{number}", project / "src" / "calc.py"
        args = {"path": str(file), "original_content": "a", "new_content": "b"}
        kinds = (
            [*text(*HOSTILE)],
            [*stream(3000, ("some ", "**words** ", "of `code`\n"))],
            [*stream(60, ("slow ", "words\n"), rate=40)],
            [*asks(call), *pause(400), *done(call)],  # answered or not, it goes on
            [*asks(call, "edit_file", arguments=args), *pause(600), *done(call, name="edit_file")],
            [*ask("chat/askQuestion", question, number)],
            [*write(file, f"a = {number}\n"), *done(call, name="write_file")],
            [*content({"type": "reasonStarted", "id": call}), *text("after a thought")],
            [*send("jobs/updated", {"jobs": []}), *text("no jobs")],
        )
        steps += turn(kinds[number % len(kinds)])
    return steps


def servers(home: Path, project: Path) -> Mapping[str, Value]:
    """Return the option `servers`; their files go to `home`."""
    kept = home / "sessions"
    kept.mkdir(parents=True, exist_ok=True)
    keeper = module_command("tests.support.acp_keeper", str(kept))
    script = scripted(_script(project), home / "script")
    recorded = {name: {"command": replay(name, home).command} for name in RECORDED}
    recorded_acp = {name: {"command": replay_acp(name, home).command} for name in RECORDED_ACP}
    return {
        "soak": {"command": [sys.executable, *DEMO]},
        "quick": {"command": [sys.executable, *WITHOUT_PAUSES]},
        "acp": {"command": [sys.executable, "-c", ACP_DEMO, "--acp"], "protocol": "acp"},
        "script": {"command": module_command("tests.soak.script_server", *script.command[-2:])},
        "keeper": {"command": keeper, "protocol": "acp"},
        **recorded,
        **{name: {**it, "protocol": "acp"} for name, it in recorded_acp.items()},
    }


CHAT_SERVERS = ("soak",) * 6 + ("quick",) * 4 + ("acp",) * 4 + ("script",) * 4 + ("keeper",) * 2
"""Whom new chats talk to, as often as they are here."""

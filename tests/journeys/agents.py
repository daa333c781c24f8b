"""The real agents, each with a home of its own and the scripted model."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from tests.support.launch import REPOSITORY

from scripts.setup import agents

FOLDER = REPOSITORY / ".cache" / "agents"
KEY = "sk-scripted-model"


@dataclass(frozen=True)
class RealAgent:
    """How an agent is started, and the names of its modes in which it asks, and does not ask.

    streams: it sends the output of a command while that runs. edits_buffers: it reads and writes
    files through Neovim.
    """

    name: str
    command: list[str]
    env: Mapping[str, str]
    asks_in: str | None = None
    asks_nothing_in: str | None = None
    streams: bool = False
    edits_buffers: bool = False

    @property
    def settings(self) -> dict[str, Any]:
        """The plugin's options for it."""
        server = {"command": self.command, "env": self.env, "protocol": "acp"}
        return {"servers": {self.name: server}, "server": self.name}


Make: TypeAlias = Callable[[Path, int], RealAgent]


def _env(home: Path, port: int) -> dict[str, str]:
    return {
        "HOME": str(home),
        "PATH": f"{agents.node(FOLDER).parent}:{os.environ['PATH']}",
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1",
        "OPENAI_MODEL": "scripted",
    }


def qwen(home: Path, port: int) -> RealAgent:
    """Qwen Code; it starts in a mode that asks for little."""
    program = FOLDER / "node_modules" / ".bin" / "qwen"
    command = [str(program), "--acp", "--auth-type=openai"]
    return RealAgent("qwen", command, _env(home, port), "Default", "YOLO", edits_buffers=True)


CODEX = """
model = "scripted"
model_provider = "scripted"
approval_policy = "untrusted"
sandbox_mode = "danger-full-access"

[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:{port}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
"""


def codex(home: Path, port: int) -> RealAgent:
    """Codex, through its adapter. Its sandbox needs a program that not every machine has.

    With these settings it always asks, and has no modes.
    """
    (home / "config.toml").write_text(CODEX.format(port=port))
    program = FOLDER / "node_modules" / ".bin" / "codex-acp"
    env = _env(home, port) | {"CODEX_HOME": str(home)}
    return RealAgent("codex", [str(program)], env, streams=True)


AGENTS: tuple[Make, ...] = (qwen, codex)


def example() -> RealAgent:
    """Return the example of the protocol's own SDK: it needs no model, and always does the same."""
    program = FOLDER / "node_modules/@agentclientprotocol/sdk/dist/examples/agent.js"
    return RealAgent("example", [str(agents.node(FOLDER)), str(program)], {})

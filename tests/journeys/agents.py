"""The real agents, each with a home of its own and the scripted model.

`AGENTS` is the table: how an agent is started, and what the journeys have to know of it. A journey
that an agent cannot take is in `lacks`, with the reason.
"""

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.support.launch import REPOSITORY

from scripts.setup import agents

FOLDER = REPOSITORY / ".cache" / "agents"
KEY = "sk-scripted-model"
MODEL = "scripted"


@dataclass(frozen=True)
class RealAgent:
    """How an agent is started, and what the journeys have to know of it.

    asks_in, asks_nothing_in: the names of its modes in which it asks, and does not ask. streams: it
    sends the output of a command while that runs. edits_buffers: it reads and writes files through
    Neovim. steers: what is sent in a turn ends what it says, and is read. lacks: journeys that it
    cannot take, and why. forgets_at_once: a session that is opened again in the minute in which it
    began is emptied.
    """

    name: str
    command: list[str]
    env: Mapping[str, str]
    asks_in: str | None = None
    asks_nothing_in: str | None = None
    streams: bool = False
    edits_buffers: bool = False
    steers: bool = False
    lacks: Mapping[str, str] = field(default_factory=dict)
    forgets_at_once: bool = False

    @property
    def settings(self) -> dict[str, Any]:
        """The plugin's options for it."""
        server = {"command": self.command, "env": self.env, "protocol": "acp"}
        return {"servers": {self.name: server}, "server": self.name}

    def needs(self, journey: str) -> None:
        """Skip the journey if the agent cannot take it."""
        if journey in self.lacks:
            pytest.skip(f"{self.name}: {self.lacks[journey]}")


@dataclass(frozen=True)
class Home:
    """Where an agent lives.

    port: that of the scripted model. is_plain: nothing is configured but the model, as after an
    installation; else the agent is made to ask, where that is not its way.
    """

    path: Path
    port: int
    is_plain: bool = False

    @property
    def url(self) -> str:
        """The scripted model."""
        return f"http://127.0.0.1:{self.port}"

    def write(self, name: str, content: str | Mapping[str, Any]) -> None:
        """Write a file of settings."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))

    def env(self, **more: str) -> dict[str, str]:
        """Return an environment in which nothing of the user's is found."""
        return {
            "HOME": str(self.path),
            "XDG_CONFIG_HOME": str(self.path / ".config"),
            "XDG_DATA_HOME": str(self.path / ".local" / "share"),
            "XDG_STATE_HOME": str(self.path / ".local" / "state"),
            "XDG_CACHE_HOME": str(self.path / ".cache"),
            "PATH": f"{agents.node(FOLDER).parent}:{os.environ['PATH']}",
            "OPENAI_API_KEY": KEY,
            **more,
        }


Make: TypeAlias = Callable[[Home], RealAgent]


def _npm(agent: str, program: str) -> str:
    return str(FOLDER / agent / "node_modules" / ".bin" / program)


def _script(agent: str, program: str) -> list[str]:
    """Return how a program of a Python package starts, also after its folder was moved."""
    folder = FOLDER / agent / "bin"
    return [str(folder / "python"), str(folder / program)]


def _binary(agent: str, pattern: str) -> str:
    """Return a program that a package for this machine has: no script of a package has run."""
    found = sorted((FOLDER / agent / "node_modules").glob(pattern))
    return str(found[0] if found else FOLDER / agent / pattern)


def claude(home: Home) -> RealAgent:
    """Claude Code, through its adapter. As root it offers the mode that allows all in a sandbox."""
    env = home.env(
        ANTHROPIC_API_KEY=KEY,
        ANTHROPIC_BASE_URL=home.url,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        IS_SANDBOX="1",
    )
    lacks = {"mcp": "its model has to search for the tools of an MCP server first"}
    command = [_npm("claude", "claude-agent-acp")]
    return RealAgent(
        "claude", command, env, "Manual", "Bypass permissions", steers=True, lacks=lacks
    )


CODEX = """
model = "{model}"
model_provider = "scripted"

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
"""


def _codex_home(home: Home) -> dict[str, str]:
    """Write its settings. Its sandbox needs a program that not every machine has."""
    home.write("config.toml", CODEX.format(model=MODEL, url=home.url))
    return home.env(CODEX_HOME=str(home.path))


def codex(home: Home) -> RealAgent:
    """Codex, through its adapter."""
    command = [_npm("codex", "codex-acp")]
    modes = ("Read-only", "Full access")
    return RealAgent("codex", command, _codex_home(home), *modes, streams=True, steers=True)


def codex_zed(home: Home) -> RealAgent:
    """Codex, through the adapter that came first."""
    lacks = {"fork": "it cannot fork"}
    if shutil.which("bwrap") is None:
        lacks["edit"] = "its sandbox needs bubblewrap, which is not installed"
    command = [_npm("codex-zed", "codex-acp")]
    env = _codex_home(home)
    return RealAgent(
        "codex-zed", command, env, "Read Only", "Full Access", streams=True, lacks=lacks
    )


def copilot(home: Home) -> RealAgent:
    """Copilot, with a model of one's own."""
    env = home.env(
        COPILOT_PROVIDER_BASE_URL=f"{home.url}/v1",
        COPILOT_PROVIDER_TYPE="openai",
        COPILOT_PROVIDER_API_KEY=KEY,
        COPILOT_MODEL=MODEL,
        COPILOT_OFFLINE="true",
        COPILOT_AUTO_UPDATE="false",
    )
    command = [_npm("copilot", "copilot"), "--acp"]
    lacks = {
        "fork": "it cannot fork",
        "mcp": "without an account it gives its model no tools of MCP servers",
    }
    return RealAgent("copilot", command, env, "Agent", "Autopilot", streams=True, lacks=lacks)


def fast_agent(home: Home) -> RealAgent:
    """Fast-agent; it runs commands in terminals of ours."""
    home.write("fast-agent.yaml", f"generic:\n  api_key: {KEY}\n  base_url: {home.url}/v1\n")
    settings = ["-c", str(home.path / "fast-agent.yaml"), "--model", f"generic.{MODEL}"]
    return RealAgent(
        "fast-agent",
        [*_script("fast-agent", "fast-agent-acp"), *settings, "--shell"],
        home.env(),
        streams=True,
        edits_buffers=True,
        lacks={
            "mode": "it has one mode",
            "edit": "it has no tool that edits",
            "fork": "it cannot fork",
        },
    )


def gemini(home: Home) -> RealAgent:
    """Gemini CLI. Some of its modes are refused in a folder that is not trusted.

    At its start it deletes old sessions, and with them each that was loaded once, unless told not.
    """
    home.write(
        ".gemini/settings.json",
        {
            "security": {
                "auth": {"selectedType": "gemini-api-key"},
                "folderTrust": {"enabled": False},
            },
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"disableAutoUpdate": True, "sessionRetention": {"enabled": False}},
        },
    )
    return RealAgent(
        "gemini",
        [_npm("gemini", "gemini"), "--acp", "--model", "gemini-2.5-pro"],
        home.env(GEMINI_API_KEY=KEY, GOOGLE_GEMINI_BASE_URL=home.url),
        "Default",
        "YOLO",
        edits_buffers=True,
        lacks={"output": "it sends no output", "fork": "it cannot fork"},
        forgets_at_once=True,
    )


def goose(home: Home) -> RealAgent:
    """Goose; it runs commands in terminals of ours, and says its version nowhere."""
    env = home.env(
        GOOSE_PROVIDER="openai",
        GOOSE_MODEL=MODEL,
        GOOSE_DISABLE_KEYRING="1",
        OPENAI_HOST=home.url,
    )
    return RealAgent(
        "goose",
        [_binary("goose", "@aaif/goose-binary-*/bin/goose"), "acp"],
        env,
        "approve",
        "auto",
        streams=True,
        edits_buffers=True,
        lacks={"fork": "it cannot fork"},
    )


def opencode(home: Home) -> RealAgent:
    """OpenCode; it asks only if its settings say so."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Scripted",
        "options": {"baseURL": f"{home.url}/v1", "apiKey": KEY},
        "models": {MODEL: {"name": "Scripted"}},
    }
    asks = {} if home.is_plain else {"permission": {"bash": "ask", "edit": "ask"}}
    home.write(
        ".config/opencode/opencode.json",
        {
            "autoupdate": False,
            "share": "disabled",
            "model": f"scripted/{MODEL}",
            "small_model": f"scripted/{MODEL}",
            "provider": {"scripted": provider},
            **asks,
        },
    )
    return RealAgent(
        "opencode",
        [_binary("opencode", "opencode-*/bin/opencode"), "acp"],
        home.env(OPENCODE_DISABLE_MODELS_FETCH="1", OPENCODE_DISABLE_LSP_DOWNLOAD="1"),
        streams=True,
        lacks={"mode": "what it asks is no matter of its mode"},
    )


def qwen(home: Home) -> RealAgent:
    """Qwen Code; it starts in a mode that asks for little."""
    command = [_npm("qwen", "qwen"), "--acp", "--auth-type=openai"]
    env = home.env(OPENAI_BASE_URL=f"{home.url}/v1", OPENAI_MODEL=MODEL)
    lacks = {"fork": "it cannot fork"}
    return RealAgent("qwen", command, env, "Default", "YOLO", edits_buffers=True, lacks=lacks)


VIBE = """
active_model = "scripted"
enable_update_checks = false
enable_telemetry = false

[[providers]]
name = "scripted"
api_base = "{url}/v1"
api_key_env_var = "OPENAI_API_KEY"
api_style = "openai"
backend = "generic"

[[models]]
name = "{model}"
provider = "scripted"
alias = "scripted"
"""


def vibe(home: Home) -> RealAgent:
    """Mistral Vibe; it starts in a mode that changes files unasked."""
    home.write(".vibe/config.toml", VIBE.format(url=home.url, model=MODEL))
    env = home.env(VIBE_HOME=str(home.path / ".vibe"), MISTRAL_API_KEY=KEY)
    lacks = {
        "mcp": "its model has to search for the tools of an MCP server first",
        "end": "a command that is not the first of its session goes on after a stop",
    }
    return RealAgent("vibe", _script("vibe", "vibe-acp"), env, "Ask", "Auto Approve", lacks=lacks)


AGENTS: Mapping[str, Make] = {
    "claude": claude,
    "codex": codex,
    "codex-zed": codex_zed,
    "copilot": copilot,
    "fast-agent": fast_agent,
    "gemini": gemini,
    "goose": goose,
    "opencode": opencode,
    "qwen": qwen,
    "vibe": vibe,
}
"""Agents that run without an account, by the name that `scripts.setup.agents` gives them."""


def make(name: str, home: Home) -> RealAgent:
    """Prepare the home of an agent; skip what needs it if it is not installed."""
    if agents.installed(FOLDER, name) is None:
        pytest.skip(f"{name} is left out: {agents.why_absent(FOLDER, name)}")
    home.path.mkdir(parents=True, exist_ok=True)
    return AGENTS[name](home)


def example() -> RealAgent:
    """Return the example of the protocol's own SDK: it needs no model, and always does the same."""
    if agents.installed(FOLDER, "example") is None:
        pytest.skip(f"the example is left out: {agents.why_absent(FOLDER, 'example')}")
    program = FOLDER / "example/node_modules/@agentclientprotocol/sdk/dist/examples/agent.js"
    return RealAgent("example", [str(agents.node(FOLDER)), str(program)], {})

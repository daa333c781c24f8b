"""Known agents: their commands, and how to install them.

Rule kept here: this saves typing and nothing else. An agent that is not in the table works as well,
by its command and `protocol = 'acp'`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

ACP: Final = "acp"
"""The protocol that all of them speak."""


class KnownAgent(NamedTuple):
    """An agent: its command line, and how to install it, for the end of a sentence."""

    command: tuple[str, ...]
    install: str


KNOWN: Final[Mapping[str, KnownAgent]] = {
    "claude": KnownAgent(
        ("claude-agent-acp",), "install it by npm install -g @agentclientprotocol/claude-agent-acp"
    ),
    "codex": KnownAgent(
        ("codex-acp",), "install it by npm install -g @agentclientprotocol/codex-acp"
    ),
    "copilot": KnownAgent(("copilot", "--acp"), "install it by npm install -g @github/copilot"),
    "gemini": KnownAgent(("gemini", "--acp"), "install it by npm install -g @google/gemini-cli"),
    "goose": KnownAgent(("goose", "acp"), "install it, see https://github.com/block/goose"),
    "opencode": KnownAgent(("opencode", "acp"), "install it by npm install -g opencode-ai"),
    "qwen": KnownAgent(("qwen", "--acp"), "install it by npm install -g @qwen-code/qwen-code"),
}
"""Agents by the name of their server; `lua/eca/state/servers.lua` has the programs."""

"""Commands: what a prompt may begin with, as `/name` and an argument."""

from __future__ import annotations

from msgspec import Struct


class Command(Struct, frozen=True):
    """A command of the agent; `hint` describes its argument."""

    name: str
    description: str = ""
    hint: str | None = None


class CommandsChanged(Struct, frozen=True):
    """An event: all commands of a chat (ACP: available_commands_update)."""

    commands: tuple[Command, ...]

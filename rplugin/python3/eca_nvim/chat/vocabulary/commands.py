"""Commands: what a prompt may begin with, as `/name` and an argument."""

from __future__ import annotations

from msgspec import Struct

from eca_nvim.patterns import late_pattern

_COMMAND = late_pattern(r"\s*/[^\s/]*(?:\s|\Z)")


class Command(Struct, frozen=True):
    """A command of the agent; `hint` describes its argument."""

    name: str
    description: str = ""
    hint: str | None = None


def is_command(text: str) -> bool:
    """Return whether agents take a prompt as a command: a path, as `/etc/hosts`, is none."""
    return _COMMAND.match(text) is not None


class CommandsChanged(Struct, frozen=True):
    """An event: all commands of a chat (ACP: available_commands_update)."""

    commands: tuple[Command, ...]

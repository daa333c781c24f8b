"""Render shell: the commands of a shell line one by one, and what is remembered of them.

Rules kept here: what a line is made of is the agent's word; a line of one command is its own best
description.
"""

from __future__ import annotations

from collections.abc import Sequence

from eca_nvim.chat.text.body import Body
from eca_nvim.chat.text.safe_text import literal_line, truncate, width
from eca_nvim.chat.vocabulary.call_details import ShellPart

COMMAND_CELLS = 60
ALIGNED_CELLS = 28
"""What is noted of commands stands below each other unless they are wider."""


def shell_parts(parts: Sequence[ShellPart], *, waits: bool) -> Body:
    """List the commands; while the call `waits`, with what "remember" would remember of each."""
    if len(parts) < 2:
        return Body((), language="")
    told = [_told(part, waits=waits) for part in parts]
    commands = [_command(part) for part in parts]
    room = max(cells for cells in (0, *map(width, commands)) if cells <= ALIGNED_CELLS) + 2
    lines, marks = [], []
    for row, (command, note) in enumerate(zip(commands, told, strict=True)):
        start = f"· {command}"
        padding = " " * max(2, room - width(command)) if note else ""
        lines.append(f"{start}{padding}{note}")
        marks.append((row, 0, len("·".encode()), "EcaMuted"))
        if note:
            marks.append((row, len(start.encode()), -1, "EcaMuted"))
    return Body(lines, marks, "")


def _command(part: ShellPart) -> str:
    return truncate(literal_line(" ".join((part.command, *part.arguments))), COMMAND_CELLS)


def _told(part: ShellPart, *, waits: bool) -> str:
    if part.remembered:
        return "remembered"
    if waits and part.remember_key:
        return f"A remembers {literal_line(part.remember_key)}"
    return ""

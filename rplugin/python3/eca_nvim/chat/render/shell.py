"""Render shell: lists the commands of a shell line, and which ones are remembered.

Rules kept here:
- The agent splits the line into commands; a line of one command is not listed.
- No key is named: the user may have mapped others in the chat.
"""

from __future__ import annotations

from collections.abc import Sequence

from eca_nvim.chat.text.body import Body
from eca_nvim.chat.text.safe_text import literal_line, truncate, width
from eca_nvim.chat.vocabulary.call_details import ShellPart

COMMAND_CELLS = 60
ALIGNED_CELLS = 28
"""The notes are aligned behind commands up to this width."""


def shell_parts(parts: Sequence[ShellPart], *, waits: bool) -> Body:
    """List the commands; while the call waits, with the key "remember" would add for each."""
    if len(parts) < 2:
        return Body((), language="")
    notes = [_note(part, waits=waits) for part in parts]
    commands = [_command(part) for part in parts]
    room = max(cells for cells in (0, *map(width, commands)) if cells <= ALIGNED_CELLS) + 2
    lines, marks = [], []
    for row, (command, note) in enumerate(zip(commands, notes, strict=True)):
        start = f"· {command}"
        padding = " " * max(2, room - width(command)) if note else ""
        lines.append(f"{start}{padding}{note}")
        marks.append((row, 0, len("·".encode()), "EcaMuted"))
        if note:
            marks.append((row, len(start.encode()), -1, "EcaMuted"))
    return Body(lines, marks, "")


def _command(part: ShellPart) -> str:
    return truncate(literal_line(" ".join((part.command, *part.arguments))), COMMAND_CELLS)


def _note(part: ShellPart, *, waits: bool) -> str:
    if part.remembered:
        return "always allowed"
    if waits and part.remember_key:
        return f"always allow: {literal_line(part.remember_key)}"
    return ""

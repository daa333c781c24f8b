"""Files used: what `:Eca files` shows."""

from __future__ import annotations

from collections.abc import Sequence

from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.render.used_files import files_used
from eca_nvim.review.change_list import Table, snapshot_text
from eca_nvim.review.text_changes import counts
from eca_nvim.review.turn_changes import TurnChanges


def list_files_used(chat: Chat, turns: Sequence[TurnChanges]) -> Table:
    """Return head and rows; the lines that commands changed are counted from the files."""
    lines: dict[str, tuple[int, int]] = {}
    for turn in turns:
        for path, record in turn.files.items():
            if record.by_command and not record.undone:
                before, after = snapshot_text(record.before), snapshot_text(record.after)
                added, removed = counts(before, after)
                known = lines.get(path, (0, 0))
                lines[path] = (known[0] + added, known[1] + removed)
    return files_used(chat, lines)

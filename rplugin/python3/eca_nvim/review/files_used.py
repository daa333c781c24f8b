"""Files used: what tools of a chat read and changed, and what their commands changed."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import asdict

from eca_nvim.chat.model.call_files import FileUse, files_used, most_used_first
from eca_nvim.chat.model.chat import Chat
from eca_nvim.review.change_list import Table, snapshot_text
from eca_nvim.review.text_changes import counts
from eca_nvim.review.turn_changes import FileRecord, TurnChanges


def used(chat: Chat, turns: Sequence[TurnChanges]) -> list[Table]:
    """List files, the most used first: path, reads, changes, added and removed (lines).

    A file that commands changed in a turn is changed once there.
    """
    uses = files_used(chat)
    for turn in turns:
        for path, record in turn.files.items():
            if record.unnamed and not record.undone:
                _count(uses.setdefault(path, FileUse()), record)
    return [{"path": path, **asdict(use)} for path, use in most_used_first(uses).items()]


def _count(use: FileUse, record: FileRecord) -> None:
    added, removed = counts(snapshot_text(record.before), snapshot_text(record.after))
    use.changes += 1
    use.added += added
    use.removed += removed

"""Files used: the files that tools and commands of a chat have read and changed."""

from __future__ import annotations

from collections.abc import Sequence

from eca_nvim.chat.model.call_files import FileUse, files_used, most_used_first
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.vocabulary.ops import Segment
from eca_nvim.review.change_list import Table, snapshot_text
from eca_nvim.review.text_changes import counts
from eca_nvim.review.turn_changes import FileRecord, TurnChanges


def list_files_used(chat: Chat, turns: Sequence[TurnChanges]) -> list[Table]:
    """Return files, the most used first: path, and the segments that say how it was used.

    All changes of a file by the commands of one turn count as one.
    """
    uses = files_used(chat)
    for turn in turns:
        for path, record in turn.files.items():
            if record.by_command and not record.undone:
                _count(uses.setdefault(path, FileUse()), record)
    return [{"path": path, "use": use_segments(use)} for path, use in most_used_first(uses).items()]


def use_segments(use: FileUse) -> Sequence[Segment]:
    """Return the segments for how often a file was read and changed, and how many lines."""
    read = f"read {_times(use.reads)}" if use.reads else ""
    segments = [(f"  {read:8}", "EcaMuted")]
    if use.changes:
        segments.append((f"  changed {_times(use.changes):3} ", "EcaMuted"))
    if use.added + use.removed:  # unknown for some changes
        segments += [(f"+{use.added}", "EcaDiffAdd"), (" ", "")]
        segments += [(f"-{use.removed}", "EcaDiffDelete")]
    return segments


def _times(count: int) -> str:
    return f"\N{MULTIPLICATION SIGN}{count}" if count > 1 else ""


def _count(use: FileUse, record: FileRecord) -> None:
    added, removed = counts(snapshot_text(record.before), snapshot_text(record.after))
    use.changes += 1
    use.added += added
    use.removed += removed

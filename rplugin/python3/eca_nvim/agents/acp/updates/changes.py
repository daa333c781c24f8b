"""Changes: the diffs of a call as changes of files.

A diff has the whole old and new text of a file, or those of a part of it. Which of the two, and
where the part is, only the file tells: the session looks there, so no hunk is made here.
"""

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

from msgspec.structs import replace

from eca_nvim.chat.text.text_differences import hunks_between
from eca_nvim.chat.vocabulary.call_details import Base, FileChange
from eca_nvim.digests import text_digest
from eca_nvim.path_risks import real_path
from eca_nvim.paths import NotAFile, path_of
from eca_nvim.protocol.acp.tool_call import CallDiff

MOST_KNOWN: Final = 100
"""Paths of a call that a shorter one is compared with."""


class WholeDiff(CallDiff, frozen=True, tag_field="type", tag="diff"):
    """A change of all the text of a file, which we make for the agent."""


class EditorDiff(CallDiff, frozen=True, tag_field="type", tag="diff"):
    """A change that the agent makes through the editor, whether it has read the file yet or not."""


def file_changes(
    diffs: Iterable[CallDiff], known: Sequence[str], folder: str, read: Mapping[str, str]
) -> tuple[FileChange, ...]:
    """Return diffs as changes.

    known: absolute paths. folder: where relative ones begin. read: digests of the texts that the
    agent has read through the editor, by real path.
    """
    return tuple(_change(diff, known, folder, read) for diff in diffs)


def of_the_past(change: FileChange) -> FileChange:
    """Return a change that was made earlier with its diff: the file tells nothing of it now."""
    if change.new is None:
        return change
    diff, added, removed = hunks_between(change.old or "", change.new)
    return replace(change, diff=diff, added=added, removed=removed, placed=False)


def absolute(path: str, known: Iterable[str], folder: str) -> str:
    """Return a path as an absolute one: a known path that ends in it, else one in the folder."""
    if path == "~" or path.startswith("~/"):
        path = posixpath.expanduser(path)  # as in the tools of agents
    if posixpath.isabs(path):
        return path
    if path.startswith("file:"):  # some agents write a file's URI in place of a path
        with suppress(NotAFile):
            return path_of(path)
    # Some name a file in a result by the end of the path that the request had.
    end = f"/{path}"
    ends_so = (it for it in islice(known, MOST_KNOWN) if it.endswith(end))
    return next(ends_so, None) or posixpath.join(folder, path)


def _change(
    diff: CallDiff, known: Sequence[str], folder: str, read: Mapping[str, str]
) -> FileChange:
    path = absolute(diff.path, known, folder)
    if isinstance(diff, WholeDiff):
        return FileChange(path, "", 0, 0, diff.old_text, diff.new_text, base=Base.OLD)
    seen = None
    with suppress(ValueError):
        seen = read.get(real_path(path)) if read else None
    if seen is not None and diff.old_text and text_digest(diff.old_text) == seen:
        base = Base.OLD  # all that the agent has read through the editor
    elif seen is None and not isinstance(diff, EditorDiff):
        base = Base.DISK
    else:
        base = Base.EDITOR
    # Without an old text, or with an empty one, the new text is that of the whole file.
    return FileChange(path, "", 0, 0, diff.old_text or None, diff.new_text, base=base)

"""Whole writes: computes the real diff of a call that writes a whole file, or sends no diff.

Rules kept here:
- The server describes such a call as if the file were new. The user must see what is lost before
  approving it, so the diff is computed here, from the file as it is when the request is complete.
- If the file already holds the new text, its earlier content is unknown: the call stays as sent.
- Several changes of one file are one to the user, who takes its hunks and edits its text.
- If an agent sends texts only, the replaced text is searched for in the file, which gives the diff
  its line numbers. If it is there more than once, nobody knows which one is meant.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeAlias

from msgspec.structs import replace

from eca_nvim.chat.model.blocks import ToolBlock
from eca_nvim.chat.model.chat import Chat, active_call, requested_call
from eca_nvim.chat.model.hunk_choice import NotInParts, texts_after
from eca_nvim.chat.text.text_differences import comparable, hunks_between
from eca_nvim.chat.vocabulary import call_details, events
from eca_nvim.review.snapshots import Snapshot
from eca_nvim.review.text_changes import text_of

CallEvent: TypeAlias = (
    events.ToolRequested | events.ToolRunning | events.ToolFinished | events.ToolRejected
)
"""An event that describes a call whole."""
FileBefore: TypeAlias = Callable[[Chat, ToolBlock | None, str], Snapshot]
"""Returns a file as it was before a call, by chat, the call's block if there is one, and path."""


def changed_line_ends(before: str, after: str) -> str | None:
    """Describe a change of line ends, which a diff of lines does not show; None if there is none.

    A text without any line end counts as no change.
    """
    old, new = _line_ends(before), _line_ends(after)
    if old is None or new is None or old == new:
        return None
    return f"changes the line ends from {old} to {new}"


def _line_ends(text: str) -> str | None:
    returns = text.count("\r\n")
    match bool(returns), returns < text.count("\n"):
        case True, True:
            return "mixed"
        case True, False:
            return "CRLF"
        case False, True:
            return "LF"
        case _:
            return None


def with_actual_diff(
    chat: Chat, event: CallEvent, file_before: FileBefore, child: str | None = None
) -> CallEvent:
    """Return an event of a tool call with the real diff of the call.

    child: the subagent whose event it is, None for the chat itself.
    """
    call = event.call
    if not call.changes:
        return event
    lane = chat.lanes.get(child or chat.id)
    if isinstance(event, events.ToolRequested):
        block = None if lane is None else requested_call(lane, event)
        read_before = partial(file_before, chat, block)
        changes = [_with_diff(it, read_before, event) for it in call.changes]
        return replace(event, call=replace(call, changes=_joined(changes, read_before)))
    block = None if lane is None else active_call(lane, call)
    if _is_known(block, call):
        return replace(event, call=replace(call, changes=None))
    read_before = partial(file_before, chat, block)
    changes = [it if it.diff else _with_diff(it, read_before, event) for it in call.changes]
    return replace(event, call=replace(call, changes=tuple(changes)))


def _joined(
    changes: Sequence[call_details.FileChange], read_before: Callable[[str], Snapshot]
) -> tuple[call_details.FileChange, ...]:
    """Return changes with those of one file as one change, if what they make of it is clear."""
    of_file: dict[str, list[call_details.FileChange]] = {}
    for change in changes:
        of_file.setdefault(change.path, []).append(change)
    if len(of_file) == len(changes):
        return tuple(changes)
    found: list[call_details.FileChange] = []
    for path, some in of_file.items():
        one = None if len(some) == 1 else _as_one(some, read_before(path))
        found += some if one is None else [one]
    return tuple(found)


def _as_one(
    changes: Sequence[call_details.FileChange], before: Snapshot
) -> call_details.FileChange | None:
    text = None if before.blob is None else text_of(before.blob.read())
    is_clear = all(it.placed and it.base is not call_details.Base.OLD for it in changes)
    with suppress(NotInParts):
        if text is not None and is_clear:
            made = _counted(text, texts_after(text, changes))
            return replace(changes[0], **made, old=None, new=None)
    return None


def _with_diff(
    change: call_details.FileChange, read_before: Callable[[str], Snapshot], event: events.ChatEvent
) -> call_details.FileChange:
    if change.new is None or (change.diff and change.whole is None):
        return change
    if change.base is call_details.Base.OLD:
        return replace(change, **_counted(change.old or "", change.new))
    before = read_before(change.path)
    text = None if before.blob is None else text_of(before.blob.read())
    if change.old is not None:
        whole = text or ""
        old, new, whole = comparable(whole, change.old, change.new, whole)
        done = isinstance(event, events.ToolFinished)
        sides = _sides(old, new, whole, every=change.every, done=done)
        return replace(change, **_counted(*(sides or (old, new))), placed=sides is not None)
    waits = isinstance(event, events.ToolRequested) and event.needs_approval
    if not text or (text == change.new and not waits):  # the file was read too late
        return change if change.diff else replace(change, **_counted("", change.new))
    return replace(change, **_counted(text, change.new))


def _sides(old: str, new: str, text: str, *, every: bool, done: bool) -> tuple[str, str] | None:
    """Return a whole file before and after a change of a part; None if its place is unclear.

    A part that is in the file several times is unclear, unless each of them is replaced. `done`:
    the file has probably changed already.
    """
    undone = (text.replace(new, old), text) if new and text.count(new) == 1 else None
    if done and undone is not None:
        return undone
    if old and (text.count(old) == 1 or (every and old in text)):
        return text, text.replace(old, new)
    return None if old and old in text else undone


def _counted(before: str, after: str) -> dict[str, object]:
    diff, added, removed = hunks_between(before, after)
    return {"diff": diff, "added": added, "removed": removed}


def _is_known(block: ToolBlock | None, call: call_details.ToolCall) -> bool:
    """Return whether a diff that was computed at the request is to be kept.

    A write through the editor has both whole texts: that is what was done, whatever was announced.
    """
    if any(change.base is call_details.Base.OLD for change in call.changes or ()):
        return False
    known = () if block is None else block.call.changes or ()
    is_sent = all(change.diff for change in call.changes or ())
    return bool(known) and (not is_sent or any(it.whole is not None for it in known))

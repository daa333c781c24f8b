"""Whole writes: computes the real diff of a call that writes a whole file.

Rules kept here:
- The server describes such a call as if the file were new. The user must see what is lost before
  approving it, so the diff is computed here, from the file as it is when the request is complete.
- If the file already holds the new text, its earlier content is unknown: the call stays as sent.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from msgspec.structs import replace

from eca_nvim.chat.model.blocks import ToolBlock
from eca_nvim.chat.model.call_ids import active_call, requested_call
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.text.hunks_between import hunks_between
from eca_nvim.chat.vocabulary.call_details import FileChange, ToolCall
from eca_nvim.chat.vocabulary.events import (
    ChatEvent,
    ToolFinished,
    ToolRejected,
    ToolRequested,
    ToolRunning,
)
from eca_nvim.review.snapshots import Snapshot
from eca_nvim.review.text_changes import text_of

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
    chat: Chat, event: ChatEvent, file_before: FileBefore, child: str | None = None
) -> ChatEvent:
    """Return a tool event with the real diff of its call; other events are returned unchanged.

    child: the subagent whose event it is, None for the chat itself.
    """
    if not isinstance(event, ToolRequested | ToolRunning | ToolFinished | ToolRejected):
        return event
    call, lane = event.call, chat.lanes.get(child or chat.id)
    if not call.changes:
        return event
    if isinstance(event, ToolRequested):
        block = None if lane is None else requested_call(lane, call)
        read_before = partial(file_before, chat, block)
        waits = event.needs_approval
        changes = tuple(_with_diff(it, read_before, waits=waits) for it in call.changes)
        return replace(event, call=replace(call, changes=changes))
    block = None if lane is None else active_call(lane, call)
    return replace(event, call=_without_new_diff(block, call))


def _with_diff(
    change: FileChange, read_before: Callable[[str], Snapshot], *, waits: bool
) -> FileChange:
    new_text = change.whole
    if new_text is None:
        return change
    before = read_before(change.path)
    text = None if before.blob is None else text_of(before.blob.read())
    if not text or (text == new_text and not waits):
        return change
    return FileChange(change.path, *hunks_between(text, new_text), new=new_text)


def _without_new_diff(block: ToolBlock | None, call: ToolCall) -> ToolCall:
    """Drop the server's diff of a later event: the one computed at the request is right."""
    known = () if block is None else block.call.changes or ()
    return replace(call, changes=None) if any(it.whole is not None for it in known) else call

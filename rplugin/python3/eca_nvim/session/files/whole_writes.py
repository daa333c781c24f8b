"""Whole writes: a call that writes a file whole, told as what it changes in the file there is.

Rules kept here:
- The real server tells each such call as if the file were new. Whoever lets it must see what is
  lost, so the diff is made here, from the file as it is when the call is complete.
- A file that already holds the text tells nothing of what was there: the call stays as it came.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from msgspec.structs import replace

from eca_nvim.chat.model.blocks import ToolBlock
from eca_nvim.chat.model.call_files import whole_text
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
"""Gives a file as it was before a call: the chat, the call's block if there is one, the path."""


def turned_ends(before: str, after: str) -> str | None:
    """Say that lines end differently afterwards, which a diff of lines does not tell."""
    had, gets = _ends(before), _ends(after)
    if had is None or gets is None or had == gets:
        return None
    return f"turns the line ends {had} into {gets}"


def _ends(text: str) -> str | None:
    returns = text.count("\r\n")
    match bool(returns), returns < text.count("\n"):
        case True, True:
            return "of both kinds"
        case True, False:
            return "CRLF"
        case False, True:
            return "LF"
        case _:
            return None


def told_whole(
    chat: Chat, event: ChatEvent, file_before: FileBefore, child: str | None = None
) -> ChatEvent:
    """Give an event with what a call changes; any other event is given as it is.

    child: the subagent whose event it is, None for the chat itself.
    """
    if not isinstance(event, ToolRequested | ToolRunning | ToolFinished | ToolRejected):
        return event
    call, lane = event.call, chat.lanes.get(child or chat.id)
    if not isinstance(call.details, FileChange):
        return event
    if isinstance(event, ToolRequested):
        see = partial(file_before, chat, None if lane is None else requested_call(lane, call))
        return replace(event, call=_told(call, see, waits=event.needs_approval))
    block = None if lane is None else active_call(lane, call)
    return replace(event, call=_as_before(block, call))


def _told(call: ToolCall, see: Callable[[str], Snapshot], *, waits: bool) -> ToolCall:
    whole, details = whole_text(call), call.details
    if whole is None or not isinstance(details, FileChange):
        return call
    there = see(details.path)
    text = None if there.blob is None else text_of(there.blob.read())
    if not text or (text == whole and not waits):
        return call
    return replace(call, details=FileChange(details.path, *hunks_between(text, whole)))


def _as_before(block: ToolBlock | None, call: ToolCall) -> ToolCall:
    """Keep what a call was known to change: the server goes on telling it from nothing."""
    if block is None or whole_text(block.call) is None or not block.call.details:
        return call
    return replace(call, details=None)

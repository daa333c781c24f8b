"""Folding: opens and collapses blocks, opens links, redraws."""

from eca_nvim.chat.model.blocks import Block, Changes, Fold, Lane, LinkBlock
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.vocabulary import ops

_SAFE_LINKS = ("https://", "http://", "mailto:")


def toggle(chat: Chat, block_id: int, now: int, *, to_open: bool | None = None) -> Changes:
    """Open, collapse or (None) toggle a block; block 0 means all blocks of the chat.

    The user's choice wins over later automatic folding. Toggling all blocks opens them unless one
    is open.
    """
    update = Update(chat, chat.root, now)
    if block_id:
        found = [block for block in _foldable(chat) if block.id == block_id]
    else:
        found = _foldable(chat)
    if to_open is None:
        to_open = not any(block.is_open for block in found)
    fold = Fold.USER_OPEN if to_open else Fold.USER_CLOSED
    for block in found:
        update.fold(block, fold)
    return update.finish()


def _foldable(chat: Chat) -> list[Block]:
    return [
        block
        for lane in chat.lanes.values()
        for block in lane.blocks
        if block.fold is not Fold.FIXED
    ]


def open_link(chat: Chat, block_id: int, now: int) -> Changes:
    """Open the link of a block: a web or mail address, because the text comes from outside."""
    update = Update(chat, chat.root, now)
    match chat.blocks.get(block_id):
        case LinkBlock(url=url) if url.lower().startswith(_SAFE_LINKS) and url == one_line(url):
            update.ops.append(ops.OpenExternal(url))
        case LinkBlock(url=url):
            update.ops.append(ops.Notify("warn", f"not opened, not a web link: {one_line(url)}"))
    return update.finish()


def _nesting(lane: Lane) -> int:
    """Count the calls that a lane is within: each is drawn before its lane, which may be older."""
    calls = set[int]()
    while lane.anchor is not None and lane.anchor.id not in calls:
        calls.add(lane.anchor.id)
        lane = lane.anchor.lane
    return len(calls)


def redraw(chat: Chat, now: int) -> Changes:
    """Draw the whole chat again, for a buffer that lost its text."""
    update = Update(chat, chat.root, now)
    update.ops.append(ops.ClearChat(chat.id))
    for lane in sorted(chat.lanes.values(), key=_nesting):
        if lane.is_shown:
            update.draw_lane(lane)
    chat.shown_status = None
    update.dirty |= Dirty.STATUS | Dirty.QUEUE | Dirty.PENDING | Dirty.TASK_LIST | Dirty.USAGE
    update.dirty |= Dirty.OPTIONS
    return update.finish()

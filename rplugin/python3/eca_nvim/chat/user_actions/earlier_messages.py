"""Earlier messages: the history of a chat, shown in pages, the newest page first.

A replayed chat looks like the original, but nothing of it is live: it starts no turn, asks for no
approval and reports no file changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from eca_nvim.chat.handlers.call_groups import join_replayed
from eca_nvim.chat.handlers.call_steps import settle
from eca_nvim.chat.handlers.chat_state import chat_cleared
from eca_nvim.chat.handlers.reducer import HANDLERS
from eca_nvim.chat.handlers.task_list import keeping_task_list
from eca_nvim.chat.handlers.tool_calls import merged
from eca_nvim.chat.model.blocks import Block, Changes, OlderBlock, ToolBlock
from eca_nvim.chat.model.chat import Chat, OlderMessages, route
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.user_actions.folding import redraw
from eca_nvim.chat.vocabulary import completion, ops, options, states, turn_events
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    ChatCleared,
    ChatOpened,
    Role,
    TextReceived,
    TitleChanged,
)

_SMALLEST_PART, _LARGEST_PART, _SHARE = 100, 2_000, 8
"""Events of a part of a history that came whole: a share of what is shown already, up to the next
prompt. While one is modelled nothing is sent to Neovim, so the first ones are small."""
_PRESENT: Final = (
    ChatOpened,
    TitleChanged,
    completion.CommandsChanged,
    options.OptionsChanged,
    turn_events.UsageReported,
)
"""Events that say how the chat is now; they are no part of what was said."""


def show_in_parts(chat: Chat, page: Page, now: int) -> Iterator[Changes]:
    """Replace a chat's blocks by its newest page; yield the changes of its end, then of each part.

    It ends early if the history is replaced or cleared between two parts.
    """
    newest, *rest = _parts(page, chat.id)
    yield show_history(chat, newest, now)
    shown = chat.older
    for part in rest:
        if chat.older is not shown:
            return
        changes, shown = show_older(chat, part, now), chat.older
        yield changes


def _parts(page: Page, chat_id: str) -> Iterator[Page]:
    """Cut a history that came whole before prompts; the newest part is first."""
    if page.older is not None:
        yield page
        return
    said, present = list[Addressed](), list[Addressed]()
    for it in page.events:
        is_present = isinstance(it.event, _PRESENT) and it.chat_id == chat_id
        (present if is_present else said).append(it)
    end, size = len(said), _SMALLEST_PART
    for begin in range(end - size, 0, -1):
        if end - begin >= size and _is_prompt(said, begin, chat_id):
            yield Page([*present, *said[begin:end]], FOLLOWS)
            end, present = begin, []
            size = min(max(_SMALLEST_PART, (len(said) - end) // _SHARE), _LARGEST_PART)
    yield Page([*present, *said[:end]], None, page.total, page.returned)


def _is_prompt(events: Sequence[Addressed], index: int, chat_id: str) -> bool:
    """Return whether a prompt begins with an event; an agent may send it in pieces."""
    return _of_user(events[index], chat_id) and not _of_user(events[index - 1], chat_id)


def _of_user(addressed: Addressed, chat_id: str) -> bool:
    event = addressed.event
    is_text = isinstance(event, TextReceived) and event.role is Role.USER
    return is_text and addressed.chat_id == chat_id


FOLLOWS: Final = ""
"""The cursor of older messages that are here already, and shown soon, part by part."""


class Page(Struct, frozen=True):
    """A part of a chat's history, oldest event first.

    older: the agent's cursor to the page before, never empty; None at the beginning. total,
    returned: messages in the whole history and in this page; None if unknown.
    """

    events: Sequence[Addressed] = ()
    older: str | None = None
    total: int | None = None
    returned: int | None = None


def show_history(chat: Chat, page: Page, now: int) -> Changes:
    """Replace a chat's blocks by its newest page."""
    update = Update(chat, chat.root, now)
    chat_cleared(update, ChatCleared())
    _add_newest(update, page)
    return update.finish()


def show_above(chat: Chat, page: Page, now: int) -> Changes:
    """Show the newest page above what was said while it was loaded."""
    update, lane = Update(chat, chat.root, now), chat.root
    later, current_text = lane.blocks, lane.current_text
    with keeping_task_list(update):
        lane.blocks, lane.current_text = [], None
        _add_newest(update, page)
        lane.blocks, lane.current_text = [*lane.blocks, *later], current_text
    update.finish()  # all of it is drawn again: no op places a block above the first one
    return redraw(chat, now)


def _add_newest(update: Update, page: Page) -> None:
    """Add the newest page, below a placeholder for the older ones."""
    chat = update.chat
    if page.older is not None:
        block = OlderBlock(*update.place(), ops.BlockKind.OLDER)
        _count(block, page, page.total)
        block.loading = page.older == FOLLOWS
        chat.older = OlderMessages(page.older, block)
        update.add(block)
    _replay(update, page.events)


def show_older(chat: Chat, page: Page, now: int) -> Changes:
    """Insert an older page above the loaded blocks, below the placeholder for the rest."""
    update = Update(chat, chat.root, now)
    older, current_text = chat.older, chat.root.current_text
    if older is None:
        return update.finish()
    update.after = older.block
    chat.root.current_text = None
    try:
        with keeping_task_list(update):
            _replay(update, page.events)
    finally:
        chat.root.current_text = current_text
    older.block.loading = page.older == FOLLOWS
    _count(older.block, page, older.block.count)
    if page.older is None:
        chat.older = None
        update.remove(older.block)
    else:
        chat.older = OlderMessages(page.older, older.block)
        update.redraw(older.block)
    return update.finish()


def show_loading(chat: Chat, now: int, *, loading: bool) -> Changes:
    """Show whether older messages are being loaded."""
    update = Update(chat, chat.root, now)
    if chat.older is not None:
        chat.older.block.loading = loading
        update.redraw(chat.older.block)
    return update.finish()


def show_incomplete(chat: Chat, now: int) -> Changes:
    """Draw a chat again after a page of it failed; the user can ask for the older messages."""
    if chat.older is not None:
        chat.older.block.loading = False
    return redraw(chat, now)


def _count(block: OlderBlock, page: Page, left: int | None) -> None:
    """Store how many messages are still to be loaded, after a page arrived."""
    known = left is not None and page.returned is not None
    block.count = max(0, (left or 0) - (page.returned or 0)) if known else None
    block.total = page.total


def _replay(update: Update, events: Sequence[Addressed]) -> None:
    """Apply past events, without side effects outside the chat."""
    chat = update.chat
    before = chat.last_block
    later_calls, later_blocks = _take_calls(chat), _take_blocks_after(chat, update.after)
    update.replays = update.more_follow = True
    try:
        for addressed in events:
            if isinstance(addressed.event, ChatCleared):
                continue
            _, child = route({chat.id: chat}, addressed)
            update.lane = chat.lane(child)
            HANDLERS[type(addressed.event)](update, addressed.event)
    finally:
        update.lane = chat.root
        chat.root.blocks += later_blocks
        _put_back_calls(update, later_calls)
        settle(update, since=before)  # nothing replayed is live
    join_replayed(update, before)
    update.more_follow = False
    update.draw_stale()
    update.dirty |= Dirty.STATUS


def _take_blocks_after(chat: Chat, block: Block | None) -> Sequence[Block]:
    """Remove and return what follows a block: adding to the end costs the same at any length."""
    blocks = chat.root.blocks
    place = len(blocks) if block is None else blocks.index(block) + 1
    later, blocks[place:] = blocks[place:], []
    return later


def _take_calls(chat: Chat) -> Mapping[str, Mapping[str, ToolBlock]]:
    """Remove and return all calls by lane, because an id in a page names a call of that page."""
    known = {lane.chat_id: lane.calls for lane in chat.lanes.values()}
    for lane in chat.lanes.values():
        lane.calls = {}
    return known


def _put_back_calls(update: Update, later_calls: Mapping[str, Mapping[str, ToolBlock]]) -> None:
    """Put the later calls back; a call cut by the page border is merged with its later half."""
    for lane in update.chat.lanes.values():
        known = later_calls.get(lane.chat_id, {})
        for call_id, block in list(lane.calls.items()):
            end = known.get(call_id)
            is_cut = block.state not in states.ENDED_CALLS and block.nested is None
            if is_cut and end is not None and end.replayed:
                end.call = merged(block.call, end.call)
                update.remove(block)
                update.chat.live.pop(block.id, None)
                update.redraw(end, with_body=end.is_open)
        lane.calls |= known


def root_place(chat: Chat, block_id: int) -> int | None:
    """Return the index of a block, or of the call it is nested in, in the chat's own lane.

    Block 0 means the last one. None if there is no such block.
    """
    blocks = chat.root.blocks
    if not block_id:
        return len(blocks) - 1 if blocks else None
    block = chat.blocks.get(block_id)
    if block is not None and block.lane.anchor is not None:
        block = block.lane.anchor
    return blocks.index(block) if block in blocks else None

"""Subagents: what the call that runs one tells of its chat, and when it opens by itself.

Rules kept here:
- Collapsed it tells in one line what the subagent is doing; it opens only for the user's word and
  collapses again when nothing in it waits any more.
- A subagent of a subagent is told in the same call, one level in: its blocks are never lost.
"""

from __future__ import annotations

from collections.abc import Callable

from eca_nvim.chat.model.blocks import Fold, Nested, ToolBlock
from eca_nvim.chat.model.chat import Lane
from eca_nvim.chat.update import Update
from eca_nvim.chat.vocabulary.events import UsageReported
from eca_nvim.chat.vocabulary.states import ENDED_CALLS, CallState


def anchor_lane(update: Update, block: ToolBlock, child: str) -> None:
    """Let the blocks of a subagent's chat follow the call that runs it."""
    chat = update.chat
    anchor = update.lane.anchor or block
    if child in chat.anchors or child in (chat.id, anchor.chat_id):
        return
    anchor.nested = anchor.nested or Nested()
    _follow(update, anchor, child)
    lane = chat.lanes.get(child)
    if lane is not None and _waits(update, anchor):
        reveal(update, lane)
        nested_asks(update, anchor)


def _follow(update: Update, anchor: ToolBlock, child: str) -> None:
    """Let a chat follow a call, with all that followed a call of its own so far."""
    chat = update.chat
    chat.anchors[child] = anchor
    if child in chat.lanes:
        update.adopt(chat.lanes[child], anchor)
    for other, before in list(chat.anchors.items()):
        if before.chat_id == child:
            _follow(update, anchor, other)


def _home(update: Update, anchor: ToolBlock) -> Lane:
    """Give the lane that a call is in: the chat's own, but for one whose parent is not known."""
    return update.chat.lanes[anchor.chat_id]


def does(update: Update, lane: Lane, words: Callable[[], str]) -> None:
    """Note what a subagent is doing, in a few clean words; nobody asks for them elsewhere."""
    anchor = lane.anchor
    if anchor is None or anchor.nested is None or anchor.state in ENDED_CALLS:
        return
    text = words()
    if text and anchor.nested.doing != text:
        anchor.nested.doing = text
        update.redraw(anchor, _home(update, anchor))


def progresses(update: Update, lane: Lane, text: str) -> None:
    """Note what a subagent's agent says it is doing, unless a tool of its tells better."""
    calls = (block for block, at in update.chat.live.values() if at is lane)
    if not any(isinstance(block, ToolBlock) and block.state in _BUSY for block in calls):
        does(update, lane, lambda: text)


_BUSY = frozenset({CallState.PREPARING, CallState.APPROVED, CallState.RUNNING, CallState.WAITING})


def uses(update: Update, lane: Lane, usage: UsageReported) -> None:
    """Note the tokens and the cost of a subagent's chat."""
    anchor = lane.anchor
    if anchor is not None and anchor.nested is not None:
        anchor.nested.usage = usage
        update.redraw(anchor, _home(update, anchor), with_body=anchor.is_open)


def reveal(update: Update, lane: Lane) -> None:
    """Open the call of a subagent that waits for the user."""
    anchor = lane.anchor
    if anchor is not None and anchor.nested is not None:
        anchor.nested.waits = True
        update.auto_fold(anchor, _home(update, anchor), Fold.OPEN)


def conceal(update: Update, lane: Lane) -> None:
    """Collapse the call of a subagent when nothing in it waits for the user any more."""
    anchor = lane.anchor
    if anchor is None or anchor.nested is None or not anchor.nested.waits:
        return
    if not _waits(update, anchor):
        anchor.nested.waits = False
        update.auto_fold(anchor, _home(update, anchor), Fold.CLOSED)


def nested_asks(update: Update, anchor: ToolBlock) -> None:
    """Show again what waits in a subagent, because it is known only now who asks."""
    for block_id in update.chat.pending:
        if update.chat.live[block_id][1].anchor is anchor:
            update.asks_otherwise(block_id)


def _waits(update: Update, anchor: ToolBlock) -> bool:
    waiting = (update.chat.live[block_id][1] for block_id in update.chat.pending)
    return any(lane.anchor is anchor for lane in waiting)

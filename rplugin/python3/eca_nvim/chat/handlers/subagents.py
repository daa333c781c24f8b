"""Subagents: what a call shows of the subagent it runs, and when it opens by itself.

Rules kept here:
- A collapsed call says in its header what the subagent is doing. It opens by itself only while
  something in it waits for the user, and then collapses again.
- A subagent of a subagent is shown inside the same call, one level in: no block is lost.
"""

from __future__ import annotations

from collections.abc import Callable

from eca_nvim.chat.model.blocks import Fold, Nested, ToolBlock
from eca_nvim.chat.model.chat import Lane
from eca_nvim.chat.update import Update
from eca_nvim.chat.vocabulary.states import ENDED_CALLS, CallState
from eca_nvim.chat.vocabulary.usage import UsageReported


def anchor_lane(update: Update, block: ToolBlock, child: str) -> None:
    """Show the blocks of a subagent's chat below the call that runs it."""
    chat = update.chat
    anchor = update.lane.anchor or block
    if child in chat.anchors or child in (chat.id, anchor.chat_id):
        return
    anchor.nested = anchor.nested or Nested()
    _follow(update, anchor, child)
    lane = chat.lanes.get(child)
    if lane is not None and _waits(update, anchor):
        reveal(update, lane)
        renew_nested_requests(update, anchor)


def _follow(update: Update, anchor: ToolBlock, child: str) -> None:
    """Attach a subagent's chat to a call, and the chats attached to its own calls with it."""
    chat = update.chat
    chat.anchors[child] = anchor
    if child in chat.lanes:
        update.adopt(chat.lanes[child], anchor)
    for other, before in list(chat.anchors.items()):
        if before.chat_id == child:
            _follow(update, anchor, other)


def _home(update: Update, anchor: ToolBlock) -> Lane:
    """Return the lane of a call: the chat's own, unless the subagent's parent is unknown."""
    return update.chat.lanes[anchor.chat_id]


def show_activity(update: Update, lane: Lane, words: Callable[[], str]) -> None:
    """Show in the call's header what its subagent is doing.

    words: returns a few clean words; called only if they are shown.
    """
    anchor = lane.anchor
    if anchor is None or anchor.nested is None or anchor.state in ENDED_CALLS:
        return
    text = words()
    if text and anchor.nested.doing != text:
        anchor.nested.doing = text
        update.redraw(anchor, _home(update, anchor))


def show_progress(update: Update, lane: Lane, text: str) -> None:
    """Show the progress a subagent reports, unless one of its tool calls says more."""
    calls = (block for block, at in update.chat.live.values() if at is lane)
    if not any(isinstance(block, ToolBlock) and block.state in _BUSY for block in calls):
        show_activity(update, lane, lambda: text)


_BUSY = frozenset({CallState.PREPARING, CallState.APPROVED, CallState.RUNNING, CallState.WAITING})


def store_usage(update: Update, lane: Lane, usage: UsageReported) -> None:
    """Store the tokens and the cost of a subagent's chat."""
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
    """Collapse the call of a subagent once nothing in it waits for the user."""
    anchor = lane.anchor
    if anchor is None or anchor.nested is None or not anchor.nested.waits:
        return
    if not _waits(update, anchor):
        anchor.nested.waits = False
        update.auto_fold(anchor, _home(update, anchor), Fold.CLOSED)


def renew_nested_requests(update: Update, anchor: ToolBlock) -> None:
    """Renew the requests of a subagent after its name became known or changed."""
    for block_id in update.chat.pending:
        if update.chat.live[block_id][1].anchor is anchor:
            update.request_changed(block_id)


def _waits(update: Update, anchor: ToolBlock) -> bool:
    waiting = (update.chat.live[block_id][1] for block_id in update.chat.pending)
    return any(lane.anchor is anchor for lane in waiting)

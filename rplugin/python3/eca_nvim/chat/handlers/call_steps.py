"""Call steps: how a tool call goes from one state to the next, with all that hangs on it.

Rules kept here:
- Everything that changes a call's state goes through `step`: the list of what is pending, the
  list of what is live, folds and headers follow from it.
- A call that is answered here leaves the pending list at once, before the agent confirms.
"""

from __future__ import annotations

from collections.abc import Mapping

from eca_nvim.chat.handlers.subagents import conceal, does, reveal
from eca_nvim.chat.model.blocks import Fold, ToolBlock
from eca_nvim.chat.model.chat import Lane
from eca_nvim.chat.render.tool import call_title
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.vocabulary.states import ENDED_CALLS, CallState, may_become

_FOLDS: Mapping[CallState, Fold] = {
    CallState.WAITING: Fold.OPEN,
    CallState.DONE: Fold.CLOSED,
    CallState.FAILED: Fold.OPEN,
    CallState.REJECTED: Fold.CLOSED,
    CallState.STOPPED: Fold.CLOSED,
}

_OUTCOMES: Mapping[CallState, str] = {
    CallState.APPROVED: "approved",
    CallState.RUNNING: "approved",
    CallState.DONE: "approved",
    CallState.FAILED: "approved",
    CallState.REFUSED: "rejected",
    CallState.REJECTED: "rejected",
    CallState.STOPPED: "stopped",
}


def step(update: Update, block: ToolBlock, lane: Lane, state: CallState) -> None:
    """Take a call to a state, if it may go there; a call elsewhere stays as it is.

    Header and body are drawn anew in either case, since what is known of the call may have grown.
    """
    if may_become(block.state, state):
        block.state = state
        _follow(update, block, lane)
    update.auto_fold(block, lane, _FOLDS.get(block.state, block.fold))
    if block.state is CallState.WAITING:
        reveal(update, lane)
    else:
        conceal(update, lane)
    if block.state not in ENDED_CALLS:
        does(update, lane, lambda: call_title(block, update.chat.settings))


def _follow(update: Update, block: ToolBlock, lane: Lane) -> None:
    chat = update.chat
    if block.state in ENDED_CALLS:
        chat.live.pop(block.id, None)
    else:
        chat.live[block.id] = (block, lane)
    if block.state is CallState.WAITING:
        chat.ask(block.id, update.now)
        update.dirty |= Dirty.STATUS
        asks(update, block)
    elif request := chat.pending.pop(block.id, None):
        update.dirty |= Dirty.PENDING | Dirty.STATUS
        outcome = _OUTCOMES[block.state]
        update.emit("EcaApprovalResolved", {"id": request.id, "outcome": outcome})


def asks(update: Update, block: ToolBlock) -> None:
    """Ask the user for a call that waits, once more when it has changed."""
    update.dirty |= Dirty.PENDING
    title = call_title(block, update.chat.settings)
    request = update.chat.pending[block.id]
    update.emit("EcaApprovalRequested", {"id": request.id, "title": title})

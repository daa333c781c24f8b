"""Call steps: moves a tool call from one state to the next, and updates what depends on it.

Rules kept here:
- Every change of a call's state goes through `step`, which updates the pending list, the live
  list, folds and headers.
- A call the user has answered leaves the pending list at once, before the agent confirms.
"""

from __future__ import annotations

from collections.abc import Mapping

from eca_nvim.chat.handlers.subagents import conceal, reveal, show_activity
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
    CallState.UNREPORTED: Fold.CLOSED,
    CallState.LEFT: Fold.CLOSED,
}

_OUTCOMES: Mapping[CallState, str] = {
    CallState.APPROVED: "approved",
    CallState.RUNNING: "approved",
    CallState.DONE: "approved",
    CallState.FAILED: "approved",
    CallState.REFUSED: "rejected",
    CallState.REJECTED: "rejected",
    CallState.STOPPED: "stopped",
    CallState.UNREPORTED: "approved",
    CallState.LEFT: "approved",
}


def step(update: Update, block: ToolBlock, lane: Lane, state: CallState) -> None:
    """Move a call to a state if the transition is legal, else leave its state as it is.

    Header and body are redrawn either way, because the event may have brought new details.
    """
    if may_become(block.state, state):
        block.state = state
        _follow(update, block, lane)
    update.auto_fold(block, lane, _FOLDS.get(block.state, block.fold))
    if lane.anchor is not None:
        _show_in_anchor(update, block, lane)


def _show_in_anchor(update: Update, block: ToolBlock, lane: Lane) -> None:
    """Show in the call that runs a subagent what this call of the subagent does."""
    if block.state is CallState.WAITING:
        reveal(update, lane)
    else:
        conceal(update, lane)
    if block.state not in ENDED_CALLS:
        show_activity(update, lane, lambda: call_title(block, update.chat.settings))


def _follow(update: Update, block: ToolBlock, lane: Lane) -> None:
    chat = update.chat
    if block.state in ENDED_CALLS:
        chat.live.pop(block.id, None)
    else:
        chat.live[block.id] = (block, lane)
    if block.state is CallState.WAITING:
        chat.ask(block.id, update.now)
        update.dirty |= Dirty.STATUS
        announce_request(update, block)
    else:
        resolve_request(update, block, _OUTCOMES.get(block.state, "withdrawn"))


def resolve_request(update: Update, block: ToolBlock, outcome: str) -> None:
    """Take a call's request from the pending list, if it is there, and announce the outcome."""
    request = update.chat.pending.pop(block.id, None)
    if request is not None:
        update.dirty |= Dirty.PENDING | Dirty.STATUS
        update.emit("EcaApprovalResolved", {"id": request.id, "outcome": outcome})


def announce_request(update: Update, block: ToolBlock) -> None:
    """Announce a call that waits for approval; called again when the call has changed."""
    update.dirty |= Dirty.PENDING
    title = call_title(block, update.chat.settings)
    request = update.chat.pending[block.id]
    request.changed()
    update.emit("EcaApprovalRequested", {"id": request.id, "title": title})

"""Call steps: moves tool calls from state to state, checks answers, ends what is still live."""

import json
from collections.abc import Mapping

from eca_nvim.chat.handlers.call_groups import conceal, reveal, show_activity
from eca_nvim.chat.handlers.messages import finish_reasoning
from eca_nvim.chat.handlers.questions import dismiss
from eca_nvim.chat.model.blocks import (
    Fold,
    Lane,
    ReasoningBlock,
    ToolBlock,
    WrittenArguments,
    open_question,
)
from eca_nvim.chat.render.tool import call_title
from eca_nvim.chat.text.safe_text import clean
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.vocabulary import ops, states

INCOMPLETE = (
    "The model did not complete this call: its arguments are not valid JSON. Nothing was run. "
    "Ask it to try again."
)


def settle(
    update: Update,
    only: Lane | None = None,
    end: states.TurnEnd = states.TurnEnd.GONE,
    since: int = 0,
) -> None:
    """End every live block and every unfinished text, of one lane or of all.

    end: how the turn ended. Of an agent that is gone nothing runs any more; else the
    questions of a login outlive the turn. since: blocks up to this id stay live.
    """
    for block in list(update.chat.live.values()):
        question = open_question(block)
        outlives = (
            question is not None and not question.asked.of_turn and end is not states.TurnEnd.GONE
        )
        if block.id <= since or outlives or only not in (None, block.lane):
            continue
        dismiss(update, block)
        if isinstance(block, ToolBlock):
            state = _end_of(block, end)
            if state is states.CallState.FAILED:
                block.outputs = (INCOMPLETE,)
            step(update, block, state)
        elif isinstance(block, ReasoningBlock):
            finish_reasoning(update, block, None)
    for lane in update.chat.lanes.values():
        if only is None or lane is only:
            update.finish_text(lane)


def _is_incomplete(block: ToolBlock) -> bool:
    """Return whether the model began to write the arguments of a call, but they are not JSON."""
    if block.state is not states.CallState.PREPARING or not block.arguments.size:
        return False
    try:
        json.loads(block.arguments.text)  # which takes halves of surrogate pairs, too
    except (ValueError, RecursionError):
        return True
    return False


def _end_of(block: ToolBlock, end: states.TurnEnd) -> states.CallState:
    match block.state:
        case states.CallState.REFUSED:
            return states.CallState.REJECTED
        case states.CallState.PREPARING if end is states.TurnEnd.DONE:
            return states.CallState.FAILED if _is_incomplete(block) else states.CallState.UNREPORTED
        case states.CallState.APPROVED | states.CallState.RUNNING if end is states.TurnEnd.DONE:
            return states.CallState.UNREPORTED
        case states.CallState.APPROVED | states.CallState.RUNNING if end is not states.TurnEnd.GONE:
            return states.CallState.LEFT
        case _:
            return states.CallState.STOPPED


def stop_left(update: Update) -> None:
    """Call stopped what went on after its turn: the agent's process has ended, and all its own."""
    for lane in update.chat.lanes.values():
        for block in lane.calls.values():
            if block.state is states.CallState.LEFT:
                step(update, block, states.CallState.STOPPED)
                update.redraw(block)


def settle_pending(update: Update) -> None:
    """End the requests that wait for the user; running calls may still finish."""
    for block in update.chat.waiting:
        dismiss(update, block)
        if isinstance(block, ToolBlock) and block.state is states.CallState.WAITING:
            step(update, block, states.CallState.STOPPED)


CHANGED = "this request has changed since you saw it, look again"
CHANGED_TYPED = f"{CHANGED}: what you typed is in the input"
TOO_LATE = "this request is not pending: what you typed is in the input"


def check_answer(update: Update, block_id: int, digest: str, typed: str | None = None) -> bool:
    """Return whether the request shown with `digest` is still pending; if not, warn the user.

    typed: the answer as the user typed it, if at all; a refused one goes back into the input.
    """
    # The digest is of all that was shown: an approval of one command never releases another.
    block = update.chat.blocks.get(block_id)
    request = None if block is None else block.request
    if request is not None and request.digest == digest:
        return True
    is_typed = typed is not None and bool(typed.strip())
    if is_typed:
        update.ops.append(ops.SetInput(update.chat.id, clean(typed or "")))
    if request is not None:
        update.ops.append(ops.Notify("warn", CHANGED_TYPED if is_typed else CHANGED))
    elif is_typed:
        update.ops.append(ops.Notify("warn", TOO_LATE))
    return False


_FOLDS: Mapping[states.CallState, Fold] = {
    **dict.fromkeys(states.ENDED_CALLS, Fold.CLOSED),
    states.CallState.WAITING: Fold.OPEN,
    states.CallState.FAILED: Fold.OPEN,
}
_OUTCOMES: Mapping[states.CallState, str] = {
    **dict.fromkeys(
        (states.CallState.APPROVED, states.CallState.RUNNING, *states.ENDED_CALLS), "approved"
    ),
    **dict.fromkeys((states.CallState.REFUSED, states.CallState.REJECTED), "rejected"),
    states.CallState.STOPPED: "stopped",
}


def step(update: Update, block: ToolBlock, state: states.CallState) -> None:
    """Move a call to a state if the transition is legal, else leave its state as it is.

    Every change of a call's state goes through here. Header and body are redrawn either way,
    because the event may have brought new details.
    """
    chat = update.chat
    if state in states.CALL_STEPS[block.state]:  # else the event comes too late
        block.state = state
        if state is not states.CallState.PREPARING:  # nobody reads them any more
            block.arguments = WrittenArguments()
        if state in states.ENDED_CALLS:
            chat.live.pop(block.id, None)
        else:
            chat.live[block.id] = block
        if state is states.CallState.WAITING:
            chat.ask(block, update.now)
            update.dirty |= Dirty.STATUS
            announce_request(update, block)
        else:  # also when the user has answered and the agent has not confirmed it yet
            resolve_request(update, block, _OUTCOMES.get(state, "withdrawn"))
    update.fold(block, _FOLDS.get(block.state, block.fold))
    if block.lane.anchor is not None:
        _show_in_anchor(update, block)


def _show_in_anchor(update: Update, block: ToolBlock) -> None:
    """Show in the call that runs a subagent what this call of the subagent does."""
    if block.state is states.CallState.WAITING:
        reveal(update, block.lane)
    else:
        conceal(update, block.lane)
    if block.state not in states.ENDED_CALLS:
        show_activity(update, block.lane, lambda: call_title(block, update.chat.settings))


def resolve_request(update: Update, block: ToolBlock, outcome: str) -> None:
    """Take a call's request from the pending list, if it is there, and announce the outcome."""
    request, block.request = block.request, None
    if request is not None:
        update.dirty |= Dirty.PENDING | Dirty.STATUS
        update.emit("EcaApprovalResolved", {"id": request.id, "outcome": outcome})


def announce_request(update: Update, block: ToolBlock) -> None:
    """Announce a call that waits for approval; called again when the call has changed."""
    if block.request is not None:
        update.request_changed(block)
        title = call_title(block, update.chat.settings)
        update.emit("EcaApprovalRequested", {"id": block.request.id, "title": title})

"""Settle: ends the blocks that are still live when a turn stops or ends."""

from __future__ import annotations

import msgspec

from eca_nvim.chat.handlers.call_steps import step
from eca_nvim.chat.handlers.messages import finish_reasoning
from eca_nvim.chat.handlers.questions import dismiss
from eca_nvim.chat.model.blocks import ReasoningBlock, ToolBlock, open_question
from eca_nvim.chat.model.chat import Lane
from eca_nvim.chat.update import Update
from eca_nvim.chat.vocabulary.states import CallState, TurnEnd

INCOMPLETE = (
    "The model did not complete this call: its arguments are not valid JSON. Nothing was run. "
    "Ask it to try again."
)


def settle(update: Update, only: Lane | None = None, end: TurnEnd = TurnEnd.GONE) -> None:
    """End every live block and every unfinished text, of one lane or of all.

    end: how the turn ended. Of an agent that is gone nothing runs any more; else the
    questions of a login outlive the turn.
    """
    for block, lane in list(update.chat.live.values()):
        question = open_question(block)
        outlives = question is not None and not question.asked.of_turn and end is not TurnEnd.GONE
        if outlives or (only is not None and lane is not only):
            continue
        dismiss(update, block, lane)
        if isinstance(block, ToolBlock):
            state = _end_of(block, end)
            if state is CallState.FAILED:
                block.outputs = (INCOMPLETE,)
            step(update, block, lane, state)
        elif isinstance(block, ReasoningBlock):
            finish_reasoning(update, block, lane, None)
    for lane in update.chat.lanes.values():
        if only is None or lane is only:
            update.finish_text(lane)


def _is_incomplete(block: ToolBlock) -> bool:
    """Return whether the model began to write the arguments of a call, but they are not JSON."""
    if block.state is not CallState.PREPARING or not block.arguments.size:
        return False
    try:
        msgspec.json.decode(block.arguments.text)
    except msgspec.DecodeError:
        return True
    return False


def _end_of(block: ToolBlock, end: TurnEnd) -> CallState:
    match block.state:
        case CallState.REFUSED:
            return CallState.REJECTED
        case CallState.PREPARING if end is TurnEnd.DONE:
            return CallState.FAILED if _is_incomplete(block) else CallState.UNREPORTED
        case CallState.APPROVED | CallState.RUNNING if end is TurnEnd.DONE:
            return CallState.UNREPORTED
        case CallState.APPROVED | CallState.RUNNING if end is not TurnEnd.GONE:
            return CallState.LEFT
        case _:
            return CallState.STOPPED


def stop_left(update: Update) -> None:
    """Call stopped what went on after its turn: the agent's process has ended, and all its own."""
    for lane in update.chat.lanes.values():
        for block in lane.calls.values():
            if block.state is CallState.LEFT:
                step(update, block, lane, CallState.STOPPED)
                update.redraw(block, lane)


def settle_pending(update: Update) -> None:
    """End the requests that wait for the user; running calls may still finish."""
    for block_id in list(update.chat.pending):
        block, lane = update.chat.live[block_id]
        dismiss(update, block, lane)
        if isinstance(block, ToolBlock) and block.state is CallState.WAITING:
            step(update, block, lane, CallState.STOPPED)

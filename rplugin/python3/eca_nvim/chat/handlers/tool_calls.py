"""Tool calls: what the agent says about its calls.

Rules kept here:
- Any event may be the first about a call, and may come after its end (call_ids.py tells which
  call an id means). What comes too late changes nothing.
- Later events complete earlier ones: what one leaves out stays as it was. Only a call that becomes
  another before it was allowed keeps nothing that the agent derived from its arguments.
- A call that waits for the user and becomes another is asked for again.
"""

from __future__ import annotations

from msgspec.structs import asdict, replace

from eca_nvim.chat.handlers.call_steps import asks, step
from eca_nvim.chat.handlers.groups import join_neighbours
from eca_nvim.chat.handlers.questions import dismiss_for_call, told_later
from eca_nvim.chat.handlers.subagents import anchor_lane, does, nested_asks
from eca_nvim.chat.handlers.task_list import take_task_list
from eca_nvim.chat.model.blocks import Fold, QuestionState, ToolBlock
from eca_nvim.chat.model.call_files import changed_paths, changed_places, may_change, moved
from eca_nvim.chat.model.call_ids import OPEN_TO_CHANGE, asked_for, at_work, is_meant, is_over
from eca_nvim.chat.model.known_tools import facts_of
from eca_nvim.chat.render.tool import call_title
from eca_nvim.chat.update import Update
from eca_nvim.chat.vocabulary.call_details import FileChange, Subagent, ToolCall
from eca_nvim.chat.vocabulary.events import (
    BY_CONFIG,
    ToolFinished,
    ToolPreparing,
    ToolRejected,
    ToolRequested,
    ToolRunning,
)
from eca_nvim.chat.vocabulary.ops import BlockKind, FilesChanged, ShowPlace
from eca_nvim.chat.vocabulary.shown_request import is_same
from eca_nvim.chat.vocabulary.states import ENDED_CALLS, CallState, Turn

SHOWN_ARGUMENTS = 4000
"""An open body shows arguments as they grow up to this many characters, then when complete."""


def preparing(update: Update, event: ToolPreparing) -> None:
    """Take a piece of a call's arguments while the model writes it."""
    block = update.lane.calls.get(event.call.id)
    if block is not None and block.state in ENDED_CALLS and _goes_on(update):
        block = None
    if block is not None and block.state is not CallState.PREPARING:
        return
    block = _heard(update, block, event.call)
    block.arguments.feed(event.arguments_text)
    grows = block.is_open and block.arguments.size <= SHOWN_ARGUMENTS
    update.redraw(block, update.lane, with_body=grows)
    does(update, update.lane, lambda: call_title(block, update.chat.settings))


def requested(update: Update, event: ToolRequested) -> None:
    """Take a complete call, which may run or waits for the user."""
    block = asked_for(update.lane, event.call)
    if block is not None and block.state not in OPEN_TO_CHANGE:
        return
    waited = block.call if block is not None and block.state is CallState.WAITING else None
    state = CallState.WAITING if event.needs_approval else CallState.APPROVED
    block = _heard(update, block, event.call)
    step(update, block, update.lane, state)
    if block.state is CallState.WAITING and waited is not None and block.call is not waited:
        asks(update, block)
    if not block.replayed:
        _tell_place(update, block, done=False)


def running(update: Update, event: ToolRunning) -> None:
    """Take that a call runs; it repeats as a subagent steps."""
    block = _ongoing(update, event.call)
    if block is None:
        return
    if block.started_ms is None:
        block.started_ms = update.now
    step(update, block, update.lane, CallState.RUNNING)


def finished(update: Update, event: ToolFinished) -> None:
    """Take the result of a call, and say which files it changed.

    Without an id there was no call: the agent has put away its task list.
    """
    if not event.call.id:
        take_task_list(update, event.call.details)
        return
    block = _ongoing(update, event.call)
    if block is None:
        return
    block.outputs = event.outputs
    block.total_ms = event.total_ms
    dismiss_for_call(update, block)
    if block.question is None and event.dialogue is not None:
        block.question = told_later(event.dialogue)
    step(update, block, update.lane, _outcome(block, event))
    if block.state is CallState.DONE:
        take_task_list(update, event.call.details, block)
        if not block.replayed:
            join_neighbours(update, block, update.lane)
            _tell_files(update, block)
            _tell_place(update, block, done=True)


def _outcome(block: ToolBlock, event: ToolFinished) -> CallState:
    question = block.question
    if question is not None and question.state is QuestionState.DISMISSED:
        return CallState.REJECTED
    return CallState.FAILED if event.failed else CallState.DONE


def rejected(update: Update, event: ToolRejected) -> None:
    """Take that a call will not run, or was stopped while it ran."""
    block = _ongoing(update, event.call)
    if block is None:
        return
    stopped = update.chat.turn.state is Turn.STOPPING and block.state is not CallState.REFUSED
    dismiss_for_call(update, block)
    block.by_config = event.reason == BY_CONFIG
    step(update, block, update.lane, CallState.STOPPED if stopped else CallState.REJECTED)


def _goes_on(update: Update) -> bool:
    """Say whether the model may write a call now; after its turn such an event comes too late."""
    return update.replays or update.chat.turn.state in (Turn.SENDING, Turn.RUNNING)


def _ongoing(update: Update, call: ToolCall) -> ToolBlock | None:
    """Return the block of a call that runs or ends now, or None when the event comes too late."""
    block = at_work(update.lane, call)
    if block is not None and is_over(block):
        return None
    return _heard(update, block, call)


def _heard(update: Update, block: ToolBlock | None, call: ToolCall) -> ToolBlock:
    """Take what is said of a call; None stands for a new one."""
    if block is None:
        block = _begin(update, call)
    else:
        _complete(update, block, call)
    update.about = block
    if isinstance(call.details, Subagent) and call.details.chat_id is not None:
        anchor_lane(update, block, call.details.chat_id)
    return block


def _begin(update: Update, call: ToolCall) -> ToolBlock:
    lane = update.lane
    block = ToolBlock(update.mint(), _kind(call), Fold.CLOSED, call=call, chat_id=lane.chat_id)
    block.replayed = update.replays
    earlier = lane.calls.get(call.id)
    if earlier is not None and earlier.state not in ENDED_CALLS:
        block.earlier = earlier
    lane.calls[call.id] = block
    update.chat.live[block.id] = (block, lane)
    update.withdraw_rejection()
    update.add(block)
    return block


def _kind(call: ToolCall) -> BlockKind:
    facts = facts_of(call)
    return facts.kind if facts is not None else BlockKind.TOOL


def completed(known: ToolCall, said: ToolCall) -> ToolCall:
    """Add to what is known of a call what is said of it; the same call when that is nothing new."""
    if said == known and is_same(said.arguments, known.arguments):
        return known
    told = {name: value for name, value in asdict(said).items() if value is not None}
    fresh = replace(known, **told)
    return known if is_same(fresh, known) else fresh


def _complete(update: Update, block: ToolBlock, said: ToolCall) -> None:
    known = block.call
    if block.state in OPEN_TO_CHANGE and not is_meant(known, said):
        known = replace(known, details=None, summary=None)
    fresh = completed(known, said)
    if fresh is block.call:
        return
    block.call = fresh
    if block.id in update.chat.pending:
        update.asks_otherwise(block.id)
    if block.nested is not None and block.nested.waits:
        nested_asks(update, block)


def _tell_place(update: Update, block: ToolBlock, *, done: bool) -> None:
    """Say which lines of its file a call changes; a change of the agent's own kind only."""
    change = block.call.details
    if isinstance(change, FileChange) and change.path in changed_paths(block.call):
        places = changed_places(change, done=done)
        update.ops.append(ShowPlace(update.chat.id, change.path, places, done))


def _tell_files(update: Update, block: ToolBlock) -> None:
    """Say which files a call changed; no paths when it may have changed any."""
    if not may_change(block.call):
        return
    paths = changed_paths(block.call)
    update.ops.append(FilesChanged(update.chat.id, paths, moved(block.call)))
    for path in paths:
        update.emit("EcaFileChanged", {"path": path})

"""Tool calls: handles the events about calls.

Any event may be the first about a call, and may come after its end.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import astuple, replace

from eca_nvim.chat.handlers.call_groups import (
    anchor_lane,
    join_neighbours,
    renew_nested_requests,
    show_activity,
)
from eca_nvim.chat.handlers.call_steps import announce_request, resolve_request, step
from eca_nvim.chat.handlers.questions import dismiss_for_call, replayed_question
from eca_nvim.chat.handlers.task_list import update_task_list
from eca_nvim.chat.handlers.used_files import call_ended
from eca_nvim.chat.model.blocks import Fold, QuestionState, ToolBlock
from eca_nvim.chat.model.calls import changed_paths, changed_places, may_change, moved
from eca_nvim.chat.model.chat import OPEN_TO_CHANGE, active_call, is_compatible, requested_call
from eca_nvim.chat.render.tool import call_title
from eca_nvim.chat.text.output import LiveOutput
from eca_nvim.chat.update import Update
from eca_nvim.chat.vocabulary import (
    call_details,
    effects,
    events,
    ops,
    options,
    requests,
    states,
    turn_events,
)

SHOWN_ARGUMENTS = 4000
"""An open body shows growing arguments up to this many characters, then only once complete."""


_FIELDS = call_details.ToolCall.__struct_fields__
_DERIVED: Mapping[str, None] = dict.fromkeys(
    ("summary", "details", "title", "command", "locations", "changes", "mentions", "note")
)
"""Fields that the agent derives from the arguments of a call."""


def preparing(update: Update, event: events.ToolPreparing) -> None:
    """Append a piece of the arguments that the model is writing."""
    block = update.lane.calls.get(event.call.id)
    # After its turn the model writes no call, so what comes then is too late.
    writes = update.replays or update.chat.turn.state in (states.Turn.SENDING, states.Turn.RUNNING)
    if block is not None and block.state in states.ENDED_CALLS and writes:
        block = None
    if block is not None and block.state is not states.CallState.PREPARING:
        return
    block = _block_of(update, block, event.call)
    block.arguments.feed(event.arguments_text)
    block.so_far = event.so_far or block.so_far
    grows = block.is_open and block.arguments.size <= SHOWN_ARGUMENTS
    update.redraw(block, with_body=grows)
    show_activity(update, update.lane, lambda: call_title(block, update.chat.settings))


def requested(update: Update, event: events.ToolRequested) -> None:
    """Store a complete call, which is approved already or waits for the user."""
    block = requested_call(update.lane, event)
    if (
        block is not None
        and block.state not in OPEN_TO_CHANGE
        and (not event.needs_approval or event.request_id in (None, block.request_id))
    ):
        return  # the same request repeated, and no other one for the approval of the call
    waited = None
    if block is not None and block.state is states.CallState.WAITING:
        waited = (block.call, block.choices)
    trusted = _trusted_choice(update, event) if waited is None else None
    waits = event.needs_approval and trusted is None
    state = states.CallState.WAITING if waits else states.CallState.APPROVED
    block = _block_of(update, block, event.call, asks=event.needs_approval)
    block.choices, block.request_id = event.choices, event.request_id
    step(update, block, state)
    if trusted is not None and block.state is states.CallState.APPROVED:
        home = update.chat.id
        allowed = effects.Decision(block.lane.chat_id, block.call, trusted.id, True, home, block.id)
        update.effects.append(lambda it: it.decide(allowed))
    if block.state is states.CallState.WAITING and waited not in (
        None,
        (block.call, block.choices),
    ):
        announce_request(update, block)
    if not block.replayed:
        _show_place(update, block, done=False)


def _trusted_choice(update: Update, event: events.ToolRequested) -> requests.Choice | None:
    """Return the choice that allows a call of a trusted chat, this once; None asks the user.

    An agent that has an option for trust knows itself what it need not ask.
    """
    chat = update.chat
    is_ours = chat.trust and options.first_of(chat.options, options.TRUST) is None
    if not is_ours or not event.needs_approval or chat.turn.state is states.Turn.STOPPING:
        return None
    once = (it for it in event.choices if it.kind is requests.ChoiceKind.ALLOW_ONCE)
    return next(once, None)


def running(update: Update, event: events.ToolRunning) -> None:
    """Mark a call as running; the event repeats with each step of a subagent."""
    block = _open_call(update, event.call)
    if block is None:
        return
    is_undecided = (
        block.state in (states.CallState.WAITING, states.CallState.REFUSED)
        and not event.is_approved
    )
    if not is_undecided and block.started_ms is None:
        block.started_ms = update.now
    step(update, block, block.state if is_undecided else states.CallState.RUNNING)


def withdrawn(update: Update, event: events.ApprovalWithdrawn) -> None:
    """Let a call wait no longer; it goes on as before it was asked about."""
    block = update.lane.calls.get(event.call.id)
    if block is not None and block.state is states.CallState.WAITING:
        resolve_request(update, block, "withdrawn")
        began = block.started_ms is not None
        step(update, block, states.CallState.RUNNING if began else states.CallState.PREPARING)


def printed(update: Update, event: events.ToolOutput) -> None:
    """Add to what a call prints, and show its end."""
    block = _open_call(update, call_details.ToolCall(event.call_id))
    if block is None or block.state in states.ENDED_CALLS:
        return
    if block.live is None or event.replaces:
        block.live = LiveOutput()
    block.live.feed(event.text)
    block.live.awaits_input = event.awaits_input
    update.redraw(block, with_body=block.is_open)


def job_changed(update: Update, event: turn_events.Job) -> None:
    """Show at the call that started a job whether it runs, or how it ended."""
    block = update.lane.calls.get(event.call_id or "")
    if block is None or block.job == event:
        return
    if event.state is not turn_events.JobState.RUNNING and block.started_ms is not None:
        block.total_ms = update.now - block.started_ms
    block.job = event
    update.redraw(block)


def finished(update: Update, event: events.ToolFinished) -> None:
    """Store the result of a call, and report the files it changed.

    An event without an id is not about a call: the agent has cleared its task list.
    """
    if not event.call.id:
        update_task_list(update, event.call.details)
        return
    block = _open_call(update, event.call)
    if block is None:
        _store_late_outputs(update, event)
        return
    block.outputs = event.outputs
    if any(event.outputs):
        block.live = None
    block.total_ms = event.total_ms
    if block.total_ms is None and block.started_ms is not None and not block.replayed:
        block.total_ms = update.now - block.started_ms
    dismiss_for_call(update, block)
    if block.question is None and event.dialogue is not None:
        block.question = replayed_question(event.dialogue)
    step(update, block, _outcome(update, block, event))
    call_ended(update, block)
    if block.state in (states.CallState.DONE, states.CallState.STOPPED):
        update_task_list(update, event.call.details, block)
        if not block.replayed:
            join_neighbours(update, block)
            _report_files(update, block)
            _show_place(update, block, done=True)


def _store_late_outputs(update: Update, event: events.ToolFinished) -> None:
    """Show the output of a call that ended without any."""
    block = update.lane.calls.get(event.call.id)
    if block is not None and any(event.outputs) and not any(block.outputs):
        block.outputs, block.live = event.outputs, None
        update.redraw(block, with_body=block.is_open)


def _outcome(update: Update, block: ToolBlock, event: events.ToolFinished) -> states.CallState:
    """Return how a call ended: what ends while its turn is being stopped was cut short by that."""
    question = block.question
    if question is not None and question.state is QuestionState.DISMISSED:
        return states.CallState.REJECTED
    if event.failed:
        return states.CallState.FAILED
    return states.CallState.STOPPED if _is_stopping(update) else states.CallState.DONE


def _is_stopping(update: Update) -> bool:
    return update.chat.turn.state is states.Turn.STOPPING and not update.replays


def rejected(update: Update, event: events.ToolRejected) -> None:
    """Mark a call as rejected, or as stopped if its turn is being stopped, or was."""
    block = _open_call(update, event.call)
    if block is None:
        return
    was_cut = (
        event.reason == events.CUT or block.state is states.CallState.LEFT or _is_stopping(update)
    )
    stopped = was_cut and block.state is not states.CallState.REFUSED
    dismiss_for_call(update, block)
    block.by_config = event.reason == events.BY_CONFIG
    step(update, block, states.CallState.STOPPED if stopped else states.CallState.REJECTED)


def _open_call(update: Update, call: call_details.ToolCall) -> ToolBlock | None:
    """Return the block of a call that runs or has just ended; None if the event is too late."""
    block = active_call(update.lane, call)
    if block is not None and not states.CALL_STEPS[block.state]:
        return None
    return _block_of(update, block, call)


def _block_of(
    update: Update, block: ToolBlock | None, call: call_details.ToolCall, *, asks: bool = False
) -> ToolBlock:
    """Store what an event says about a call, in a new block if `block` is None.

    asks: the event asks the user about the call, which may have begun.
    """
    if block is None:
        block = _new_block(update, call)
    else:
        _merge(update, block, call, asks=asks)
    update.about = block
    if isinstance(call.details, call_details.Subagent) and call.details.chat_id is not None:
        anchor_lane(update, block, call.details.chat_id)
    return block


def _new_block(update: Update, call: call_details.ToolCall) -> ToolBlock:
    lane = update.lane
    is_list = call.kind is call_details.ToolKind.TASKS
    kind = ops.BlockKind.TASKS if is_list else ops.BlockKind.TOOL
    block = ToolBlock(*update.place(), kind, Fold.CLOSED, call=call)
    block.replayed = update.replays
    earlier = lane.calls.get(call.id)
    if earlier is not None and earlier.state not in states.ENDED_CALLS:
        block.earlier = earlier
    lane.calls[call.id] = block
    update.chat.live[block.id] = block
    update.withdraw_rejection()
    update.add(block)
    return block


def merged(known: call_details.ToolCall, received: call_details.ToolCall) -> call_details.ToolCall:
    """Return `known` with the values of `received` that are not None; `known` if none is new."""
    if received is known:
        return known
    fresh: dict[str, object] = {}
    is_whole = True
    for name, after, before in zip(_FIELDS, astuple(received), astuple(known), strict=True):
        if after is None or after is before:
            is_whole = is_whole and after is before
        elif name == "changes":
            value, is_whole = _with_texts(after, before or ()), False
            if not requests.is_same(value, before):
                fresh[name] = value
        elif not requests.is_same(after, before):
            fresh[name] = after
    if fresh and is_whole:
        return received  # which is mostly the same value with the next event
    return replace(known, **fresh) if fresh else known


def _with_texts(
    received: Sequence[call_details.FileChange], known: Sequence[call_details.FileChange]
) -> tuple[call_details.FileChange, ...]:
    """Return changes with the texts already known, where the received ones lack them."""
    by_path = {change.path: change for change in known if change.new is not None}
    return tuple(
        replace(it, old=had.old, new=had.new, every=had.every)
        if it.new is None and (had := by_path.get(it.path))
        else it
        for it in received
    )


def _merge(
    update: Update, block: ToolBlock, received: call_details.ToolCall, *, asks: bool
) -> None:
    # Later events complete earlier ones. Other arguments before an approval make it another call:
    # what was derived from the old ones is dropped.
    known = block.call
    may_differ = asks or block.state in OPEN_TO_CHANGE
    if may_differ and not is_compatible(known, received):
        known = replace(known, **_DERIVED)
    fresh = merged(known, received)
    if fresh is block.call:
        return
    block.call = fresh
    if block.request is not None:
        update.request_changed(block)
    if block.nested is not None and block.nested.waits:
        renew_nested_requests(update, block)


def _show_place(update: Update, block: ToolBlock, *, done: bool) -> None:
    """Show the lines a call changes, or its location if only that is known.

    It takes reading the diff, which costs more than the rest of the call: only if the view follows.
    """
    if not update.chat.settings.follow:
        return
    call, chat = block.call, update.chat.id
    paths = changed_paths(call)
    for change in call.changes or ():
        if change.path in paths:
            places = changed_places(change, done=done)
            update.ops.append(ops.ShowPlace(chat, change.path, places, done))
    for location in () if call.changes else call.locations or ():
        if location.path in paths and location.line is not None:
            update.ops.append(ops.ShowPlace(chat, location.path, [(location.line, 0)], done))


def _report_files(update: Update, block: ToolBlock) -> None:
    """Report the files a call changed; no paths means that it may have changed any file."""
    if not may_change(block.call):
        return
    paths = changed_paths(block.call)
    update.ops.append(ops.FilesChanged(update.chat.id, paths, moved(block.call)))
    for path in paths:
        update.emit("EcaFileChanged", {"path": path})

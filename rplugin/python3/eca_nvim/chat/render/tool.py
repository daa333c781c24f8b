"""Tool: the header of a call, `{icon} {verb} {target} {stats} {time}`, and its body.

Any value of a call may be missing at any time; known values are shown.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from types import MappingProxyType
from typing import Any

from eca_nvim.chat.model.blocks import Fold, ToolBlock
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.model.outside_paths import paths_outside
from eca_nvim.chat.render.diff import changes_body
from eca_nvim.chat.render.panel_rows import money
from eca_nvim.chat.render.question import question_body, question_header
from eca_nvim.chat.render.title import (
    TARGET_CELLS,
    argument_body,
    arguments_not_shown,
    file_rows,
    other_folder,
    shell_parts,
    verb_and_target,
)
from eca_nvim.chat.text.output import Body, cut, indent_rest, indented, joined, tail_body, text_body
from eca_nvim.chat.text.safe_text import duration, literal_lines, one_line, truncate
from eca_nvim.chat.vocabulary import call_details, ops, turn_events
from eca_nvim.chat.vocabulary.states import ENDED_CALLS, CallState

FAILED_LINES = 10
UNSURE = " · earlier state uncertain"
AWAITS_INPUT = " · waits for input, :Eca stop ends it"
NO_ANSWER = " · no answer yet: :Eca stop, then :Eca mcp restarts its server"
LONG_MS = 30_000
"""Milliseconds after which a silent call of a tool server (MCP) is said to be slow.

A server that has died is reported to run, and calls of it never end.
"""

_LOOKS: Mapping[CallState, tuple[str, str]] = {
    CallState.PREPARING: ("EcaToolPreparing", ""),
    CallState.WAITING: ("EcaToolWaiting", "waiting"),
    CallState.APPROVED: ("EcaToolRunning", ""),
    CallState.REFUSED: ("EcaToolRejected", "rejected"),
    CallState.RUNNING: ("EcaToolRunning", ""),
    CallState.DONE: ("EcaToolDone", ""),
    CallState.FAILED: ("EcaToolFailed", ""),
    CallState.REJECTED: ("EcaToolRejected", "rejected"),
    CallState.STOPPED: ("EcaToolRejected", "stopped"),
    CallState.UNREPORTED: ("EcaMuted", "no result"),
    CallState.LEFT: ("EcaWarning", "may still run"),
}
"""The group of a state, and its word if the icon does not say enough."""
_JOB_STATES = {
    turn_events.JobState.RUNNING: CallState.RUNNING,
    turn_events.JobState.COMPLETED: CallState.DONE,
    turn_events.JobState.FAILED: CallState.FAILED,
    turn_events.JobState.KILLED: CallState.STOPPED,
    turn_events.JobState.ENDED: CallState.DONE,
}


# --- header -------------------------------------------------------------------------------------


def tool_header(block: ToolBlock, settings: RenderSettings, now: int) -> Sequence[ops.Segment]:
    """Return the header of a call; `now` (ms) is for the elapsed time."""
    if block.question is not None and block.state is not CallState.STOPPED:
        return question_header(block.question, settings)
    verb, target = verb_and_target(block, settings)
    waits = block.nested is not None and block.nested.waits
    segments: list[ops.Segment] = [_icon(block, settings), (f" {verb}", "EcaToolName")]
    if target:
        segments.append((f" {truncate(target, TARGET_CELLS)}", "EcaToolTarget"))
    segments += _stats(block)
    segments += [(UNSURE, "EcaWarning")] if block.is_unsure else []
    if block.live is not None and block.state not in ENDED_CALLS:
        last_line = truncate(one_line(block.live.last_line), TARGET_CELLS)
        segments += [(f" · {last_line}", "EcaMuted")] if last_line else []
        segments += [(AWAITS_INPUT, "EcaWarning")] if block.live.awaits_input else []
    segments += [(NO_ANSWER, "EcaWarning")] if _may_hang(block, now) else []
    if paths_outside(block.call, settings.folders):
        segments.append((" outside the workspace", "EcaWarning"))
    if waits:
        segments.append((" · pending request", "EcaToolWaiting"))
    group, word = _LOOKS[block.state]
    if word:
        whose = " by the server's configuration" if block.by_config else ""
        segments.append((f" {word}{whose}", group))
    if time := _time(block, now):
        segments.append((f"  {time}", "EcaTime"))
    return segments


def _may_hang(block: ToolBlock, now: int) -> bool:
    """Return whether a call of a tool server has run for so long that the server may be dead."""
    runs = block.state is CallState.RUNNING and block.started_ms is not None and block.live is None
    return runs and block.call.origin == "mcp" and now - (block.started_ms or now) >= LONG_MS


def _icon(block: ToolBlock, settings: RenderSettings) -> ops.Segment:
    """Return the icon of a call, or of what it waits for or has started."""
    state, tasks, job = block.state, block.call.details, block.job
    if block.nested is not None and block.nested.waits:
        state = CallState.WAITING
    elif state is CallState.DONE and job is not None:
        state = _JOB_STATES[job.state]
    left = isinstance(tasks, call_details.TaskList) and tasks.done < len(tasks.tasks)
    if left and state is CallState.DONE:
        return (settings.icon("task_pending"), "EcaToolRunning")
    return (settings.icon(state.value), _LOOKS[state][0])


def call_title(block: ToolBlock, settings: RenderSettings) -> str:
    """Return what a call does in one line, without its state."""
    verb, target = verb_and_target(block, settings)
    stats = "".join(text for text, _ in _stats(block))
    return " ".join(filter(None, (verb, truncate(target, TARGET_CELLS)))) + stats


def _stats(block: ToolBlock) -> list[ops.Segment]:
    if changes := block.call.changes:
        count = len({it.path for it in changes})
        files = [(f" {count} files", "EcaMuted")] if count > 1 else []
        added, removed = sum(it.added for it in changes), sum(it.removed for it in changes)
        return [*files, (f" +{added}", "EcaDiffAdd"), (f" -{removed}", "EcaDiffDelete")]
    if block.job is not None:
        return _job(block.job)
    match block.call.details:
        case call_details.TaskList(tasks=()):
            return [(" cleared", "EcaMuted")]
        case call_details.TaskList(tasks=tasks) as task_list:
            doing = (
                f" · {truncate(one_line(task_list.doing), TARGET_CELLS)}" if task_list.doing else ""
            )
            return [(f" {task_list.done}/{len(tasks)}{doing}", "EcaMuted")]
        case call_details.Subagent() as subagent if block.state is CallState.RUNNING:
            doing = block.nested.doing if block.nested and not block.nested.waits else ""
            pieces = (_step(subagent), truncate(doing, TARGET_CELLS))
            return [(f" · {piece}", "EcaMuted") for piece in pieces if piece]
        case call_details.ShellCommand(background=True):
            return [(" in the background", "EcaMuted")]
        case _ if block.state is CallState.PREPARING and block.arguments.size >= 1000:
            return [(f" {block.arguments.size // 1000}k characters", "EcaMuted")]
        case _:
            return []


def _job(job: turn_events.Job) -> list[ops.Segment]:
    segments = [(" in the background", "EcaMuted")]
    if job.exit_code:
        segments.append((f" exit {job.exit_code}", "EcaToolFailed"))
    if job.state is turn_events.JobState.KILLED:
        segments.append((" killed", "EcaToolRejected"))
    return segments


def _step(subagent: call_details.Subagent) -> str:
    if subagent.step is None:
        return ""
    most = "" if subagent.max_steps is None else f"/{subagent.max_steps}"
    return f"step {subagent.step}{most}"


def _time(block: ToolBlock, now: int) -> str:
    if isinstance(block.call.details, call_details.TaskList):
        return ""  # writing a task list takes no time worth showing
    if block.job is not None and block.job.state is turn_events.JobState.RUNNING:
        return ""  # the call took some seconds, the job takes longer
    if block.total_ms is not None:
        return duration(block.total_ms)
    if block.state is CallState.RUNNING and block.started_ms is not None:
        elapsed = now - block.started_ms
        return duration(elapsed) if elapsed >= 1000 else ""
    return ""


# --- body ---------------------------------------------------------------------------------------


def tool_body(block: ToolBlock, settings: RenderSettings, limit: int | None) -> Body:
    """Return the body of a call, with at most `limit` lines of output; None cuts nothing."""
    if block.state is CallState.PREPARING:
        return text_body(block.arguments.text, limit)
    if block.question is not None:
        return question_body(block.question, limit)
    if block.state is CallState.FAILED and block.fold is Fold.OPEN and limit is not None:
        return _output(block, FAILED_LINES)
    if block.call.changes:
        diff = changes_body(
            *standing_changes(block), None if limit is None else settings.diff_lines
        )
        if block.state is CallState.FAILED:
            return joined(_output(block, limit), diff)
        if block.state is CallState.WAITING:
            return joined(_remaining_arguments(block, settings, limit), diff)
        return diff
    details = block.call.details
    render = _DETAILS.get(type(details), _plain_body)
    return render(block, details, settings, limit)


def approval_body(block: ToolBlock, settings: RenderSettings) -> tuple[Body, int | None]:
    """Return the body for an approval: uncut, except diffs, which the diff tab shows whole.

    Beside it the first row of its diffs; None if it has none, or none that can be read.
    """
    if not block.call.changes:
        return tool_body(block, settings, None), None
    about = _remaining_arguments(block, settings, None)
    diff = changes_body(*standing_changes(block), settings.diff_lines)
    return joined(about, diff), len(about.lines) if diff.places else None


def standing_changes(block: ToolBlock) -> tuple[tuple[call_details.FileChange, ...], Set[int]]:
    """Return the changes of a call as they stand, and the hunks of them that are left out."""
    chosen = block.request.chosen if block.request else None
    if chosen is not None:
        return chosen.changes, chosen.left_out
    return block.call.changes or (), frozenset()


def _remaining_arguments(
    block: ToolBlock,
    settings: RenderSettings,
    limit: int | None,
    *,
    shown: Mapping[str, object] = MappingProxyType({}),
) -> Body:
    """List the arguments that are not shown elsewhere, while the call waits for approval."""
    if block.state is not CallState.WAITING:
        return Body([], language="")
    left = arguments_not_shown(block.call, settings).items()
    arguments = {name: value for name, value in left if shown.get(name) != value}
    return joined(_note(block, settings, limit), argument_body(arguments, limit))


def _note(block: ToolBlock, settings: RenderSettings, limit: int | None) -> Body:
    """Return the files of a call that waits for approval, and how the agent explains it."""
    if block.state is not CallState.WAITING:
        return Body([], language="")
    said = {"says": block.call.note} if block.call.note else {}
    return joined(file_rows(block.call, settings, limit), argument_body(said, limit))


def _output(block: ToolBlock, limit: int | None) -> Body:
    """Return the whole output of a call, or the end of what it printed so far.

    What a call prints while it waits for the user is not part of what they approve.
    """
    if block.live is not None and block.state is not CallState.WAITING:
        return tail_body(*block.live.tail(limit))
    return text_body("\n".join(filter(None, block.outputs)), limit)


def _shell_body(
    block: ToolBlock, details: object, settings: RenderSettings, limit: int | None
) -> Body:
    if not _has_command(block):
        return _plain_body(block, None, settings, limit)
    first, *rest = _command(block)
    command = Body(indent_rest([f"$ {first}", *rest]), language="")
    waits = block.state is CallState.WAITING
    folder = other_folder(block.call, settings) if waits else {}
    remaining = _remaining_arguments(block, settings, limit, shown=folder)
    command = joined(argument_body(folder, limit), command, remaining)
    if isinstance(details, call_details.ShellCommand):
        command = joined(command, shell_parts(details.parts, waits=waits))
    return joined(command, _output(block, limit))


def _has_command(block: ToolBlock) -> bool:
    """Return whether a call runs a command that is known; a title is only the agent's words."""
    call = block.call
    return call.kind is call_details.ToolKind.EXECUTE and (
        call.command is not None or bool(call.verb)
    )


def _command(block: ToolBlock) -> list[str]:
    if block.call.command is not None:
        return literal_lines(block.call.command)
    if isinstance(block.call.details, call_details.ShellCommand):
        parts = block.call.details.parts
        return literal_lines("; ".join(" ".join((part.command, *part.arguments)) for part in parts))
    return literal_lines((block.call.summary or "").removeprefix("$ "))


def _json_body(
    block: ToolBlock, details: call_details.JsonOutputs, settings: RenderSettings, limit: int | None
) -> Body:
    outputs = text_body("\n".join(map(indented, details.documents)), limit, "json")
    return joined(_remaining_arguments(block, settings, limit), outputs)


def _subagent_body(
    block: ToolBlock, details: call_details.Subagent, settings: RenderSettings, limit: int | None
) -> Body:
    """Return the subagent's details; its result is in the blocks that follow."""
    facts = (details.agent, details.model, details.variant, _step(details), *_used(block))
    about = Body([one_line(" · ".join(filter(None, facts)))])
    about = joined(about, _remaining_arguments(block, settings, limit))
    result_follows = block.nested is not None and limit is not None
    return about if result_follows else joined(about, _output(block, limit))


def _used(block: ToolBlock) -> tuple[str, ...]:
    usage = block.nested.usage if block.nested else None
    if usage is None or usage.session_tokens is None:
        return ()
    cost = money(usage.session_cost, usage.currency) if usage.session_cost else ""
    return f"{usage.session_tokens} tokens", cost


_TASK_LOOKS = {
    call_details.TaskStatus.DONE: ("task_done", "EcaToolDone"),
    call_details.TaskStatus.IN_PROGRESS: ("task_running", "EcaToolRunning"),
    call_details.TaskStatus.PENDING: ("task_pending", "EcaMuted"),
}


def _task_body(
    block: ToolBlock, details: call_details.TaskList, settings: RenderSettings, limit: int | None
) -> Body:
    lines, marks = [], []
    done = {task.id for task in details.tasks if task.status is call_details.TaskStatus.DONE}
    for row, task in enumerate(details.tasks):
        icon_name, group = _TASK_LOOKS[task.status]
        start = f"{settings.icon(icon_name)} {one_line(task.id)}. {one_line(task.subject)}"
        lines.append(start + _task_notes(task, done))
        end = len(start.encode())
        marks += [(row, 0, end, group), (row, end, -1, "EcaMuted")]
    return joined(_remaining_arguments(block, settings, limit), Body(lines, marks))


def _task_notes(task: call_details.Task, done: Set[str]) -> str:
    """Return a task's unusual priority, and the tasks that must be done first."""
    before = [f"#{one_line(it)}" for it in task.blocked_by if it not in done]
    priority = one_line(task.priority) if task.priority not in ("", "medium") else ""
    notes = filter(None, (priority, f"after {', '.join(before)}" if before else ""))
    text = " · ".join(notes)
    return f"  {text}" if text else ""


def _unknown_body(
    block: ToolBlock,
    details: call_details.UnknownDetails,
    settings: RenderSettings,
    limit: int | None,
) -> Body:
    unknown = cut(indent_rest(literal_lines(f"{details.kind}: {details.text}")), limit, language="")
    return joined(unknown, _plain_body(block, None, settings, limit))


def _plain_body(
    block: ToolBlock, _details: object, settings: RenderSettings, limit: int | None
) -> Body:
    if _has_command(block):
        return _shell_body(block, None, settings, limit)
    is_shown = block.call.kind not in _SHORT_TITLE and block.outputs
    arguments = {} if is_shown else block.call.arguments or {}
    shown = joined(_note(block, settings, limit), argument_body(arguments, limit))
    return joined(shown, _output(block, limit))


_SHORT_TITLE = frozenset({None, call_details.ToolKind.OTHER, call_details.ToolKind.AGENT})
"""Kinds of calls whose header does not show all arguments."""

_DETAILS: Mapping[type, Callable[[ToolBlock, Any, RenderSettings, int | None], Body]] = {
    call_details.ShellCommand: _shell_body,
    call_details.JsonOutputs: _json_body,
    call_details.Subagent: _subagent_body,
    call_details.TaskList: _task_body,
    call_details.UnknownDetails: _unknown_body,
}

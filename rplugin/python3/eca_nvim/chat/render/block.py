"""Block: the header line and the body of each kind of block, and of a group of calls."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, islice
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from eca_nvim.chat.model import blocks
from eca_nvim.chat.model.attempts import AttemptsBlock
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.model.outside_paths import paths_outside
from eca_nvim.chat.render.question import question_body, question_header, stopped_question
from eca_nvim.chat.render.title import verb_and_target
from eca_nvim.chat.render.tool import call_title, tool_body, tool_header
from eca_nvim.chat.text.output import Body, joined, rows_of, table, text_body
from eca_nvim.chat.text.safe_text import body_lines, duration, one_line, truncate
from eca_nvim.chat.vocabulary import ops, states, turn_events

CELLS = 80
"""Screen cells for all names together."""


def add_to_header(
    group: blocks.GroupBlock, block: blocks.ToolBlock, settings: RenderSettings
) -> None:
    """Add a call to the names in its group's header."""
    verb, target = verb_and_target(block, settings)
    group.names.setdefault(verb, {})[target] = None
    group.outside = group.outside or bool(paths_outside(block.call, settings.folders))


def _group_header(
    group: blocks.GroupBlock, settings: RenderSettings, _now: int
) -> Sequence[ops.Segment]:
    """Return one line for all calls: by verb, each name once, in order."""
    segments: list[ops.Segment] = [(settings.icon("done"), "EcaToolDone")]
    for place, (verb, targets) in enumerate(group.names.items()):
        shown = islice(filter(None, targets), CELLS)  # more would not fit
        names = truncate(", ".join(shown), CELLS // len(group.names))
        count = f" ({len(targets)})" if len(targets) > 2 else ""
        segments += [(" ·", "EcaMuted")] if place else []
        segments += [(f" {verb}", "EcaToolName"), (f" {names}", "EcaToolTarget")]
        segments += [(count, "EcaMuted")] if count else []
    if group.outside:
        segments.append((" outside the workspace", "EcaWarning"))
    return segments


def _group_body(group: blocks.GroupBlock, settings: RenderSettings, limit: int | None) -> Body:
    if limit is not None:
        return Body(())  # the calls are blocks of their own
    titles = [Body([call_title(it, settings)]) for it in group.members]
    bodies = [tool_body(it, settings, None) for it in group.members]
    return joined(*chain(*zip(titles, bodies, strict=True)))


TITLE_CELLS = 120
MODEL_CELLS = 40
OUTPUT_LINES = 200
PREVIEW_LINES = 10

_NOT_LOADED: Final = (("▴ older messages, not loaded: :Eca restart, then :Eca resume", "EcaMuted"),)


def header(block: blocks.Block, settings: RenderSettings, now: int) -> Sequence[ops.Segment]:
    """Return the header line; `now` (ms) is for elapsed times."""
    return _RENDERERS[type(block)].header(block, settings, now)


def lost_header(block: blocks.Block, settings: RenderSettings) -> Sequence[ops.Segment] | None:
    """Return the header to show if the host exits now; None if the block has ended.

    The view stores it, because a host that has exited cannot say how the block ends.
    """
    match block:
        case blocks.ReasoningBlock(total_ms=None):
            return _reasoning_header(replace(block, total_ms=0), settings, 0)
        case blocks.ToolBlock() | blocks.QuestionBlock() if (
            question := blocks.open_question(block)
        ) is not None:
            return stopped_question(question, settings)
        case blocks.ToolBlock(question=None, state=state) if state in states.UNFINISHED_CALLS | {
            states.CallState.LEFT
        }:
            stopped = replace(block, state=states.CallState.STOPPED, nested=None)
            return tool_header(stopped, settings, 0)
        case blocks.ToolBlock(job=turn_events.Job(state=turn_events.JobState.RUNNING) as job):
            killed = replace(block, job=replace(job, state=turn_events.JobState.KILLED))
            return tool_header(killed, settings, 0)
        case blocks.OlderBlock():
            return _NOT_LOADED
        case _:
            return None


def body(block: blocks.Block, settings: RenderSettings, limit: int | None = OUTPUT_LINES) -> Body:
    """Return the body: empty if the block is collapsed, a preview if it failed.

    limit: most lines of output, None for all.
    """
    return _RENDERERS[type(block)].body(block, settings, limit) if block.is_open else Body(())


def full_body(block: blocks.Block, settings: RenderSettings, limit: int | None) -> Body:
    """Return the body, even if the block is collapsed."""
    return _RENDERERS[type(block)].body(block, settings, limit)


# --- the kinds of blocks ------------------------------------------------------------------------


def _no_header(_block: blocks.Block, _settings: RenderSettings, _now: int) -> Sequence[ops.Segment]:
    return ()


def _titled(
    icon: str, group: str, words: Callable[[Any], tuple[str, str]]
) -> Callable[[Any, RenderSettings, int], Sequence[ops.Segment]]:
    """Return the header of a block that has an icon, a title, and maybe something beside it."""

    def render(block: blocks.Block, settings: RenderSettings, _now: int) -> Sequence[ops.Segment]:
        title, beside = (truncate(one_line(text), TITLE_CELLS) for text in words(block))
        shown = (f"{settings.icon(icon)} {title}", group)
        return (shown, (f" {beside}", "EcaMuted")) if beside else (shown,)

    return render


def _no_body(_block: blocks.Block, _settings: RenderSettings, _limit: int | None) -> Body:
    return Body(())


def _streamed_body(
    block: blocks.TextBlock | blocks.ReasoningBlock, _settings: RenderSettings, _limit: int | None
) -> Body:
    return Body(rows_of(block.text))


def _reasoning_header(
    block: blocks.ReasoningBlock, settings: RenderSettings, _now: int
) -> Sequence[ops.Segment]:
    icon = settings.icon("open" if block.is_open else "closed")
    return ((f"{icon} {reasoning_title(block)}", "EcaReasoning"),)


def reasoning_title(block: blocks.ReasoningBlock) -> str:
    """Return "thinking…", or "thought" with the time it took if known."""
    if block.total_ms is None:
        return "thinking…"
    return f"thought {duration(block.total_ms)}".rstrip()


def _note_body(block: blocks.NoteBlock, _settings: RenderSettings, _limit: int | None) -> Body:
    lines = [row for line in body_lines(block.text) for row in rows_of(line)]
    group = "EcaError" if block.is_error else "EcaNote"
    return Body(lines, tuple((row, 0, -1, group) for row in range(len(lines))))


def _hook_header(
    block: blocks.HookBlock, settings: RenderSettings, _now: int
) -> Sequence[ops.Segment]:
    name = truncate(one_line(block.name), TITLE_CELLS)
    if block.result is None:
        return ((f"{settings.icon('hook')} {name} …", "EcaHook"),)
    failed = hook_failed(block)
    segments: list[ops.Segment] = [
        (settings.icon("failed" if failed else "hook"), "EcaToolFailed" if failed else "EcaHook"),
        (f" {name}", "EcaHook"),
    ]
    if block.result.status:
        segments.append((f" exit {block.result.status}", "EcaToolFailed"))
    return segments


def hook_failed(block: blocks.HookBlock) -> bool:
    """Return whether a hook has failed."""
    return block.result is not None and bool(block.result.status or block.result.error)


def _hook_body(block: blocks.HookBlock, _settings: RenderSettings, limit: int | None) -> Body:
    if block.result is None:
        return Body(())
    shown = PREVIEW_LINES if block.fold is blocks.Fold.OPEN and limit is not None else limit
    outputs = (("output", block.result.output), ("error", block.result.error))
    return table([(name, text_body(text, shown)) for name, text in outputs if text])


def _image_words(block: blocks.ImageBlock) -> tuple[str, str]:
    kilobytes = max(1, len(block.base64) * 3 // 4 // 1024)
    return one_line(block.media_type) or "image", f"{kilobytes} KB"


def _older_header(
    block: blocks.OlderBlock, _settings: RenderSettings, _now: int
) -> Sequence[ops.Segment]:
    if block.loading:
        return (("▴ older messages …", "EcaMuted"),)
    known = block.count is not None and block.total is not None
    count = f" ({block.count} of {block.total})" if known else ""
    return ((f"▴ older messages{count}", "EcaMuted"),)


def attempt_title(block: AttemptsBlock) -> str:
    """Return which of the answers to a prompt follows, and whose it is."""
    parts = [f"answer {block.place + 1}/{len(block.attempts)}"]
    parts += [truncate(one_line(block.shown.model), MODEL_CELLS)] if block.shown.model else []
    return " · ".join([*parts, *(["new session"] if block.shown.is_told else [])])


def _attempts_header(
    block: AttemptsBlock, _settings: RenderSettings, _now: int
) -> Sequence[ops.Segment]:
    return ((attempt_title(block), "EcaNote"),)


class _Renderer(Struct, frozen=True):
    header: Callable[[Any, RenderSettings, int], Sequence[ops.Segment]]
    body: Callable[[Any, RenderSettings, int | None], Body]


_RENDERERS: Mapping[type[blocks.Block], _Renderer] = {
    blocks.TextBlock: _Renderer(_no_header, _streamed_body),  # drawn by appending
    blocks.ReasoningBlock: _Renderer(_reasoning_header, _streamed_body),
    blocks.NoteBlock: _Renderer(_no_header, _note_body),
    blocks.PlainBlock: _Renderer(
        _titled("unknown", "EcaMuted", lambda it: (it.name, "")),
        lambda it, _, limit: text_body(it.text, limit),
    ),
    blocks.ToolBlock: _Renderer(tool_header, tool_body),
    blocks.GroupBlock: _Renderer(_group_header, _group_body),
    blocks.HookBlock: _Renderer(_hook_header, _hook_body),
    blocks.QuestionBlock: _Renderer(
        lambda it, settings, _: question_header(it.question, settings),
        lambda it, _, limit: question_body(it.question, limit),
    ),
    blocks.ImageBlock: _Renderer(_titled("image", "EcaImage", _image_words), _no_body),
    blocks.LinkBlock: _Renderer(
        _titled("link", "EcaLink", lambda it: (one_line(it.title) or "link", it.url)), _no_body
    ),
    blocks.FlagBlock: _Renderer(_titled("flag", "EcaFlag", lambda it: (it.text, "")), _no_body),
    blocks.OlderBlock: _Renderer(_older_header, _no_body),
    AttemptsBlock: _Renderer(_attempts_header, _no_body),
}

"""Render group: shows calls that only read or searched as one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from eca_nvim.chat.model.blocks import GroupBlock, ToolBlock
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.model.outside_paths import paths_outside
from eca_nvim.chat.render.title import verb_and_target
from eca_nvim.chat.render.tool import call_title, tool_body
from eca_nvim.chat.text.body import Body, stacked
from eca_nvim.chat.text.safe_text import truncate
from eca_nvim.chat.vocabulary.ops import Segment

CELLS = 80
"""Screen cells for all names together."""


def add_to_header(group: GroupBlock, block: ToolBlock, settings: RenderSettings) -> None:
    """Add a call to the names in its group's header."""
    verb, target = verb_and_target(block, settings)
    group.names.setdefault(verb, {})[target] = None
    group.outside = group.outside or bool(paths_outside(block.call, settings.folders))


def group_header(group: GroupBlock, settings: RenderSettings, _now: int) -> Sequence[Segment]:
    """Return one line for all calls: by verb, each name once, in order."""
    segments: list[Segment] = [(settings.icon("done"), "EcaToolDone")]
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


def group_body(group: GroupBlock, settings: RenderSettings, limit: int | None) -> Body:
    """Return an empty body, because the calls are blocks of their own; without a limit, theirs."""
    return stacked(_calls(group, settings)) if limit is None else Body(())


def _calls(group: GroupBlock, settings: RenderSettings) -> Iterator[Body]:
    for block in group.members:
        yield Body([call_title(block, settings)])
        yield tool_body(block, settings, None)

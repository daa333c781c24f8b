"""Render arguments: what a tool is called with, a name and its value a line or more.

Rules kept here:
- While a call waits, all that nothing else tells whole is told here.
- What begins a line is ours: a name that could be taken for more than a name is quoted, and what
  a value goes on with has a margin.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.model.known_tools import ToolFacts, facts_of, is_identified, shell_line
from eca_nvim.chat.text.body import Body, stacked
from eca_nvim.chat.text.output import cut, hanging, value_lines
from eca_nvim.chat.text.safe_text import literal
from eca_nvim.chat.vocabulary.call_details import FileChange, Subagent, ToolCall
from eca_nvim.patterns import late_pattern

_PLAIN_NAME = late_pattern(r"[\w.$-]+")


def argument_body(arguments: Mapping[str, object], limit: int | None) -> Body:
    """List arguments, at most `limit` lines of each and a note of how many are left."""
    return stacked(_argument(key, value, limit) for key, value in arguments.items())


def _argument(key: str, value: object, limit: int | None) -> Body:
    name = key if _PLAIN_NAME.fullmatch(key) else json.dumps(key, ensure_ascii=False)
    start = f"{literal(name)}: "
    first, *rest = value_lines(value)
    told = cut(hanging([start + first, *rest]), limit)
    return Body(told.lines, [(0, 0, len(start.encode()), "EcaMuted"), *told.marks], "")


def unsaid(call: ToolCall, settings: RenderSettings) -> Mapping[str, object]:
    """Return the arguments that neither the details in the body nor the header tell whole."""
    facts = facts_of(call)
    arguments = call.arguments or {}
    left = {key: arguments[key] for key in arguments if not _said(call, facts, key, settings)}
    if isinstance(call.details, FileChange):
        path = call.details.path
        told = facts is not None and is_identified(path, settings)
        if not told and path not in left.values():
            left = {"path": path, **left}
    return left


def _said(call: ToolCall, facts: ToolFacts | None, key: str, settings: RenderSettings) -> bool:
    value = (call.arguments or {})[key]
    if facts is None:
        return False
    match call.details:
        case FileChange(path=path):
            return key in facts.in_diff or (value == path and is_identified(path, settings))
        case Subagent(agent=agent):
            return key == "agent" and value == agent
        case _:
            return key == "command" and shell_line(call) is not None

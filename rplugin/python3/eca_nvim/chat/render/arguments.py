"""Render arguments: lists the arguments of a call, each with its name and value.

Rules kept here:
- While a call waits, every argument that is not shown in full elsewhere is listed here.
- The folder of a command changes what it does. It comes before the command, which may be long.
- A value cannot imitate an argument: unusual names are quoted, and further lines of a value are
  indented.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from eca_nvim.chat.model.call_files import listed_files
from eca_nvim.chat.model.call_uses import folder_arguments
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.render.title import TARGET_CELLS, names_file
from eca_nvim.chat.text.body import Body, stacked
from eca_nvim.chat.text.output import cut, indent_rest, value_lines
from eca_nvim.chat.text.safe_text import literal, literal_line, literal_name, truncate
from eca_nvim.chat.vocabulary.call_details import Subagent, ToolCall
from eca_nvim.patterns import late_pattern

_NOT_ALLOWED = "this allows none of them to be read"
_PLAIN_NAME = late_pattern(r"[\w.$-]+")


def argument_body(arguments: Mapping[str, object], limit: int | None) -> Body:
    """List arguments, each cut to `limit` lines and a note of how many are left out."""
    return stacked(_argument(key, value, limit) for key, value in arguments.items())


def _argument(key: str, value: object, limit: int | None, path: str | None = None) -> Body:
    """List an argument; `path`: the file that its value names, unless that is the value itself."""
    name = key if _PLAIN_NAME.fullmatch(key) else json.dumps(key, ensure_ascii=False)
    start = f"{literal(name)}: "
    first, *rest = value_lines(value)
    content = cut(indent_rest([start + first, *rest]), limit)
    marks = [(0, 0, len(start.encode()), "EcaMuted"), *content.marks]
    named = path or value
    return Body(
        content.lines, marks, "", places=[(0, named, 0, 0)] if isinstance(named, str) else ()
    )


def other_folder(call: ToolCall, settings: RenderSettings) -> Mapping[str, str]:
    """Return the arguments that name another folder for a command than the chat's, a line each."""
    return {
        name: truncate(literal_line(folder), TARGET_CELLS)
        for name, folder in folder_arguments(call).items()
        if (folder.rstrip("/") or "/") not in settings.folders[:1]
    }


def file_rows(call: ToolCall, settings: RenderSettings, limit: int | None) -> Body:
    """List the files of a call that nothing else in its request names, a row each.

    A permission lets the agent read what is listed. Too many are counted, and not allowed.
    """
    named = {it.path for it in call.changes or ()}
    drawn = arguments_not_shown(call, settings).values()
    named |= {it for it in drawn if isinstance(it, str)}
    listed = listed_files(call)
    named |= {path for path in listed if names_file(call, path, settings)}
    if call.locations and not listed:
        return argument_body({"files": f"{len(call.locations)}, {_NOT_ALLOWED}"}, limit)
    names = {path: settings.relative(literal_name(path)) for path in listed}
    left = (it for it in names.items() if not named.intersection(it))
    return stacked(_argument("file", name, limit, path) for path, name in left)


def arguments_not_shown(call: ToolCall, settings: RenderSettings) -> Mapping[str, object]:
    """Return the arguments that neither the header nor the details in the body show in full."""
    arguments = call.arguments or {}
    left = {key: arguments[key] for key in arguments if not _said(call, key, settings)}
    if call.changes is not None and len(call.changes) == 1:  # of several the body names each
        path = call.changes[0].path
        if not names_file(call, path, settings) and path not in left.values():
            left = {"changes" if "path" in left else "path": path, **left}
    return left


def _said(call: ToolCall, key: str, settings: RenderSettings) -> bool:
    value, is_shown = (call.arguments or {})[key], key in (call.shown or ())
    if call.changes:
        path = call.changes[0].path
        return is_shown or (value == path and names_file(call, path, settings))
    if isinstance(call.details, Subagent):
        return is_shown and value == call.details.agent
    return is_shown and call.command is not None and value == call.command

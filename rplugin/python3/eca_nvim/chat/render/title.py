"""Title: what a call does, and to what, in the words of its header; its command and arguments.

All words come from an agent: each is made safe, and long names are cut in their middle.
"""

import json
import re
from collections.abc import Mapping, Sequence

from eca_nvim.chat.model.blocks import ToolBlock
from eca_nvim.chat.model.calls import folder_arguments, full_name, listed_files
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.text.output import Body, cut, indent_rest, joined, value_lines
from eca_nvim.chat.text.safe_text import (
    literal,
    literal_line,
    literal_name,
    shorten,
    truncate,
    width,
)
from eca_nvim.chat.vocabulary import call_details

COMMAND_CELLS = 60
ALIGNED_CELLS = 28
"""The notes are aligned behind commands up to this width."""


def shell_parts(parts: Sequence[call_details.ShellPart], *, waits: bool) -> Body:
    """List the commands; while the call waits, with the key "remember" would add for each."""
    if len(parts) < 2:  # the line itself says it
        return Body((), language="")
    notes = [_note(part, waits=waits) for part in parts]
    words = [" ".join((part.command, *part.arguments)) for part in parts]
    commands = [truncate(literal_line(it), COMMAND_CELLS) for it in words]
    room = max(cells for cells in (0, *map(width, commands)) if cells <= ALIGNED_CELLS) + 2
    lines, marks = [], []
    for row, (command, note) in enumerate(zip(commands, notes, strict=True)):
        start = f"· {command}"
        padding = " " * max(2, room - width(command)) if note else ""
        lines.append(f"{start}{padding}{note}")
        marks.append((row, 0, len("·".encode()), "EcaMuted"))
        if note:
            marks.append((row, len(start.encode()), -1, "EcaMuted"))
    return Body(lines, marks, "")


def _note(part: call_details.ShellPart, *, waits: bool) -> str:
    if part.remembered:
        return "always allowed"
    if waits and part.remember_key:
        return f"always allow: {literal_line(part.remember_key)}"
    return ""


_NOT_ALLOWED = "this allows none of them to be read"
_PLAIN_NAME = re.compile(r"[\w.$-]+")


def argument_body(arguments: Mapping[str, object], limit: int | None) -> Body:
    """List arguments, each cut to `limit` lines and a note of how many are left out."""
    return joined(*(_argument(key, value, limit) for key, value in arguments.items()))


def _argument(key: str, value: object, limit: int | None, path: str | None = None) -> Body:
    """List an argument; `path`: the file that its value names, unless that is the value itself.

    A value cannot imitate an argument: unusual names are quoted, and its further lines indented.
    """
    name = key if _PLAIN_NAME.fullmatch(key) else json.dumps(key, ensure_ascii=False)
    start = f"{literal(name)}: "
    first, *rest = value_lines(value)
    content = cut(indent_rest([start + first, *rest]), limit)
    marks = [(0, 0, len(start.encode()), "EcaMuted"), *content.marks]
    named = path or value
    return Body(
        content.lines, marks, "", places=[(0, named, 0, 0)] if isinstance(named, str) else ()
    )


def other_folder(call: call_details.ToolCall, settings: RenderSettings) -> Mapping[str, str]:
    """Return the arguments that name another folder for a command than the chat's, a line each."""
    return {
        name: truncate(literal_line(folder), TARGET_CELLS)
        for name, folder in folder_arguments(call).items()
        if (folder.rstrip("/") or "/") not in settings.folders[:1]
    }


def file_rows(call: call_details.ToolCall, settings: RenderSettings, limit: int | None) -> Body:
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
    return joined(*(_argument("file", name, limit, path) for path, name in left))


def arguments_not_shown(
    call: call_details.ToolCall, settings: RenderSettings
) -> Mapping[str, object]:
    """Return the arguments that neither the header nor the details in the body show in full."""
    arguments = call.arguments or {}
    left = {key: arguments[key] for key in arguments if not _said(call, key, settings)}
    changed = {it.path for it in call.changes or ()}
    if len(changed) == 1:  # of several the body names each
        (path,) = changed
        if not names_file(call, path, settings) and path not in left.values():
            left = {"changes" if "path" in left else "path": path, **left}
    return left


def _said(call: call_details.ToolCall, key: str, settings: RenderSettings) -> bool:
    value, is_shown = (call.arguments or {})[key], key in (call.shown or ())
    if call.changes:
        path = call.changes[0].path
        return is_shown or (value == path and names_file(call, path, settings))
    if isinstance(call.details, call_details.Subagent):
        return is_shown and value == call.details.agent
    return is_shown and call.command is not None and value == call.command


TARGET_CELLS = 120
NAME_CELLS = 100
"""Screen cells of all file names in a title; a longer name is cut in its middle."""

_SAYS_LITTLE = frozenset(
    {
        None,
        call_details.ToolKind.OTHER,
        call_details.ToolKind.EXECUTE,
        call_details.ToolKind.SWITCH_MODE,
    }
)
"""Kinds that are not added to a title."""


def verb_and_target(block: ToolBlock, settings: RenderSettings) -> tuple[str, str]:
    """Return what a call does, and to what (a file, a command); either may be empty."""
    call = block.call
    if call.verb:
        return call.verb, _target(block, settings)
    if call.command is not None:  # whatever its title says
        return "$", literal_line(call.command)
    title = title_text(call.title or (), settings)
    word = "" if call.kind in _SAYS_LITTLE else call.kind or ""
    if title:
        first, _, rest = title.partition(" ")
        stem = word.removesuffix("e")  # "Moving a.md" is a move, and "movie.mp4" is not
        if not word or first.casefold().startswith((word, f"{stem}ing", f"{stem}ed")):
            return truncate(first, TARGET_CELLS), rest
        return word, title
    is_named = block.replayed or call.origin not in (None, "unknown")
    name = full_name(call) or word or ("a call" if is_named else "unknown tool")
    return name, literal_line(call.summary or "") or _so_far(block, settings)


def _target(block: ToolBlock, settings: RenderSettings) -> str:
    """Return what a call with a verb is applied to; without arguments what is known instead."""
    call = block.call
    summary = literal_line(call.summary or "")
    if call.title is not None:
        return title_text(call.title, settings) or _so_far(block, settings)
    if block.so_far is not None:
        return _so_far(block, settings) or summary
    if call.changes:
        return file_name(call.changes[0].path, settings)
    return summary.removeprefix("$ ") if call.kind is call_details.ToolKind.EXECUTE else summary


def _so_far(block: ToolBlock, settings: RenderSettings) -> str:
    return "" if block.so_far is None else title_text(block.so_far.title, settings)


def title_text(title: call_details.Title, settings: RenderSettings) -> str:
    """Return a title on one line."""
    names = sum(isinstance(piece, call_details.FileName) for piece in title)
    return " ".join(filter(None, (_piece(it, settings, max(1, names)) for it in title)))


def _piece(
    piece: str | call_details.FileName | call_details.InFolder, settings: RenderSettings, names: int
) -> str:
    """Return a word of a title; `names`: how many file names share NAME_CELLS."""
    match piece:
        case str():
            return literal_line(piece)
        case call_details.FileName(path):
            return shorten(settings.relative(literal_name(path)), NAME_CELLS // names)
        case call_details.InFolder(path):
            name = file_name(path, settings)
            return f"in {name}" if name not in ("", ".") else ""


def file_name(path: str, settings: RenderSettings) -> str:
    """Return a file's name as a header shows it."""
    return shorten(settings.relative(literal_name(path)), NAME_CELLS)


def names_file(call: call_details.ToolCall, path: str, settings: RenderSettings) -> bool:
    """Return whether the header of a call has the whole name of a file."""
    if not call.verb and call.command is not None:
        return False
    changes = call.changes if call.verb and call.changes else ()
    title = call.title or tuple(call_details.FileName(it.path) for it in changes[:1])
    names = [it.path for it in title if isinstance(it, call_details.FileName)]
    if path not in names or width(title_text(title, settings)) > TARGET_CELLS:
        return False
    return width(settings.relative(literal_name(path))) <= NAME_CELLS // len(names)

"""Render title: what a call does, and to what, in the words of its header.

Rules kept here:
- All words come from an agent: each is made safe, and long names are cut in their middle.
- Without a verb the title is a sentence of the agent's; its kind is added if it does not begin with
  that. A shell command is shown itself, whatever its title.
"""

from __future__ import annotations

from eca_nvim.chat.model.blocks import ToolBlock
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.model.tool_names import full_name
from eca_nvim.chat.text.safe_text import literal_line, literal_name, shorten, truncate, width
from eca_nvim.chat.vocabulary.call_details import FileName, InFolder, Title, ToolCall, ToolKind

TARGET_CELLS = 120
NAME_CELLS = 100
"""Screen cells of all file names in a title; a longer name is cut in its middle."""

_SAYS_LITTLE = frozenset({None, ToolKind.OTHER, ToolKind.EXECUTE, ToolKind.SWITCH_MODE})
"""Kinds that are not added to a title."""


def verb_and_target(block: ToolBlock, settings: RenderSettings) -> tuple[str, str]:
    """Return what a call does, and to what (a file, a command); either may be empty."""
    call = block.call
    if call.verb:
        return call.verb, _target(block, settings)
    if call.command is not None:
        return "$", literal_line(call.command)
    title = title_text(call.title or (), settings)
    word = "" if call.kind in _SAYS_LITTLE else call.kind or ""
    if title:
        first, _, rest = title.partition(" ")
        if not word or first.casefold().startswith(word):
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
    return summary.removeprefix("$ ") if call.kind is ToolKind.EXECUTE else summary


def _so_far(block: ToolBlock, settings: RenderSettings) -> str:
    return "" if block.so_far is None else title_text(block.so_far.title, settings)


def title_text(title: Title, settings: RenderSettings) -> str:
    """Return a title on one line."""
    names = sum(isinstance(piece, FileName) for piece in title)
    return " ".join(filter(None, (_piece(it, settings, max(1, names)) for it in title)))


def _piece(piece: str | FileName | InFolder, settings: RenderSettings, names: int) -> str:
    """Return a word of a title; `names`: how many file names share NAME_CELLS."""
    match piece:
        case str():
            return literal_line(piece)
        case FileName(path):
            return shorten(_whole_name(path, settings), NAME_CELLS // names)
        case InFolder(path):
            name = file_name(path, settings)
            return f"in {name}" if name not in ("", ".") else ""


def file_name(path: str, settings: RenderSettings) -> str:
    """Return a file's name as a header shows it."""
    return shorten(_whole_name(path, settings), NAME_CELLS)


def names_file(call: ToolCall, path: str, settings: RenderSettings) -> bool:
    """Return whether the header of a call has the whole name of a file."""
    if not call.verb and call.command is not None:
        return False
    changes = call.changes if call.verb and call.changes else ()
    title = call.title or tuple(FileName(it.path) for it in changes[:1])
    names = [it.path for it in title if isinstance(it, FileName)]
    if path not in names or width(title_text(title, settings)) > TARGET_CELLS:
        return False
    return width(_whole_name(path, settings)) <= NAME_CELLS // len(names)


def _whole_name(path: str, settings: RenderSettings) -> str:
    return settings.relative(literal_name(path))

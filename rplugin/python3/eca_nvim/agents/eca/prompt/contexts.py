"""Contexts: turns contexts into ECA's.

Positions: ECA does not define the base of a cursor's line and character. The server passes both to
the model ("line:character"), next to file excerpts whose lines count from 1, and its reference
client counts both from 1. We do the same, with characters in UTF-16 code units as everywhere in
ECA; the end of a selection is exclusive.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from eca_nvim.chat.vocabulary import contexts as ours
from eca_nvim.protocol.eca import contexts as eca
from eca_nvim.protocol.eca.editor import LinesRange, Position, Range


def wire_contexts(contexts: Iterable[ours.Context]) -> tuple[eca.Context, ...]:
    """Turn contexts into ECA's, without those that are only words."""
    return tuple(filter(None, map(wire_context, contexts)))


def wire_context(context: ours.Context) -> eca.Context | None:
    """Turn a context into ECA's; None for one that is only a word of the message.

    ECA reads images from files: it drops those whose content is sent.
    """
    match context:
        case ours.FileContext(path, int(first), int(last), _):
            return eca.FileContext(path=path, lines_range=LinesRange(start=first, end=last))
        case ours.FileContext(path=path) | ours.ImageContext(path=path):
            return eca.FileContext(path=path)
        case ours.DirectoryContext(path=path):
            return eca.DirectoryContext(path=path)
        case ours.WebContext(url=url):
            return eca.WebContext(url=url)
        case ours.ResourceContext(uri=uri):
            return eca.McpResourceContext(uri=uri)
        case ours.CursorContext(path, start, end):
            place = Range(start=_position(start), end=_position(end))
            return eca.CursorContext(path=path, position=place)
        case ours.TextContext(label=label, content=content):
            return eca.TextContext(label=label, content=content)
        case ours.PathMention() | ours.DiffContext():
            return None
        case _:
            assert_never(context)


def _position(position: ours.Position) -> Position:
    return Position(line=position.line, character=position.column)

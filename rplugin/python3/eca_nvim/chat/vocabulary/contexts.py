"""Contexts: files, text and positions that are sent with a prompt, in no particular protocol.

Rules kept here: paths are absolute, lines are 1-based and inclusive, columns 1-based in UTF-16
code units (what language servers and agents count in).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import Struct


class MalformedContext(ValueError):
    """Raised when a context table lacks a key of its type; the message names the key."""


class Position(Struct, frozen=True):
    """A position in a file."""

    line: int
    column: int


class FileContext(Struct, frozen=True):
    """A file, or its lines from `first` (None: its beginning) to `last` (None: its end).

    token: how the prompt refers to it.
    """

    path: str
    first: int | None = None
    last: int | None = None
    token: str | None = None


class DirectoryContext(Struct, frozen=True):
    """A folder; `token` is how the prompt refers to it."""

    path: str
    token: str | None = None


class WebContext(Struct, frozen=True):
    """A web page."""

    url: str


class CursorContext(Struct, frozen=True):
    """The user's cursor or selection; start equals end if nothing is selected."""

    path: str
    start: Position
    end: Position


class TextContext(Struct, frozen=True):
    """Text with no file behind it: a terminal, a scratch buffer, a selection."""

    label: str
    content: str


Context: TypeAlias = FileContext | DirectoryContext | WebContext | CursorContext | TextContext


def parse_context(table: Mapping[str, object]) -> Context:
    """Build a context from the table the editor sent, `{type = 'file', path = …}` and so on.

    Types: file (path; first and last optional), directory (path), web (url), cursor (path, start,
    end as [line, column]), text (label, content). A file or folder may have a `token`.
    Raises MalformedContext.
    """
    token = table.get("token")
    named = token if isinstance(token, str) else None
    match table:
        case {"type": "file", "path": str(path)}:
            return FileContext(path, *_lines(table), named)
        case {"type": "directory", "path": str(path)}:
            return DirectoryContext(path, named)
        case {"type": "web", "url": str(url)}:
            return WebContext(url)
        case {
            "type": "cursor",
            "path": str(path),
            "start": [int(first_line), int(first_column)],
            "end": [int(last_line), int(last_column)],
        }:
            return CursorContext(
                path, Position(first_line, first_column), Position(last_line, last_column)
            )
        case {"type": "text", "label": str(label), "content": str(content)}:
            return TextContext(label, content)
        case _:
            raise MalformedContext(f"not a context: {dict(table)!r}")


def _lines(table: Mapping[str, object]) -> tuple[int | None, int | None]:
    """Read first and last line, in either order. Raises MalformedContext."""
    first, last = _line(table, "first"), _line(table, "last")
    if first is not None and last is not None:
        return min(first, last), max(first, last)
    return first, last


def _line(table: Mapping[str, object], key: str) -> int | None:
    line = table.get(key)
    if line is None or (isinstance(line, int) and line > 0):
        return line
    raise MalformedContext(f"{key} is not a line number: {line!r}")

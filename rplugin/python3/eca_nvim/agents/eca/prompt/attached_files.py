"""Attached files: reads the files that are sent with a prompt, at the time of sending.

Rules kept here:
- The server fails a whole prompt for lines that a file does not have. While a prompt waited, tools
  may have shortened the file: line ranges are fitted when the prompt is sent.
- Only regular files are read, up to the last wanted line; nothing here blocks for long.
- Lines end with LF or CRLF, and empty lines at the end of a file do not count, as on the server.
"""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Hashable, Iterable
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from eca_nvim.chat.vocabulary.contexts import Context, DirectoryContext, FileContext, TextContext
from eca_nvim.paths import NotAFile, open_regular

logger = logging.getLogger(__name__)

MOST_ATTACHED_BYTES: Final = 1_000_000
"""Most bytes of a file that is sent as text; of a larger file only the name is sent."""

_IMAGES: Final = frozenset((".png", ".jpg", ".jpeg", ".gif", ".webp"))


def is_image(context: Context) -> bool:
    """Return whether the server shows a file to the model as an image."""
    return isinstance(context, FileContext) and Path(context.path).suffix.lower() in _IMAGES


def fit_lines(contexts: Iterable[Context]) -> tuple[tuple[Context, ...], tuple[str, ...]]:
    """Return contexts with ranges that their files have, and a message for each one dropped."""
    fitted: list[Context] = []
    missing: list[str] = []
    for context in contexts:
        lines = _lines(context) if isinstance(context, FileContext) else None
        if lines is None or not isinstance(context, FileContext):
            fitted.append(context)
        elif lines:
            first = context.first or 1
            fitted.append(replace(context, first=first, last=first + len(lines) - 1))
        else:
            missing.append(f"context not sent: {context.path} has no line {context.first}")
    return tuple(fitted), tuple(missing)


def state(context: Context) -> Hashable:
    """Return a value that differs once a context's file has changed; None for folders."""
    if not isinstance(context, FileContext):
        return None
    if (lines := _lines(context)) is not None:
        return tuple(lines)
    found = _stat(context.path)
    return found and (found.st_mtime_ns, found.st_size)


def as_text(context: FileContext | DirectoryContext) -> TextContext:
    """Return a context's content as text, for paths that a message cannot name."""
    if isinstance(context, DirectoryContext):
        return TextContext(context.path, "A folder: use your tools to read what you need of it.")
    if (lines := _lines(context)) is not None:
        return TextContext(f"{context.path}:{context.first}-{context.last}", "\n".join(lines))
    found = _stat(context.path)
    lines = _read(context.path, None) if found and found.st_size <= MOST_ATTACHED_BYTES else None
    if lines is None:
        return TextContext(context.path, "A file: use your tools to read what you need of it.")
    return TextContext(context.path, "\n".join(lines))


def _stat(path: str) -> os.stat_result | None:
    """Return the status of a regular file, else None."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def _lines(context: FileContext) -> list[str] | None:
    """Return the lines a context wants; None if it wants all, or they cannot be read."""
    if (context.first is None and context.last is None) or _stat(context.path) is None:
        return None
    lines = _read(context.path, context.last)
    return None if lines is None else lines[(context.first or 1) - 1 :]


def _read(path: str, count: int | None) -> list[str] | None:
    """Return the first lines of a file, or all, without the empty ones at its end."""
    try:
        with TextIOWrapper(open_regular(path), "utf-8", "replace", newline="\n") as file:
            lines = [line.removesuffix("\n").removesuffix("\r") for line in islice(file, count)]
            is_end = not any(line.strip("\r\n") for line in file)
    except (OSError, NotAFile) as fault:
        logger.info("cannot read %s: %s", path, fault)
        return None
    while is_end and lines and not lines[-1]:
        lines.pop()
    return lines

"""Attached files: what of a prompt's files and folders is sent, looked at when it is sent.

A file or folder that is too large, or no text, is sent by its name: the model can read it with its
tools. Only regular files are read, up to the last wanted line; no walk or line is unbounded.
"""

import logging
import os
import stat
from collections.abc import Hashable, Iterator
from io import TextIOWrapper
from itertools import accumulate, chain, takewhile
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from eca_nvim.chat.vocabulary import contexts
from eca_nvim.paths import NotAFile, open_regular

logger = logging.getLogger(__name__)

MOST_ATTACHED_BYTES: Final = 1_000_000
"""Most bytes of a file, or of all files of a folder, that are sent as text."""
MOST_IMAGE_BYTES: Final = 20_000_000
MOST_FILES: Final = 1000
"""Most files of a folder that is sent."""
_MOST_READ_BYTES: Final = 50_000_000
"""Most bytes of a file of which lines are sent."""
_LONGEST_LINE: Final = MOST_ATTACHED_BYTES
_PROBE: Final = 8192
"""Bytes of a file in which a NUL shows that it is no text."""


Attached: TypeAlias = contexts.FileContext | contexts.DirectoryContext | contexts.ImageContext


class Fitted(Struct, frozen=True):
    """A context as it is sent, None if it is not; and what the user should know about it."""

    context: contexts.Context | None
    message: str | None = None


def fit(context: contexts.Context) -> Fitted:
    """Return what of a context is sent now."""
    match context:
        case contexts.FileContext(path, None, None):
            found = _stat(path)
            why = found and _is_unfit(path, found)
            return _by_name(context, why) if why else Fitted(context)
        case contexts.FileContext():
            return _fit_lines(context)
        case contexts.DirectoryContext(path) if folder_bytes(path) is None:
            return _by_name(context, "is too large a folder")
        case contexts.ImageContext(path):
            found = _stat(path)
            is_large = found is not None and found.st_size > MOST_IMAGE_BYTES
            return _by_name(context, "is larger than 20 MB") if is_large else Fitted(context)
        case _:
            return Fitted(context)


def state(context: contexts.Context) -> Hashable:
    """Return a value that differs once a context's file has changed; None for folders."""
    if not isinstance(context, contexts.FileContext | contexts.ImageContext):
        return None
    if isinstance(context, contexts.FileContext) and (lines := _lines(context)) is not None:
        return hash(tuple(lines))  # it is kept for as long as the chat
    found = _stat(context.path)
    return found and (found.st_mtime_ns, found.st_size)


def as_text(context: contexts.FileContext | contexts.DirectoryContext) -> contexts.TextContext:
    """Return a context's content as text, for paths that a message cannot name."""
    if isinstance(context, contexts.DirectoryContext) or (text := text_of(context)) is None:
        return _named(context)
    is_part = context.first is not None or context.last is not None
    return contexts.TextContext(
        context.path + (f":{context.first}-{context.last}" if is_part else ""), text
    )


def text_of(context: contexts.FileContext) -> str | None:
    """Return the text of a file, or of its lines; None if it cannot be sent as text."""
    lines = _lines(context)
    found = _stat(context.path) if lines is None else None
    if found is not None and not _is_unfit(context.path, found):
        lines = _read(context.path, 1, None)
    return None if lines is None else "\n".join(lines)


def bytes_of(context: contexts.ImageContext) -> bytes | None:
    """Return the bytes of an image; None if it cannot be sent."""
    try:
        with open_regular(context.path) as file:
            data = file.read(MOST_IMAGE_BYTES + 1)
    except (OSError, ValueError, NotAFile) as fault:
        logger.info("cannot read %s: %s", context.path, fault)
        return None
    return data if len(data) <= MOST_IMAGE_BYTES else None


def folder_bytes(folder: str) -> int | None:
    """Return the bytes of all files in a folder; None if they are too many to be sent.

    It stops as soon as they are.
    """
    files = size = seen = 0
    waiting = [folder]
    while waiting:
        for entry in _entries(waiting.pop()):
            seen += 1
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            elif (found := _stat(entry.path)) is not None:
                files, size = files + 1, size + found.st_size
            if files > MOST_FILES or size > MOST_ATTACHED_BYTES or seen > 5 * MOST_FILES:
                return None
    return size


# --- fitting ------------------------------------------------------------------------------------


def _is_unfit(path: str, found: os.stat_result) -> str | None:
    """Return why the text of a file is not sent."""
    if found.st_size > MOST_ATTACHED_BYTES:
        return "is larger than 1 MB"
    try:
        with open_regular(path) as file:
            return "is not a text" if b"\0" in file.read(_PROBE) else None
    except (OSError, NotAFile):
        return None


def _fit_lines(context: contexts.FileContext) -> Fitted:
    """Return the lines that the file has by now: agents fail a whole prompt for one it lacks."""
    found = _stat(context.path)
    if found is not None and found.st_size > _MOST_READ_BYTES:
        return _by_name(context, "is larger than 50 MB")
    lines = _lines(context)
    first = context.first or 1
    if lines is None:
        return Fitted(context)
    if not lines:
        return Fitted(None, f"context not sent: {_shown(context)} has no line {context.first}")
    sizes = accumulate(len(line) + 1 for line in lines)
    kept = sum(1 for _ in takewhile(lambda size: size <= MOST_ATTACHED_BYTES, sizes))
    if not kept:
        return _by_name(context, f"has more than 1 MB in line {first}")
    fitted = replace(context, first=first, last=first + kept - 1)
    if kept == len(lines):
        return Fitted(fitted)
    line = f"only lines {first}-{fitted.last} are sent, 1 MB of {_shown(context)}"
    return Fitted(fitted, line)


def _by_name(context: Attached, why: str) -> Fitted:
    return Fitted(_named(context), f"only the name is sent: {_shown(context)} {why}")


def _shown(context: Attached) -> str:
    """Return how a message names a context: by the user's token, else by its path."""
    return context.token or context.path


def _named(context: Attached) -> contexts.TextContext:
    kind = "folder" if isinstance(context, contexts.DirectoryContext) else "file"
    text = f"A {kind}: use your tools to read what you need of it."
    return contexts.TextContext(context.path, text, context.token)


# --- the disk -----------------------------------------------------------------------------------


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:  # one by one: a folder may have millions
            yield from (entry for entry in found if not entry.name.startswith("."))
    except OSError as fault:
        logger.info("cannot read %s: %s", folder, fault)


def _stat(path: str) -> os.stat_result | None:
    """Return the status of a regular file, else None."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def _lines(context: contexts.FileContext) -> list[str] | None:
    """Return the lines a context wants; None if it wants all, or they cannot be read."""
    if (context.first is None and context.last is None) or _stat(context.path) is None:
        return None
    return _read(context.path, context.first or 1, context.last)


def _read(path: str, first: int, last: int | None) -> list[str] | None:
    """Return lines of a file, without the empty ones at its end, which no agent counts."""
    try:
        with TextIOWrapper(open_regular(path), "utf-8", "replace", newline="\n") as file:
            lines: list[str] = []
            pieces = iter(lambda: file.readline(_LONGEST_LINE), "")
            for number, line in enumerate(pieces, 1):
                if last is not None and number > last:
                    is_end = not any(it.strip("\r\n") for it in chain([line], pieces))
                    break
                if number >= first:
                    lines.append(line.removesuffix("\n").removesuffix("\r"))
            else:
                is_end = True
    except (OSError, NotAFile) as fault:
        logger.info("cannot read %s: %s", path, fault)
        return None
    while is_end and lines and not lines[-1]:
        lines.pop()
    return lines

"""Paths: files and folders for a query, as a user would type them.

These functions block for some milliseconds: they run in a thread.
"""

import os
import posixpath
import stat
from collections.abc import Iterable, Iterator, Sequence
from heapq import nsmallest
from itertools import islice
from pathlib import Path
from typing import Final

from eca_nvim.chat.text.safe_text import literal_name
from eca_nvim.chat.vocabulary.completion import CompletionItem, ItemKind
from eca_nvim.session.completion.names import (
    Check,
    FolderIndex,
    distance,
    folders_first,
    matches,
    typable,
)


class Writer:
    """Writes absolute paths for a working folder, and reads what the user typed."""

    def __init__(self, working_folder: str) -> None:
        self._folder = working_folder.rstrip("/")
        self._home = posixpath.expanduser("~").rstrip("/")

    def written(self, path: str) -> str:
        """Return a path as a user would type it: relative to the working folder if it is inside."""
        if path.startswith(f"{self._folder}/"):
            name = path[len(self._folder) + 1 :]
            return f"./{name}" if name.startswith("~") else name
        if self._home and path.startswith(f"{self._home}/"):
            return f"~{path[len(self._home) :]}"
        return path

    def absolute(self, typed: str) -> str:
        """Return the path that a typed one means."""
        if typed.startswith("~/"):
            return self._home + typed[1:]
        return posixpath.join(self._folder, typed)


_ROOTED: Final = ("/", "~/", "./", "../")
_MOST_READ: Final = 20_000
"""Most entries of a folder that are read."""


def is_rooted(query: str) -> bool:
    """Return whether a query names the folder to read."""
    # What git ignores and what is outside of the workspace is found by these alone.
    return query.startswith(_ROOTED)


def path_items(
    query: str, folders: Sequence[FolderIndex], writer: Writer, most: int, check: Check
) -> list[CompletionItem]:
    """Return the files and folders for a query, of too many the nearest `most`."""
    if is_rooted(query):
        found = _entries(query, writer)
    else:
        found = _indexed(query, folders, writer, most, check)
    items = (_item(path, typed) for path, typed in found)
    return list(islice(filter(None, items), most))


def path_item(path: str, writer: Writer) -> CompletionItem | None:
    """Return the item of a path; None if it is relative, cannot be typed, or cannot be read."""
    is_usable = path.startswith("/") and typable(path)
    return _item(path, writer.written(path)) if is_usable else None


def _item(path: str, typed: str) -> CompletionItem | None:
    """Return the item of a folder or regular file; None if there is none."""
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):
        return None  # removed since the listing
    if stat.S_ISDIR(mode):
        text = typed.rstrip("/") + "/"
        return CompletionItem(text, literal_name(text), ItemKind.FOLDER)
    item = CompletionItem(typed, literal_name(typed), ItemKind.FILE)
    return item if stat.S_ISREG(mode) else None


def _indexed(
    wanted: str, folders: Sequence[FolderIndex], writer: Writer, most: int, check: Check
) -> Iterator[tuple[str, str]]:
    """Yield paths of the index, absolute and as a user types them, the nearest first."""
    found: Iterable[tuple[FolderIndex, str]] = ()
    if not wanted or wanted.endswith("/"):
        listed = [(index, _listed(wanted, index, writer, most, check)) for index in folders]
        found = [(index, name) for index, names in listed for name in names]
    if wanted and not found:
        matching = ((index, name) for index in folders for name in index.names.find(wanted, check))
        found = nsmallest(most, matching, key=lambda it: distance(wanted, it[1]))
    for index, name in found:
        path = posixpath.join(index.folder, name)
        yield path, writer.written(path)


def _listed(wanted: str, index: FolderIndex, writer: Writer, most: int, check: Check) -> list[str]:
    """Return what an index has in the folder that a query names, seen from the working folder.

    An empty query also lists the whole index.
    """
    top, folder = posixpath.join(index.folder, ""), posixpath.join(writer.absolute(wanted), "")
    names: list[str] = []
    if folder.startswith(top):
        names += index.names.below(folder.removeprefix(top), most, check)
    if not wanted and folder != top:
        names += index.names.below("", most, check)
    return names


def _entries(wanted: str, writer: Writer) -> Iterator[tuple[str, str]]:
    """Yield the entries of the folder that a query names, absolute and as the user types them."""
    start = wanted[: wanted.rfind("/") + 1]
    rest = wanted[len(start) :]
    folder = writer.absolute(start)
    names = _read(folder)
    if rest:
        matching = (name for name in names if matches(rest, name))
        ordered = sorted(matching, key=lambda name: distance(rest, name))
    else:
        ordered = sorted(folders_first(names), key=lambda name: name.startswith("."))
    for name in ordered:
        yield posixpath.join(folder, name), start + name


def _read(folder: str) -> list[str]:
    """Return the entries of a folder that can be typed; folders end in `/`."""
    try:
        with os.scandir(folder) as entries:
            return [
                f"{entry.name}/" if entry.is_dir() else entry.name
                for entry in islice(entries, _MOST_READ)
                if typable(entry.name)
            ]
    except (OSError, ValueError):
        return []

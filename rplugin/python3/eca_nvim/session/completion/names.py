"""Names: the files of a folder, listed in the background, in little memory, and searched.

A name is a relative path; that of a folder ends in `/`.
"""

import asyncio
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, TypeAlias

from eca_nvim.review.workspace import MOST_NAMES, list_files
from eca_nvim.threads import run_in_thread

Check: TypeAlias = Callable[[], None]
"""Raises an exception to cancel."""

_PIECE: Final = 2048
"""Names in a piece: one is searched in a few milliseconds, and other threads wait no longer."""
_WORD_BREAKS: Final = "\n/-_."
"""Characters that a word may follow; a name follows a line break."""
_MOST_OF_A_KIND: Final = 300
"""Names that contain the query after the same word break, at most: longer ones match less well."""
_MOST_IN_ORDER: Final = 1500
"""Names that have the letters of the query apart, at most."""
LONGEST: Final = 1000
"""Bytes of a name in a token, and characters of a query, at most."""
_NAME = re.compile(rb"[^\0]+")
_CONTROLS = re.compile(rb"[\0-\x1f\x7f]")
_UNTYPABLE = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def lowered(text: str) -> str:
    """Return a text in lower case, with as many characters."""
    return text.replace("İ", "i").lower()


def matches(query: str, name: str) -> bool:
    """Return whether a name has the letters of a query in order, which may be empty."""
    letters = iter(lowered(name))
    return all(letter in letters for letter in lowered(query))


def distance(query: str, name: str) -> tuple[bool, bool, int, str]:
    """Return how far a name that matches is from a query: what to leave out if there are too many.

    The query begins a word of the nearest names, and is in the next ones; the shorter the better.
    The order to show is the editor's (`matchfuzzy()`).
    """
    wanted, lower = lowered(query), lowered(name)
    begins = any(mark + wanted in f"\n{lower}" for mark in _WORD_BREAKS)
    return not begins, wanted not in lower, len(name), name


class Names:
    """Names that can be searched; immutable, so that threads may share them."""

    def __init__(self, names: bytes = b"") -> None:
        """Read names that end in NUL."""
        # The shortest first, so that a search that ends early has found the nearest ones.
        ordered = sorted(islice(_typable_names(names), MOST_NAMES), key=len)
        self._pieces = [
            "\n{}\n".format(b"\n".join(ordered[first : first + _PIECE]).decode())
            for first in range(0, len(ordered), _PIECE)
        ]

    def find(self, query: str, check: Check) -> Sequence[str]:
        """Return names that have the letters of a query in order, whatever their case.

        Of too many the nearest ones are among them.
        """
        search = _Search(lowered(query))
        is_name = "\n" not in query and 0 < len(query) <= LONGEST
        for piece in self._pieces if is_name else ():
            check()
            search.add(piece)
        return search.found

    def below(self, folder: str, most: int, check: Check) -> list[str]:
        """Return the entries of a folder (`""`, or a path that ends in `/`), folders first.

        They are followed by short names that are deeper, about as many as asked for.
        """
        entries: list[str] = []
        deeper: list[str] = []
        start = len(folder)
        for piece in self._pieces:
            check()
            if f"\n{folder}" in piece:
                names = [name for name in piece[1:-1].split("\n") if name.startswith(folder)]
                entries += [it for it in names if it.find("/", start, -1) < 0 and it != folder]
                if len(deeper) < most:
                    deeper += [it for it in names if it.find("/", start, -1) >= 0]
        return [*folders_first(entries), *deeper[:most]]


def _typable_names(names: bytes) -> Iterator[bytes]:
    for found in _NAME.finditer(names):
        name = found[0]
        is_plain = name.isascii() and _CONTROLS.search(name) is None
        if len(name) <= LONGEST and (is_plain or typable(os.fsdecode(name))):
            yield name


class _Search:
    """A search in all pieces, one after the other.

    Names where the query begins a word count most. Then come those that contain it, then those that
    have its letters in order. room: how many more of each kind are taken.
    """

    def __init__(self, query: str) -> None:
        self.found: list[str] = []
        self._needles = (*(mark + query for mark in _WORD_BREAKS), query)
        self._in_order = re.compile(_in_order(query)) if len(query) > 1 else None
        self.room = [_MOST_OF_A_KIND] * len(self._needles) + [_MOST_IN_ORDER]

    def add(self, piece: str) -> None:
        """Add the matches in a piece."""
        lower = lowered(piece)
        seen: set[int] = set()
        for kind, needle in enumerate(self._needles if self._needles[-1] in lower else ()):
            self._take(kind, piece, _places(lower, needle), seen)
        if self._in_order is not None:
            places = (match.start() for match in self._in_order.finditer(lower))
            self._take(-1, piece, places, seen)

    def _take(self, kind: int, piece: str, places: Iterator[int], seen: set[int]) -> None:
        """Take the names after the line breaks at some places, each of them once."""
        while self.room[kind] and (start := next(places, None)) is not None:
            if start not in seen:
                seen.add(start)
                self.room[kind] -= 1
                self.found.append(piece[start + 1 : piece.index("\n", start + 1)])


def _in_order(query: str) -> str:
    """Return a pattern for a name with the letters of a query in order, and its line break."""
    codes = (f"\\U{ord(letter):08x}" for letter in query)
    return r"\n{}[^\n]*+".format("".join(rf"[^\n{code}]*+{code}" for code in codes))


def _places(lower: str, needle: str) -> Iterator[int]:
    """Yield the line break before each name that has a text."""
    at = lower.find(needle)
    while at >= 0:
        yield lower.rindex("\n", 0, at + 1)
        at = lower.find(needle, lower.index("\n", at + 1))


def folders_first(names: Iterable[str]) -> list[str]:
    """Return the entries of a folder in the order to show."""
    return sorted(names, key=lambda name: (not name.endswith("/"), name.casefold()))


def typable(name: str) -> bool:
    """Return whether a name can be typed, and sent to an agent: no controls, and it is text."""
    return _UNTYPABLE.search(name) is None


_LEAST_AGE: Final = 2.0
"""Seconds after which a listing is made again, at the earliest."""
_MOST_AGE: Final = 10.0
"""Seconds after which it is made again, even if no agent did anything."""


class FolderIndex:
    """The names in a folder. `names` is replaced as a whole, from a thread."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.names = Names()
        self._listing: asyncio.Task[None] | None = None
        self._checksum: int | None = None
        self._listed_at = float("-inf")

    def is_fresh(self, active_at: float) -> bool:
        """Return whether the last listing is recent enough.

        active_at: when an agent did something last, which may have been a new file (monotonic s).
        """
        age = time.monotonic() - self._listed_at
        return age < (_MOST_AGE if active_at < self._listed_at else _LEAST_AGE)

    async def refresh(self) -> None:
        """List the names, or wait for the listing that runs; it goes on if this is cancelled."""
        if self._listing is None or self._listing.done():
            self._listing = asyncio.ensure_future(run_in_thread(self._list))
        await asyncio.shield(self._listing)

    def _list(self) -> None:
        """List the files; they rarely differ from those of the last listing."""
        began = time.monotonic()
        files = list_files(self.folder)
        if (checksum := hash(files)) != self._checksum:
            self.names, self._checksum = Names(with_folders(files)), checksum
        self._listed_at = began


def with_folders(files: bytes) -> bytes:
    """Return files and before them all their folders, each with a `/` at its end."""
    folders: set[bytes] = set()
    start = 0
    while (end := files.find(b"\0", start)) >= 0:
        folder = files[start : files.rfind(b"/", start, end - 1) + 1]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder[: folder.rfind(b"/", 0, -1) + 1]
        start = end + 1
    return b"\0".join((*folders, files))

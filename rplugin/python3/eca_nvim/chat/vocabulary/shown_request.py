"""Shown request: what the user is asked for, and what was shown of it.

Rules kept here:
- No two requests have the same id: it names the chat, the block, and when the block began to wait.
  The ids of an agent will not do, because two of its calls may have the same.
- The digest changes with anything that is shown, and none is used twice: when a request changes and
  changes back, the user has to look again.
- The digest covers what is too long to be shown, such as the other lines of a diff.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from itertools import starmap

from msgspec import Struct
from msgspec.structs import astuple

LOOKS = frozenset({"marks"})
"""Fields of an item of the op `pending` that only say how it looks."""


class Request(Struct, eq=False):
    """What has waited for the user since a time (ms).

    `digest` is None as long as the request was not shown as it is now; `version` counts how often
    something else was shown.
    """

    id: str
    since: int
    digest: str | None = None
    version: int = 0
    _hash: str | None = None

    def show(self, item: Mapping[str, object], behind: object) -> str:
        """Note what is shown from now on, and all that is behind it; returns the digest."""
        shown = {key: value for key, value in item.items() if key not in LOOKS}
        fresh = fingerprint(shown, behind)
        if fresh is None or fresh != self._hash:
            self._hash = fresh
            self.version += 1
        self.digest = f"{self.version}-{fresh}"
        return self.digest

    def changed(self) -> None:
        """Note that the request has changed: no answer fits until it is shown again."""
        self.digest = None


def is_same(left: object, right: object) -> bool:
    """Return whether two values are shown alike; for Python alone 1, 1.0 and true are equal.

    Values that are nested too deeply to be told apart are not.
    """
    try:
        return _is_alike(left, right)
    except RecursionError:
        return False


def _is_alike(left: object, right: object) -> bool:
    kind = type(left)
    if kind is not type(right):
        return False
    if kind is str:
        return left == right
    match left, right:
        case dict(), dict():
            pairs = zip(left.items(), right.items(), strict=False)
            return len(left) == len(right) and all(starmap(_is_alike, pairs))
        case ((list() | tuple()), (list() | tuple())):
            pairs = zip(left, right, strict=False)
            return len(left) == len(right) and all(starmap(_is_alike, pairs))
        case Struct(), Struct():
            return all(starmap(_is_alike, zip(astuple(left), astuple(right), strict=True)))
        case _:
            return left == right


def fingerprint(*values: object) -> str | None:
    """Return a hash, or None when the values are nested too deeply to be told apart."""
    try:
        text = repr(values)
    except RecursionError:
        return None
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()

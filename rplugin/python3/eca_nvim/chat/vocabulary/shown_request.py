"""Shown request: a request to the user, and the digest of what was shown.

Rules kept here:
- Request ids are unique: they contain the chat, the block, and the time when it began to wait.
  An agent's call ids are not unique.
- The digest changes with anything that is shown, and no digest is used twice: if a request changes
  and changes back, the user has to look again.
- The digest also covers text that is too long to be shown, such as the rest of a diff.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from itertools import starmap

from msgspec import Struct
from msgspec.structs import astuple

LOOKS = frozenset({"marks"})
"""Keys of an item of the op `pending` that only affect its looks."""


class Request(Struct, eq=False):
    """A request that has waited for the user since a time (ms).

    digest: None until the request has been shown as it is now. version: counts the different
    versions that were shown.
    """

    id: str
    since: int
    digest: str | None = None
    version: int = 0
    _hash: str | None = None

    def show(self, item: Mapping[str, object], behind: object) -> str:
        """Return the digest of an item as shown from now on; `behind` is the whole request."""
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
    """Return whether two values look the same; unlike `==` it tells 1, 1.0 and True apart.

    Values nested too deeply to be compared count as different.
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
    """Return a hash, or None if the values are nested too deeply."""
    try:
        text = repr(values)
    except RecursionError:
        return None
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()

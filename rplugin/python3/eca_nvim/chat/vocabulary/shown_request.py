"""Shown request: a request to the user, and the digest of what was shown.

Rules kept here:
- Request ids are unique: they contain the chat, the block, and the time when it began to wait.
  An agent's call ids are not unique.
- The digest changes with anything that is shown, and no digest is used twice: if a request changes
  and changes back, the user has to look again.
- The digest also covers text that is too long to be shown, such as the rest of a diff.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b

from msgspec import Struct
from msgspec.msgpack import Encoder

_encode = Encoder().encode
LOOKS = frozenset({"marks"})
"""Keys of an item of the op `pending` that only affect its looks."""


class Request(Struct, eq=False):
    """A request that has waited for the user since a time (ms).

    digest: None until the request has been shown as it is now. version: counts the different
    versions that were shown. is_whole: it can be read to its end.
    """

    id: str
    since: int
    digest: str | None = None
    version: int = 0
    is_whole: bool = True
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
    """Return whether two values look the same; unlike `==` it tells 1, 1.0 and True apart (hot).

    Values nested too deeply to be compared count as different.
    """
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if isinstance(left, str):
        return left == right
    try:
        return _encode(left) == _encode(right)
    except RecursionError:
        return False
    except (OverflowError, ValueError):  # a number over 64 bits, half of a surrogate pair
        found = fingerprint(left)
        return found is not None and found == fingerprint(right)


def fingerprint(*values: object) -> str | None:
    """Return a hash, or None if the values are nested too deeply."""
    try:
        text = repr(values)
    except RecursionError:
        return None
    return blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()

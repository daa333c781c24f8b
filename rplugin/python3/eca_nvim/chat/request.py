"""Request: what the user is asked for, and what was shown of it.

Rules kept here:
- An id is of one request only: of one block of one chat, and of one time that it waits. The ids of
  an agent are no such thing: two of its calls may have the same.
- The digest is another one as soon as anything else is shown. It never comes back: who answers
  what was shown before something else was has not seen that.
- What is behind what is shown, as the lines of a diff that are left out, is part of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from msgspec import Struct

LOOKS = frozenset({"marks"})
"""Fields of an item of the op `pending` that only say how it looks."""


class Request(Struct, eq=False):
    """What waits for the user since a time (ms).

    `digest` is None until it is shown as it is now; `version` counts what was shown.
    """

    id: str
    since: int
    digest: str | None = None
    version: int = 0
    _hash: str | None = None

    def show(self, item: Mapping[str, object], behind: object) -> str:
        """Take what is shown of it from now on, and what that stands for; gives the digest."""
        shown = {key: value for key, value in item.items() if key not in LOOKS}
        fresh = _hashed(shown, behind)
        if fresh is None or fresh != self._hash:
            self._hash = fresh
            self.version += 1
        self.digest = f"{self.version}-{fresh}"
        return self.digest

    def changed(self) -> None:
        """Take that something else is to be shown of it: until it is, nothing answers it."""
        self.digest = None


def _hashed(*values: object) -> str | None:
    """Hash some values; None when they are nested too deeply to be told apart."""
    try:
        text = repr(values)
    except RecursionError:
        return None
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()

"""Argument peek: what can be said of a tool call while the model still writes its arguments.

Rules kept here:
- The price of a chunk does not grow with the arguments: only the first HEAD characters are ever
  looked at, and only until the telling value was found.
- The arguments themselves are JSON cut anywhere; they are kept whole and never parsed here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

HEAD = 2000
_NAMES = "path|command|pattern|question|source|symbol|agent|url|file|name"
_TELLING = re.compile(rf'"({_NAMES})"\s*:\s*("(?:[^"\\]|\\.)*")')


def telling(arguments: Mapping[str, object]) -> str | None:
    """Give the value of complete arguments that tells what their call is about, if one does."""
    values = (arguments.get(name) for name in _NAMES.split("|"))
    return next((value for value in values if isinstance(value, str)), None)


class ArgumentPeek:
    """The arguments so far, and the first value of them that tells what the call is about."""

    __slots__ = ("_chunks", "_head", "size", "telling")

    def __init__(self) -> None:
        self._chunks: list[str] = []
        self._head = ""
        self.size = 0
        self.telling: tuple[str, str] | None = None

    def feed(self, chunk: str) -> None:
        """Take the next chunk."""
        self._chunks.append(chunk)
        self.size += len(chunk)
        if self.telling is None and len(self._head) < HEAD:
            self._head += chunk[:HEAD]
            self._look()

    def _look(self) -> None:
        found = _TELLING.search(self._head)
        if found is None:
            return
        try:
            self.telling = (found.group(1), str(json.loads(found.group(2), strict=False)))
        except ValueError:  # an escape JSON does not know: the raw text tells enough
            self.telling = (found.group(1), found.group(2).strip('"'))

    @property
    def text(self) -> str:
        """Give all that came so far, as it came."""
        return "".join(self._chunks)

"""Argument peek: finds the main argument of a call while the model is still writing it.

Rules kept here:
- The cost of a chunk does not grow with the arguments: only the first HEAD characters are searched,
  and only until the main argument is found.
- The arguments are JSON that may be cut anywhere; they are kept whole and never parsed here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from eca_nvim.patterns import late_pattern

HEAD = 2000
_NAMES = "path|command|pattern|question|source|symbol|agent|url|file|name"
_MAIN_ARGUMENT = late_pattern(rf'"({_NAMES})"\s*:\s*("(?:[^"\\]|\\.)*")')


def main_argument(arguments: Mapping[str, object]) -> str | None:
    """Return the argument that best says what a call is about, if there is one."""
    values = (arguments.get(name) for name in _NAMES.split("|"))
    return next((value for value in values if isinstance(value, str)), None)


class ArgumentPeek:
    """The arguments so far, and the name and value of the main one."""

    __slots__ = ("_chunks", "_head", "main_argument", "size")

    def __init__(self) -> None:
        self._chunks: list[str] = []
        self._head = ""
        self.size = 0
        self.main_argument: tuple[str, str] | None = None

    def feed(self, chunk: str) -> None:
        """Add the next chunk."""
        self._chunks.append(chunk)
        self.size += len(chunk)
        if self.main_argument is None and len(self._head) < HEAD:
            self._head += chunk[:HEAD]
            self._search()

    def _search(self) -> None:
        found = _MAIN_ARGUMENT.search(self._head)
        if found is None:
            return
        try:
            self.main_argument = (found.group(1), str(json.loads(found.group(2), strict=False)))
        except ValueError:  # not a JSON escape: show the raw text
            self.main_argument = (found.group(1), found.group(2).strip('"'))

    @property
    def text(self) -> str:
        """The arguments so far, unparsed."""
        return "".join(self._chunks)

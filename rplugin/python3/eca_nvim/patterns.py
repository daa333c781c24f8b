"""Patterns that are compiled when they are first used.

Compiling all patterns of the plugin would take a twentieth of the host's start-up, which uses few.
"""

from __future__ import annotations

import re
from typing import AnyStr, cast


class _Late:
    """A pattern that is not compiled yet; methods are cached when they are first used."""

    def __init__(self, source: str | bytes, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        found: object = getattr(re.compile(self._source, self._flags), name)
        setattr(self, name, found)
        return found


def late_pattern(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a stand-in for a compiled pattern; errors in `source` come with its first use."""
    return cast("re.Pattern[AnyStr]", _Late(source, flags))

"""Web links: which host a link leads to, as the user is shown it before he opens the link."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

_PLAIN: Final = frozenset(map(chr, range(0x21, 0x7F))) - {"\\"}
"""Characters of a link that all programs read in the same way. Browsers take `\\` for `/`."""


def host_of(link: str) -> str | None:
    """Return the host of a link to the web; None if it is none, or may lead elsewhere."""
    if not _PLAIN.issuperset(link):
        return None
    try:
        parts = urlsplit(link)
    except ValueError:
        return None
    return parts.hostname or None if parts.scheme in ("http", "https") else None

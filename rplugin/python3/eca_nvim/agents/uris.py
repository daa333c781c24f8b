"""File URIs (RFC 8089) and the paths they name.

Rules kept here: what we write is percent-encoded, because a server reads a raw blank, `#` or `%` as
something else; what we read may be encoded or not, may name a host, or may be a plain path.
"""

from __future__ import annotations

from urllib.parse import quote, unquote, urlsplit

_SCHEME = "file"
_KEPT = "/:@!$&'()*+,;=~"  # what RFC 3986 lets a path hold besides letters, digits and -._


class NotAFile(ValueError):
    """Raised when a URI names no file of this machine; the message quotes it."""


def uri_of(path: str) -> str:
    """Write an absolute path as a file URI; bytes that are no UTF-8 survive (surrogateescape)."""
    return f"{_SCHEME}://{quote(path, safe=_KEPT, errors='surrogateescape')}"


def path_of(uri: str) -> str:
    """Read the path from a file URI, or take a plain absolute path as it is.

    A URI that was never encoded is read too: what follows a raw `#` or `?` is part of the path.
    Raises NotAFile.
    """
    if uri.startswith("/"):
        return uri
    parts = urlsplit(uri)
    if parts.scheme.lower() != _SCHEME or not parts.path:
        raise NotAFile(f"{uri!r} is not the URI of a file")
    path = parts.path
    if parts.query:
        path += f"?{parts.query}"
    if parts.fragment:
        path += f"#{parts.fragment}"
    return unquote(path, errors="surrogateescape")

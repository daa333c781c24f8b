"""Mention words: the words by which a message names files, folders and pages.

Rules kept here:
- A server reads files and folders that a message names as `@/path` or `@/path:L10-L20`, if the
  path has neither blanks nor colons. It never reads pages; the model can, given the address.
- The user's text is changed only where the server or the model would misread it. They do not know
  the backslashes in a path with blanks, so such a path is put in quotes. So is a file or folder
  that is too large to send: the server would read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from eca_nvim.chat.vocabulary.contexts import (
    Context,
    DirectoryContext,
    FileContext,
    TextContext,
    Tokened,
    WebContext,
)
from eca_nvim.patterns import late_pattern

Named: TypeAlias = FileContext | DirectoryContext

_READABLE = late_pattern(r"/[^\s:]+")
"""Paths that the server recognises in a message."""

_READ = late_pattern(r"@[/~.][^\s:]+(?::L\d+-L\d+)?")
"""Names whose files the server reads with a message."""

_TOKEN = late_pattern(r"(?<!\S)\(?(?=[@#])")
"""The position before a token in a message."""
_BLANK = "\\ "
"""A blank as written in a token."""
_WITHIN = late_pattern(r"[\w/\\]")
"""A character that continues a name: a token does not end before it."""


def name_of(context: Context) -> str | None:
    """Return the name of a context in a message; None if it has none."""
    match context:
        case WebContext(url=url):
            return url
        case FileContext(path=path) | DirectoryContext(path=path) if not _READABLE.fullmatch(path):
            return None
        case FileContext(path, int(first), int(last), _):
            return f"@{path}:L{first}-L{last}"
        case FileContext(path=path) | DirectoryContext(path=path):
            return f"@{path}"
        case _:
            return None


def append(message: str, names: Iterable[str]) -> str:
    """Append a block with the names that a message does not contain yet."""
    read = set(_READ.findall(message))
    missing = [
        name
        for name in dict.fromkeys(names)
        if name not in (read if name.startswith("@") else message)
    ]
    if not missing:
        return message
    return "\n".join([message.rstrip("\n"), "<contexts>", *missing, "</contexts>"])


def spell(text: str, contexts: Iterable[Context], *, every: bool) -> str:
    """Replace typed tokens by the names that the server knows.

    every: replace all tokens; else only those it would misread. It misreads the lines of an
    absolute path: it would read the whole file.
    """
    names = dict(filter(None, (_spelling(context, every=every) for context in contexts)))
    if not names:
        return text
    pieces, done = list[str](), 0
    for found in _TOKEN.finditer(text):
        token = _token_at(text, found.end(), names) if found.end() >= done else None
        if token is not None:
            pieces += text[done : found.end()], names[token]
            done = found.end() + len(token)
    return "".join((*pieces, text[done:]))


def _token_at(text: str, start: int, names: Mapping[str, str]) -> str | None:
    """Return the longest token that a text has at a position, or None."""
    there = (name for name in names if text.startswith(name, start))
    whole = (name for name in there if not _WITHIN.match(text, start + len(name)))
    return max(whole, key=len, default=None)


def _spelling(context: Context, *, every: bool) -> tuple[str, str] | None:
    if not isinstance(context, Tokened) or context.token is None:
        return None
    is_by_name = isinstance(context, TextContext) and _READ.match(context.token)
    if is_by_name or _BLANK in context.token:
        return context.token, '"{}"'.format(context.token[1:].replace(_BLANK, " "))
    name = name_of(context) if isinstance(context, Named) else None
    is_misread = name is not None and context.token.startswith("@/") and ":L" in name
    return (context.token, name) if name is not None and (every or is_misread) else None

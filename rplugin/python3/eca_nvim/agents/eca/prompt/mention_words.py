"""Mention words: the words by which a message names files, folders and pages.

Rules kept here:
- A server reads files and folders that a message names as `@/path` or `@/path:L10-L20`, if the
  path has neither blanks nor colons. It never reads pages; the model can, given the address.
- The user's text is changed only where the server or the model would misread it. A file or folder
  that is too large to send is put in quotes: the server would read it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from eca_nvim.agents.typed_tokens import has_blank, quoted, replace_tokens
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
    spellings = (_spelling(context, every=every) for context in contexts)
    return replace_tokens(text, dict(filter(None, spellings)))


def _spelling(context: Context, *, every: bool) -> tuple[str, str] | None:
    if not isinstance(context, Tokened) or context.token is None:
        return None
    is_by_name = isinstance(context, TextContext) and _READ.match(context.token)
    if is_by_name or has_blank(context.token):
        return context.token, quoted(context.token)
    name = name_of(context) if isinstance(context, Named) else None
    is_misread = name is not None and context.token.startswith("@/") and ":L" in name
    return (context.token, name) if name is not None and (every or is_misread) else None

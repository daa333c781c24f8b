"""Words by which a message names files, folders and pages.

Rules kept here:
- A server reads files and folders that a message names as `@/path` or `@/path:L10-L20`, when the
  path has neither blank nor colon. Pages it never reads: the model can, told the address.
- What the user typed stays as it is, but where the server would read something else in it, or the
  model: it does not know the backslashes of a path with blanks, so such a path is in quotes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from eca_nvim.agents.eca.prompt import attached_files
from eca_nvim.chat.vocabulary.contexts import Context, DirectoryContext, FileContext, WebContext
from eca_nvim.patterns import late_pattern

Named: TypeAlias = FileContext | DirectoryContext

_READABLE = late_pattern(r"/[^\s:]+")
"""Paths that the server finds in a message."""

_READ = late_pattern(r"@[/~.][^\s:]+(?::L\d+-L\d+)?")
"""What the server reads with a message."""

_TOKEN = late_pattern(r"(?<!\S)\(?(?=@)")
"""What stands before a token in a message."""
_BLANK = "\\ "
"""How a token has a blank."""
_WITHIN = late_pattern(r"[\w/\\]")
"""What goes on with a name: a token does not end before it."""


def name_of(context: Context) -> str | None:
    """Return how a message names a context; None when it cannot."""
    match context:
        case WebContext(url):
            return url
        case FileContext(path=path) | DirectoryContext(path=path) if attached_files.is_image(
            context
        ) or not _READABLE.fullmatch(path):
            return None
        case FileContext(path, int(first), int(last), _):
            return f"@{path}:L{first}-L{last}"
        case FileContext(path=path) | DirectoryContext(path=path):
            return f"@{path}"
        case _:
            return None


def append(message: str, names: Iterable[str]) -> str:
    """Put names into a block at the end of a message, but those that are in it."""
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
    """Write typed tokens as the server names them: all, or those alone that it would misread.

    It misreads lines of an absolute path: it would read the whole file.
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
    """Return the longest of some tokens that stands at a place of a text."""
    there = (name for name in names if text.startswith(name, start))
    whole = (name for name in there if not _WITHIN.match(text, start + len(name)))
    return max(whole, key=len, default=None)


def _spelling(context: Context, *, every: bool) -> tuple[str, str] | None:
    if not isinstance(context, Named) or context.token is None:
        return None
    if _BLANK in context.token:
        return context.token, '"{}"'.format(context.token[1:].replace(_BLANK, " "))
    name = name_of(context)
    is_misread = name is not None and context.token.startswith("@/") and ":L" in name
    return (context.token, name) if name is not None and (every or is_misread) else None

"""Words by which a message names files, folders and pages.

Rules kept here:
- A server reads files and folders that a message names as `@/path` or `@/path:L10-L20`, when the
  path has neither blank nor colon. Pages it never reads: the model can, told the address.
- What the user typed stays as it is, but where the server would read something else in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

from eca_nvim.agents import eca_files as files
from eca_nvim.chat.contexts import Context, DirectoryContext, FileContext, WebContext

Named: TypeAlias = FileContext | DirectoryContext

_READABLE = re.compile(r"/[^\s:]+")
"""Paths that the server finds in a message."""

_READ = re.compile(r"@[/~.][^\s:]+(?::L\d+-L\d+)?")
"""What the server reads with a message."""


def name_of(context: Context) -> str | None:
    """Return how a message names a context; None when it cannot."""
    match context:
        case WebContext(url):
            return url
        case FileContext(path=path) | DirectoryContext(path=path) if files.is_image(
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
    missing = [name for name in dict.fromkeys(names) if not _is_in(message, name)]
    if not missing:
        return message
    return "\n".join([message.rstrip("\n"), "<contexts>", *missing, "</contexts>"])


def _is_in(message: str, name: str) -> bool:
    return name in (_READ.findall(message) if name.startswith("@") else message)


def spell(text: str, contexts: Iterable[Context], *, every: bool) -> str:
    """Write typed tokens as the server names them: all, or those alone that it would misread.

    It misreads lines of an absolute path: it would read the whole file.
    """
    names = dict(filter(None, (_spelling(context, every=every) for context in contexts)))
    if not names:
        return text
    longest_first = sorted(names, key=len, reverse=True)
    tokens = "|".join(map(re.escape, longest_first))
    return re.sub(rf"(?<!\S)(\(?)({tokens})(?![\w/\\])", lambda it: it[1] + names[it[2]], text)


def _spelling(context: Context, *, every: bool) -> tuple[str, str] | None:
    if not isinstance(context, Named) or context.token is None:
        return None
    name = name_of(context)
    is_misread = name is not None and context.token.startswith("@/") and ":L" in name
    return (context.token, name) if name is not None and (every or is_misread) else None

"""Typed tokens: the words by which a prompt refers to its contexts, in the text for the agent.

Rule kept here: the user escapes the blanks of a path in a token. No agent knows these backslashes,
so such a path is put in quotes, without the sign.
"""

import re
from collections.abc import Iterable, Mapping

from eca_nvim.chat.vocabulary.contexts import Context, Tokened

_TOKEN = re.compile(r"(?<!\S)\(?(?=[@#])")
"""The position before a token in a text."""
_BLANK = "\\ "
"""A blank as written in a token."""
_WITHIN = re.compile(r"[\w/\\]")
"""A character that continues a name: a token does not end before it."""


def has_blank(token: str) -> bool:
    """Return whether a token has a blank, and so must be written in another way."""
    return _BLANK in token


def quoted(token: str) -> str:
    """Return the path of a token in quotes."""
    return '"{}"'.format(token[1:].replace(_BLANK, " "))


def without_backslashes(text: str, contexts: Iterable[Context]) -> str:
    """Return a prompt's text with the paths that have blanks in quotes."""
    tokens = [it.token for it in contexts if isinstance(it, Tokened) and it.token]
    return replace_tokens(text, {token: quoted(token) for token in tokens if has_blank(token)})


def replace_tokens(text: str, words: Mapping[str, str]) -> str:
    """Replace tokens of a text by other words."""
    if not words:
        return text
    pieces, done = list[str](), 0
    for found in _TOKEN.finditer(text):
        token = _token_at(text, found.end(), words) if found.end() >= done else None
        if token is not None:
            pieces += text[done : found.end()], words[token]
            done = found.end() + len(token)
    return "".join((*pieces, text[done:]))


def _token_at(text: str, start: int, words: Mapping[str, str]) -> str | None:
    """Return the longest token that a text has at a position, or None."""
    there = (token for token in words if text.startswith(token, start))
    whole = (token for token in there if not _WITHIN.match(text, start + len(token)))
    return max(whole, key=len, default=None)

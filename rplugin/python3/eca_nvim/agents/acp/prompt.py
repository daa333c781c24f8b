"""Prompt: a prompt and its contexts as content blocks.

Rules kept here:
- The text comes first and as typed, so that `/name rest` is a command of the agent.
- Only links and text are sent, which every agent takes, unless it says that it takes more.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import assert_never

from eca_nvim.agents.base import Prompt
from eca_nvim.chat.vocabulary.contexts import (
    Context,
    CursorContext,
    DiffContext,
    DirectoryContext,
    FileContext,
    ImageContext,
    PathMention,
    ResourceContext,
    TextContext,
    WebContext,
)
from eca_nvim.paths import uri_of
from eca_nvim.protocol.acp.content import ContentBlock, ResourceLink, TextBlock


def blocks(prompt: Prompt) -> tuple[ContentBlock, ...]:
    """Return the blocks of a prompt."""
    carried = (block for context in prompt.contexts for block in _blocks(context))
    return (TextBlock(prompt.text), *carried)


def _blocks(context: Context) -> tuple[ContentBlock, ...]:
    match context:
        case FileContext(path, first, last):
            return (_link(path, _lines(first, last)),)
        case DirectoryContext(path) | ImageContext(path):
            return (_link(path),)
        case ResourceContext(uri):
            return (ResourceLink(uri, uri),)
        case PathMention() | DiffContext():  # only words of the text
            return ()
        case WebContext(url):
            return (ResourceLink(url, url),)
        case TextContext(label, content):
            return (TextBlock(f"{label}:\n{content}"),)
        case CursorContext(path):
            return TextBlock(_place(context)), _link(path, f"#L{context.start.line}")
        case _:
            assert_never(context)


def _link(path: str, lines: str = "") -> ResourceLink:
    return ResourceLink(uri_of(path) + lines, PurePath(path).name or path)


def _lines(first: int | None, last: int | None) -> str:
    """Return lines as the fragment of a link; "" for a whole file."""
    if first is None and last is None:
        return ""
    return f"#L{first or 1}" + ("" if last is None else f"-L{last}")


def _place(cursor: CursorContext) -> str:
    start, end = cursor.start, cursor.end
    if start == end:
        return f"The cursor is in line {start.line}, column {start.column} of {cursor.path}."
    return (
        f"Selected in {cursor.path}: from line {start.line}, column {start.column} "
        f"to before line {end.line}, column {end.column}."
    )

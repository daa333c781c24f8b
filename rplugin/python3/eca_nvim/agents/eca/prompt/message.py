"""Message: builds chat/prompt with its contexts.

Positions: ECA does not define the base of a cursor's line and character. The server passes both to
the model ("line:character"), next to file excerpts whose lines count from 1, and its reference
client counts both from 1. We do the same, with characters in UTF-16 code units as everywhere in
ECA; the end of a selection is exclusive.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, assert_never

from eca_nvim.agents.eca.chat_options import Selection
from eca_nvim.chat.vocabulary import contexts as ours
from eca_nvim.chat.vocabulary.contexts import (
    Context,
    DiffContext,
    ImageContext,
    ResourceContext,
    TextContext,
)
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.protocol.eca import chat, editor
from eca_nvim.protocol.eca import contexts as eca


def wire_contexts(contexts: Iterable[ours.Context]) -> tuple[eca.Context, ...]:
    """Turn contexts into ECA's, without those that are only words."""
    return tuple(filter(None, map(wire_context, contexts)))


def wire_context(context: ours.Context) -> eca.Context | None:
    """Turn a context into ECA's; None for one that is only a word of the message.

    ECA reads images from files: it drops those whose content is sent.
    """
    match context:
        case ours.FileContext(path, int(first), int(last), _):
            return eca.FileContext(path=path, lines_range=editor.LinesRange(start=first, end=last))
        case ours.FileContext(path=path) | ours.ImageContext(path=path):
            return eca.FileContext(path=path)
        case ours.DirectoryContext(path=path):
            return eca.DirectoryContext(path=path)
        case ours.WebContext(url=url):
            return eca.WebContext(url=url)
        case ours.ResourceContext(uri=uri):
            return eca.McpResourceContext(uri=uri)
        case ours.CursorContext(path, start, end):
            place = editor.Range(start=_position(start), end=_position(end))
            return eca.CursorContext(path=path, position=place)
        case ours.TextContext(label=label, content=content):
            return eca.TextContext(label=label, content=content)
        case ours.PathMention() | ours.DiffContext():
            return None
        case _:
            assert_never(context)


def _position(position: ours.Position) -> editor.Position:
    return editor.Position(line=position.line, character=position.column)


_NOT_NAMED: Final = ImageContext | ResourceContext | TextContext | DiffContext
"""Contexts that the text of a message cannot name."""


def with_steer(contexts: Iterable[Context]) -> str | None:
    """Return a line about the contexts that words to a running turn cannot name."""
    names = _named_in_vain(contexts)
    advice = "<M-CR> or :Eca queue sends a prompt after it"
    return f"not sent to the running turn: {names}; {advice}" if names else None


def with_command(contexts: Iterable[Context]) -> str | None:
    """Return a line about the contexts that a command cannot name."""
    names = _named_in_vain(contexts)
    return f"a command takes only names of files, not sent: {names}" if names else None


def _named_in_vain(contexts: Iterable[Context]) -> str:
    return ", ".join(it.token for it in contexts if isinstance(it, _NOT_NAMED) and it.token)


class SelectedPrompt(Prompt, frozen=True):
    """A prompt with what it is sent with."""

    selection: Selection = Selection()


def today_prompt(
    prompt: SelectedPrompt, message: str, contexts: Iterable[Context] = ()
) -> chat.PromptParams:
    """Build chat/prompt for a server of today."""
    chosen = prompt.selection
    return chat.PromptParams(
        chat_id=prompt.chat_id,
        message=message,
        model=chosen.model or None,
        agent=chosen.agent or None,
        variant=chosen.variant or None,
        contexts=wire_contexts(contexts),
        trust=chosen.trust,  # said each time: a server may otherwise assume it
    )

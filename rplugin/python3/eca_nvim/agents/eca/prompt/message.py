"""Message: builds chat/prompt with its contexts, in the form of the server's generation.

Positions: ECA does not define the base of a cursor's line and character. The server passes both to
the model ("line:character"), next to file excerpts whose lines count from 1, and its reference
client counts both from 1. We do the same, with characters in UTF-16 code units as everywhere in
ECA; the end of a selection is exclusive.

Rules kept here:
- Lines are 1-based, as the draft defines it for changes; so are the cursor's characters, which
  it does not define.
- A context that the prompt names is reported each time; one that belongs to every prompt, once.
- The server drops silently what it does not take with a command, or in a running turn: we say it.
- Today's servers accept our chat ids, and read files that a message names. Older ones create an id
  for a prompt without one, and read contexts with every prompt. They want all that they have said
  of a resource: one that they have not listed is left out.
- Servers of the BEHAVIORS generation make a map of the project for each prompt that asks for it.
- A context that the server does not support is left out; the outbox reports that. A server of
  unknown generation gets the contexts in each form.
- Every prompt says whether its chat is trusted, because a server may otherwise assume that it is;
  also to servers that seem old, which may only be slow to show their generation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, assert_never

from msgspec.structs import replace

from eca_nvim.agents.attached_files import fit
from eca_nvim.agents.eca.chat_ids import ChatIds
from eca_nvim.agents.eca.chat_options import Selection
from eca_nvim.agents.eca.dialect import Dialect, Generation, Lack
from eca_nvim.agents.eca.prompt.mentions import Mentions
from eca_nvim.chat.vocabulary import contexts as ours
from eca_nvim.chat.vocabulary.contexts import (
    Context,
    DiffContext,
    DirectoryContext,
    ImageContext,
    ResourceContext,
    TextContext,
    Tokened,
)
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.protocol.eca import chat, draft, editor
from eca_nvim.protocol.eca import contexts as eca
from eca_nvim.protocol.eca.contexts import McpResourceContext, RepoMapContext


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


def draft_context(context: ours.Context) -> draft.DraftContext | None:
    """Turn a context into the first draft's; None for one that the draft does not have."""
    match context:
        case ours.FileContext(path, int(first), int(last), _):
            span = draft.LineSpan(start_line=first, end_line=last)
            return draft.DraftFile(path=path, selection=span)
        case ours.FileContext(path=path) | ours.ImageContext(path=path):
            return draft.DraftFile(path=path)
        case ours.CursorContext(path, start, end):
            cursor = editor.Position(line=start.line, character=start.column)
            span = draft.LineSpan(start_line=start.line, end_line=end.line)
            selection = None if start == end else span
            return draft.DraftFile(path=path, selection=selection, cursor=cursor)
        case ours.WebContext(url=url):
            return draft.DraftWeb(url=url)
        case ours.TextContext(label=label, content=content):
            return draft.DraftCode(content=content, language="text", description=label)
        case (
            ours.DirectoryContext()
            | ours.ResourceContext()
            | ours.PathMention()
            | ours.DiffContext()
        ):
            return None
        case _:
            assert_never(context)


_NOT_NAMED: Final = ImageContext | ResourceContext | TextContext | DiffContext
"""Contexts that the text of a message cannot name."""


class FittedContexts:
    """Fits the contexts of a server's prompts."""

    def __init__(self) -> None:
        self._reported: set[tuple[str, str]] = set()  # our chat id and a line

    def fit(
        self, chat_id: str, contexts: Iterable[Context]
    ) -> tuple[tuple[Context, ...], Sequence[str]]:
        """Return what of contexts is sent, and lines about what is not."""
        sent: list[Context] = []
        lines: list[str] = []
        for context in contexts:
            fitted = fit(context)
            if fitted.context is not None:
                sent.append(fitted.context)
            if fitted.message is not None and self._is_news(chat_id, context, fitted.message):
                lines.append(fitted.message)
        return tuple(sent), lines

    def _is_news(self, chat_id: str, context: Context, line: str) -> bool:
        if isinstance(context, Tokened) and context.token:
            return True
        is_known = (chat_id, line) in self._reported
        self._reported.add((chat_id, line))
        return not is_known


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


_NOT_EVERYWHERE: Final[Mapping[type, Lack]] = {
    TextContext: Lack.TEXTS,
    DirectoryContext: Lack.FOLDERS,
    ResourceContext: Lack.RESOURCES,
}
"""Kinds of contexts that some servers do not accept."""


class SelectedPrompt(Prompt, frozen=True):
    """A prompt with what it is sent with."""

    selection: Selection = Selection()


def needs(
    contexts: Sequence[Context], resources: Mapping[str, McpResourceContext]
) -> Iterator[Lack]:
    """Yield what contexts need that some servers lack; a resource that is listed needs nothing."""
    for context in contexts:
        is_listed = isinstance(context, ResourceContext) and context.uri in resources
        if not is_listed and (lack := _NOT_EVERYWHERE.get(type(context))):
            yield lack


def prompt_params(
    prompt: SelectedPrompt, chats: ChatIds, dialect: Dialect, mentions: Mentions
) -> chat.PromptParams:
    """Build chat/prompt; the prompt's selection has only what the server supports."""
    if dialect.generation < Generation.AGENTS:
        params = _for_older(prompt, chats.minted(prompt.chat_id), dialect, mentions.resources)
        more = (RepoMapContext(),) if dialect.wants_repo_map else ()
        return replace(params, contexts=(*params.contexts, *more))
    return _for_today(prompt, chats, *mentions.write(prompt))


def login_params(prompt: SelectedPrompt, chats: ChatIds, dialect: Dialect) -> chat.PromptParams:
    """Build chat/prompt for a login: the text unchanged, without contexts or mentions."""
    if dialect.generation < Generation.AGENTS:
        return _for_older(prompt, chats.minted(prompt.chat_id), dialect, {})
    return _for_today(prompt, chats, prompt.text, ())


def _for_today(
    prompt: SelectedPrompt, chats: ChatIds, message: str, contexts: Sequence[Context]
) -> chat.PromptParams:
    chosen = prompt.selection
    return chat.PromptParams(
        chat_id=chats.theirs(prompt.chat_id),
        message=message,
        model=chosen.model or None,
        agent=chosen.agent or None,
        variant=chosen.variant or None,
        contexts=wire_contexts(contexts),
        trust=chosen.trust,
    )


def _for_older(
    prompt: SelectedPrompt,
    minted: str | None,
    dialect: Dialect,
    resources: Mapping[str, McpResourceContext],
) -> chat.PromptParams:
    chosen, generation = prompt.selection, dialect.generation
    taken = [it for it in prompt.contexts if not isinstance(it, TextContext | ResourceContext)]
    named = [it.uri for it in prompt.contexts if isinstance(it, ResourceContext)]
    whole = tuple(resources[uri] for uri in named if uri in resources)
    drafted = map(draft_context, prompt.contexts)
    return chat.PromptParams(
        chat_id=minted,
        message=prompt.text,
        model=chosen.model or None,
        agent=chosen.agent or None,
        variant=chosen.variant or None,
        contexts=(*wire_contexts(taken), *whole) if generation is not Generation.DRAFT else (),
        context=tuple(filter(None, drafted)) if generation <= Generation.DRAFT else (),
        trust=False,
    )

"""Message: builds chat/prompt, in the form of the server's generation.

Rules kept here:
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

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from eca_nvim.agents.base import Prompt
from eca_nvim.agents.eca.chat_ids import ChatIds
from eca_nvim.agents.eca.dialect import Dialect, Generation, Lack
from eca_nvim.agents.eca.prompt.contexts import wire_contexts
from eca_nvim.agents.eca.prompt.draft_contexts import draft_context
from eca_nvim.agents.eca.prompt.mentions import Mentions
from eca_nvim.agents.eca.selection import Selection
from eca_nvim.chat.vocabulary.contexts import (
    Context,
    DirectoryContext,
    ResourceContext,
    TextContext,
)
from eca_nvim.protocol.eca.chat import PromptParams
from eca_nvim.protocol.eca.contexts import McpResourceContext, RepoMapContext

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
) -> PromptParams:
    """Build chat/prompt; the prompt's selection has only what the server supports."""
    if dialect.generation < Generation.AGENTS:
        params = _for_older(prompt, chats.minted(prompt.chat_id), dialect, mentions.resources)
        more = (RepoMapContext(),) if dialect.wants_repo_map else ()
        return replace(params, contexts=(*params.contexts, *more))
    return _for_today(prompt, chats, *mentions.write(prompt))


def login_params(prompt: SelectedPrompt, chats: ChatIds, dialect: Dialect) -> PromptParams:
    """Build chat/prompt for a login: the text unchanged, without contexts or mentions."""
    if dialect.generation < Generation.AGENTS:
        return _for_older(prompt, chats.minted(prompt.chat_id), dialect, {})
    return _for_today(prompt, chats, prompt.text, ())


def _for_today(
    prompt: SelectedPrompt, chats: ChatIds, message: str, contexts: Sequence[Context]
) -> PromptParams:
    chosen = prompt.selection
    return PromptParams(
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
) -> PromptParams:
    chosen, generation = prompt.selection, dialect.generation
    taken = [it for it in prompt.contexts if not isinstance(it, TextContext | ResourceContext)]
    named = [it.uri for it in prompt.contexts if isinstance(it, ResourceContext)]
    whole = tuple(resources[uri] for uri in named if uri in resources)
    drafted = map(draft_context, prompt.contexts)
    return PromptParams(
        chat_id=minted,
        message=prompt.text,
        model=chosen.model or None,
        agent=chosen.agent or None,
        variant=chosen.variant or None,
        contexts=(*wire_contexts(taken), *whole) if generation is not Generation.DRAFT else (),
        context=tuple(filter(None, drafted)) if generation <= Generation.DRAFT else (),
        trust=False,
    )

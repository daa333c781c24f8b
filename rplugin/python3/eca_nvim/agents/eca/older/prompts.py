"""Prompts in the forms of older servers, with the contexts that they take.

They read contexts with every prompt, so none is left out because an earlier prompt had it. A server
that has shown nothing yet gets each form; it ignores the one that it does not know.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from eca_nvim.agents.eca.dialect import Dialect, Generation, Lack
from eca_nvim.agents.eca.prompt.message import SelectedPrompt, wire_contexts
from eca_nvim.chat.vocabulary import contexts as ours
from eca_nvim.protocol.eca import draft
from eca_nvim.protocol.eca.chat import PromptParams
from eca_nvim.protocol.eca.contexts import McpResourceContext, RepoMapContext
from eca_nvim.protocol.eca.editor import Position

Resources = Mapping[str, McpResourceContext]
"""What a server has said of its resources, by their addresses."""

_NOT_EVERYWHERE: Final[Mapping[type, Lack]] = {
    ours.TextContext: Lack.TEXTS,
    ours.DirectoryContext: Lack.FOLDERS,
    ours.ResourceContext: Lack.RESOURCES,
}


def needs(prompt: SelectedPrompt, resources: Resources) -> Iterator[Lack]:
    """Yield what a prompt's contexts need that some servers lack."""
    for context in prompt.contexts:
        is_listed = isinstance(context, ours.ResourceContext) and context.uri in resources
        if not is_listed and (lack := _NOT_EVERYWHERE.get(type(context))):
            yield lack


def older_prompt(
    prompt: SelectedPrompt, theirs: str | None, dialect: Dialect, resources: Resources
) -> PromptParams:
    """Build chat/prompt; `theirs` is the server's id of the chat, None to begin one."""
    chosen, generation = prompt.selection, dialect.generation
    others = ours.TextContext | ours.ResourceContext
    taken = [it for it in prompt.contexts if not isinstance(it, others)]
    named = [it.uri for it in prompt.contexts if isinstance(it, ours.ResourceContext)]
    contexts = (
        *wire_contexts(taken),
        # They want all that they have said of a resource: one they have not listed is left out.
        *(resources[uri] for uri in named if uri in resources),
        # Those before tool servers make a map of the project for each prompt that asks for it.
        *((RepoMapContext(),) if dialect.wants_repo_map else ()),
    )
    drafted = [it for it in map(draft_context, prompt.contexts) if it is not None]
    return PromptParams(
        chat_id=theirs,
        message=prompt.text,
        model=chosen.model or None,
        agent=None if dialect.lacks(Lack.AGENT) else chosen.agent or None,
        variant=chosen.variant or None,
        contexts=contexts if generation is not Generation.DRAFT else (),
        context=tuple(drafted) if generation <= Generation.DRAFT else (),
        trust=False,  # it may be one of today's that is slow to show itself, and assume trust
    )


def draft_context(context: ours.Context) -> draft.DraftContext | None:
    """Turn a context into the first draft's; None for one that the draft does not have."""
    match context:
        case ours.FileContext(path, int(first), int(last), _):
            span = draft.LineSpan(start_line=first, end_line=last)
            return draft.DraftFile(path=path, selection=span)
        case ours.FileContext(path=path) | ours.ImageContext(path=path):
            return draft.DraftFile(path=path)
        case ours.CursorContext(path, start, end):
            span = draft.LineSpan(start_line=start.line, end_line=end.line)
            cursor = Position(line=start.line, character=start.column)
            selection = None if start == end else span
            return draft.DraftFile(path=path, selection=selection, cursor=cursor)
        case ours.WebContext(url=url):
            return draft.DraftWeb(url=url)
        case ours.TextContext(label=label, content=content):
            return draft.DraftCode(content=content, language="text", description=label)
        case _:
            return None

"""Contexts: the items after `@` that are no path of the workspace, and those of the agent.

Rule kept here: an address is offered only if `lua/eca/context/tokens.lua` reads it as one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from eca_nvim.agents.queries import FoundContext, FoundPath, FoundResource
from eca_nvim.chat.text.safe_text import literal_name, one_line
from eca_nvim.chat.vocabulary.completion import CompletionItem, ItemKind
from eca_nvim.patterns import late_pattern
from eca_nvim.session.completion.commands import matching
from eca_nvim.session.completion.fuzzy import matches
from eca_nvim.session.completion.paths import path_item
from eca_nvim.session.completion.written_paths import Writer, unescaped

_URL = late_pattern(r"https?://[!-~]*[A-Za-z0-9/]")
_URI = late_pattern(r"[A-Za-z][\w+.-]*://[!-~]*[A-Za-z0-9/]")


def words(query: str) -> list[CompletionItem]:
    """Return the contexts that are no path: a page whose address was typed, the cursor."""
    if _URL.fullmatch(query):
        return [CompletionItem(query, query, ItemKind.URL, "web page")]
    cursor = CompletionItem("cursor", "cursor", ItemKind.CURSOR, "where you are in the code")
    return matching(query, [cursor])


def context_items(
    query: str, found: Iterable[FoundContext], folders: Collection[str], writer: Writer
) -> Iterator[CompletionItem]:
    """Yield the items of contexts that the agent offers; blocks, so runs in a thread.

    An agent may offer some for any query: what has not its letters is left out, and so are the
    folders of the workspace.
    """
    wanted = unescaped(query)
    for context in found:
        match context:
            case FoundPath(path):
                item = path_item(path, writer) if path not in folders else None
            case FoundResource(uri):
                item = _resource(context) if _URI.fullmatch(uri) else None
        if item is not None and matches(wanted, f"{item.label} {item.detail}"):
            yield item


def _resource(found: FoundResource) -> CompletionItem:
    described = (found.server, found.name, found.description)
    detail = " · ".join(filter(None, map(one_line, described)))
    return CompletionItem(found.uri, literal_name(found.uri), ItemKind.RESOURCE, detail)

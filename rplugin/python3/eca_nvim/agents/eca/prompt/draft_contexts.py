"""Draft contexts: turns contexts into those of the protocol's first draft.

Rule: lines are 1-based, as the draft defines it for changes; so are the cursor's characters, which
it does not define.
"""

from __future__ import annotations

from typing import assert_never

from eca_nvim.chat.vocabulary import contexts as ours
from eca_nvim.protocol.eca import draft
from eca_nvim.protocol.eca.editor import Position


def draft_context(context: ours.Context) -> draft.DraftContext | None:
    """Turn a context into the first draft's; None for one that the draft does not have."""
    match context:
        case ours.FileContext(path, int(first), int(last), _):
            span = draft.LineSpan(start_line=first, end_line=last)
            return draft.DraftFile(path=path, selection=span)
        case ours.FileContext(path=path) | ours.ImageContext(path=path):
            return draft.DraftFile(path=path)
        case ours.CursorContext(path, start, end):
            cursor = Position(line=start.line, character=start.column)
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

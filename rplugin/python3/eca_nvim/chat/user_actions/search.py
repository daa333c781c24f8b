"""Search: the lines of a chat to search, and how to show a line that was found.

All text is searched, also if it is collapsed or cut. Rows are of a block's whole text, 0-based.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from eca_nvim.chat.model.blocks import Block, Changes, Fold
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.render.block import body, full_body, header
from eca_nvim.chat.render.whole_chat import ordered
from eca_nvim.chat.text.safe_text import truncate
from eca_nvim.chat.update import Update
from eca_nvim.chat.vocabulary.ops import ShowOutput

MOST_HITS = 1000
CELLS = 200


class Place(Struct, frozen=True):
    """A line of a block; `shown` is the block in the view that holds it. Row None: its header."""

    block: int
    shown: int
    row: int | None
    line: str


def places(chat: Chat, now: int) -> list[Place]:
    """Return all lines of a chat in display order; `now` in ms."""
    return [place for block in ordered(chat) for place in _places(chat, block, now)]


def _places(chat: Chat, block: Block, now: int) -> Iterator[Place]:
    shown = _in_view(block).id
    yield Place(block.id, shown, None, _title(chat, block, now))
    for row, line in enumerate(full_body(block, chat.settings, None).lines):
        yield Place(block.id, shown, row, line)


def search_answer(found: Sequence[tuple[Place, int]], more: int) -> Mapping[str, object]:
    """Build the answer to a search.

    found: matching lines and the character (0-based) of each match. more: matches left out.
    """
    return {"hits": [_hit(place, start) for place, start in found], "more": more}


def _hit(place: Place, start: int) -> Mapping[str, object]:
    where: dict[str, object] = {"block": place.block, "shown": place.shown}
    if place.row is None:
        return {**where, "column": 0, "text": place.line}
    column = len(place.line[:start].encode())
    text = truncate(place.line[max(0, start - CELLS // 2) :], CELLS)
    return {**where, "row": place.row, "column": column, "text": text}


def _in_view(block: Block) -> Block:
    """Return the block, or the innermost block around it that is in the view."""
    if block.group is not None and not block.group.is_open:
        return _in_view(block.group)
    anchor = block.lane.anchor
    if anchor is None:
        return block
    outer = _in_view(anchor)
    return block if outer is anchor and anchor.is_open else outer


def _title(chat: Chat, block: Block, now: int) -> str:
    return "".join(piece for piece, _ in header(block, chat.settings, now))


def reveal(chat: Chat, block_id: int, row: int | None, now: int) -> tuple[Changes, int | None]:
    """Open a block and the blocks around it; return the line's row in the shown body, or None.

    A line that the shown body leaves out is shown in the block's whole text (op `output`).
    """
    update = Update(chat, chat.root, now)
    block = chat.blocks.get(block_id)
    if block is None:
        return update.finish(), None
    _open(update, block)
    place = None if row is None else _shown_row(chat, block, row)
    if row is not None and place is None:
        update.ops.append(show_whole_text(chat, block, row, now))
    return update.finish(), place


def _open(update: Update, block: Block) -> None:
    if block.lane.anchor is not None:
        _open(update, block.lane.anchor)
    if block.group is not None:
        _open(update, block.group)
    if block.fold not in (Fold.FIXED, Fold.USER_OPEN):
        update.fold(block, Fold.USER_OPEN)


def _shown_row(chat: Chat, block: Block, row: int) -> int | None:
    """Return a line's row in the shown body; None if the body leaves it out."""
    shown, lines = body(block, chat.settings).lines, full_body(block, chat.settings, None).lines
    return row if row < min(len(shown), len(lines)) and shown[row] == lines[row] else None


def show_whole_text(chat: Chat, block: Block, row: int, now: int) -> ShowOutput:
    """Build the op that shows a block's whole text, at a row (0-based)."""
    content = full_body(block, chat.settings, None)
    return ShowOutput(
        chat=chat.id,
        block=block.id,
        title=_title(chat, block, now),
        lines=content.lines,
        marks=content.marks,
        language=content.language,
        row=min(row, max(0, len(content.lines) - 1)),
    )

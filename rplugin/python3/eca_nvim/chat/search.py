"""Search: what is said in a chat, wherever it is, and how to get there.

Rules kept here:
- All text is looked at, collapsed or cut in the view or not; rows count the lines of a block's
  whole text from 0.
- The pattern is the user's own; lower case finds either case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from eca_nvim.chat.blocks import Block, Fold
from eca_nvim.chat.effects import Changes
from eca_nvim.chat.markdown_export import ordered
from eca_nvim.chat.model import Chat, Lane
from eca_nvim.chat.ops import ShowOutput
from eca_nvim.chat.render import body, full_body, header
from eca_nvim.chat.text import truncate
from eca_nvim.chat.update import Update

MOST_HITS = 1000
CELLS = 200


def grep(chat: Chat, pattern: str, now: int) -> Mapping[str, object]:
    """Look for a pattern; gives hits, how many more there are, or the fault in the pattern."""
    try:
        wanted = re.compile(pattern, re.IGNORECASE if pattern == pattern.lower() else re.NOFLAG)
    except re.error as fault:
        return {"fault": f"not a regular expression: {fault}"}
    hits = [hit for block in ordered(chat) for hit in _hits(chat, block, wanted, now)]
    return {"hits": hits[:MOST_HITS], "more": max(0, len(hits) - MOST_HITS)}


def _hits(
    chat: Chat, block: Block, wanted: re.Pattern[str], now: int
) -> Iterator[Mapping[str, object]]:
    place = {"block": block.id, "shown": _in_view(chat, block).id}
    title = _title(chat, block, now)
    if wanted.search(title):
        yield {**place, "column": 0, "text": title}
    for row, line in enumerate(full_body(block, chat.settings, None).lines):
        if found := wanted.search(line):
            column = len(line[: found.start()].encode())
            text = truncate(line[max(0, found.start() - CELLS // 2) :], CELLS)
            yield {**place, "row": row, "column": column, "text": text}


def _in_view(chat: Chat, block: Block) -> Block:
    """Give the block, or the one it is nested in that is not closed away."""
    lane = _lane_of(chat, block)
    if block.group is not None and not block.group.is_open:
        return _in_view(chat, block.group)
    if lane.anchor is None:
        return block
    outer = _in_view(chat, lane.anchor)
    return block if outer is lane.anchor and lane.anchor.is_open else outer


def _title(chat: Chat, block: Block, now: int) -> str:
    return "".join(piece for piece, _ in header(block, chat.settings, now))


def reveal(chat: Chat, block_id: int, row: int | None, now: int) -> tuple[Changes, int | None]:
    """Open a block and what it is in; gives the row of the shown body that a line is in, if any.

    A line that the shown body leaves out is shown with all of the block's text (op `output`).
    """
    update = Update(chat, chat.root, now)
    block = chat.blocks.get(block_id)
    if block is None:
        return update.finish(), None
    lane = _lane_of(chat, block)
    _open(update, block, lane)
    place = None if row is None else _shown_row(chat, block, row)
    if row is not None and place is None:
        update.ops.append(whole(chat, block, row, now))
    return update.finish(), place


def _lane_of(chat: Chat, block: Block) -> Lane:
    return next(lane for lane in chat.lanes.values() if block in lane.blocks)


def _open(update: Update, block: Block, lane: Lane) -> None:
    if lane.anchor is not None:
        _open(update, lane.anchor, _lane_of(update.chat, lane.anchor))
    if block.group is not None:
        _open(update, block.group, lane)
    if block.fold not in (Fold.FIXED, Fold.USER_OPEN):
        update.fold(block, lane, Fold.USER_OPEN)


def _shown_row(chat: Chat, block: Block, row: int) -> int | None:
    """Find a line of the whole text in the shown body."""
    shown, lines = body(block, chat.settings).lines, full_body(block, chat.settings, None).lines
    return row if row < min(len(shown), len(lines)) and shown[row] == lines[row] else None


def whole(chat: Chat, block: Block, row: int, now: int) -> ShowOutput:
    """Show all of a block's text, at a line."""
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

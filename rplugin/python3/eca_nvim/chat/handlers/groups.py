"""Groups: neighbouring calls that only read or search are shown as one line.

Rules kept here:
- A call joins a group once it is done, unless the user opened it. A call that waits, runs or
  failed keeps its own line.
- The calls stay in their lane, after their group. An open group shows each call as a block.
- Adding a call at the end of a group costs the same however long the group is.
"""

from __future__ import annotations

from collections.abc import Iterable

from eca_nvim.chat.model.blocks import Block, Fold, GroupBlock, ToolBlock
from eca_nvim.chat.model.chat import Lane
from eca_nvim.chat.render.group import add_to_header
from eca_nvim.chat.update import Update
from eca_nvim.chat.vocabulary.call_details import ToolKind
from eca_nvim.chat.vocabulary.ops import BlockKind, RemoveBlock
from eca_nvim.chat.vocabulary.states import CallState

_READ_ONLY = frozenset({ToolKind.READ, ToolKind.SEARCH})


def join_neighbours(update: Update, block: ToolBlock, lane: Lane) -> None:
    """Group a call that has just ended with its neighbours, if they can be grouped."""
    if block.group is not None or not _joins(block):
        return
    place = _place(lane, block)
    before = lane.blocks[place - 1] if place else None
    after = lane.blocks[place + 1 : place + 2]
    if before is not None and before.group is not None and not any(map(_joins, after)):
        _append(update, before.group, block, lane)
    else:
        _join_run(update, place, lane)


def _append(update: Update, group: GroupBlock, block: ToolBlock, lane: Lane) -> None:
    """Add a call to the group right before it."""
    _hide(update, lane, (block,))
    last = group.members[-1]
    group.members.append(block)
    block.group = group
    add_to_header(group, block, update.chat.settings)
    update.redraw(group, lane)
    if lane.is_shown and group.is_open:
        update.draw(block, lane, last)


def _join_run(update: Update, place: int, lane: Lane) -> None:
    """Put the run of calls around an index into one group, if there are at least two."""
    start, end = _run(lane, place)
    run = lane.blocks[start:end]
    members = [it for it in run if isinstance(it, ToolBlock)]
    if len(members) < 2:
        return
    groups = [it for it in run if isinstance(it, GroupBlock)]
    group = groups[0] if groups else _new_group(update, lane, members)
    _hide(update, lane, (*groups[1:], *members))
    for other in groups[1:]:
        del update.chat.blocks[other.id]
    lane.blocks[start:end] = [group, *members]
    group.members, group.names, group.outside = members, {}, False
    for member in members:
        member.group = group
        add_to_header(group, member, update.chat.settings)
    update.redraw(group, lane)
    if lane.is_shown and group.is_open:
        update.draw_members(group, lane)


def join_replayed(update: Update, before: int) -> None:
    """Group the calls of a page of history, once all its messages are in place.

    before: the last block id before the page was added; only newer blocks are looked at.
    """
    for lane in update.chat.lanes.values():
        for block in [it for it in lane.blocks if it.id > before and isinstance(it, ToolBlock)]:
            join_neighbours(update, block, lane)


def _joins(block: Block) -> bool:
    if isinstance(block, GroupBlock):
        return True
    if not isinstance(block, ToolBlock):
        return False
    read_only = block.call.kind in _READ_ONLY
    ended = block.state is CallState.DONE and (block.fold is Fold.CLOSED or bool(block.group))
    return read_only and ended


def _place(lane: Lane, block: ToolBlock) -> int:
    """Return a call's index; searched from the end, where most calls are."""
    blocks = lane.blocks
    return next(at for at in range(len(blocks) - 1, -1, -1) if blocks[at] is block)


def _run(lane: Lane, place: int) -> tuple[int, int]:
    """Return the range of neighbours that can be grouped around an index, end exclusive."""
    blocks = lane.blocks
    start, end = place, place + 1
    while start > 0 and _joins(blocks[start - 1]):
        start -= 1
    while end < len(blocks) and _joins(blocks[end]):
        end += 1
    return start, end


def _new_group(update: Update, lane: Lane, members: list[ToolBlock]) -> GroupBlock:
    """Create a group in the place of its first call."""
    group = GroupBlock(update.new_block_id(), BlockKind.TOOL, Fold.CLOSED, members=members)
    for member in members:
        add_to_header(group, member, update.chat.settings)
    update.chat.blocks[group.id] = group
    if lane.is_shown:
        update.draw(group, lane, members[0])
    return group


def _hide(update: Update, lane: Lane, blocks: Iterable[Block]) -> None:
    gone = (block.id for block in blocks if lane.shows(block))
    update.ops += [RemoveBlock(update.chat.id, block_id) for block_id in gone]

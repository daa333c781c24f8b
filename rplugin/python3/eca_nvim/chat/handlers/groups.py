"""Groups: neighbouring calls that only read or search become one line.

Rules kept here:
- A call joins when it is done and collapsed by itself: what waits, runs, failed or was opened by
  the user keeps its own line.
- The calls stay in their lane, after their group; opened, it shows each as a block of its own.
- A call that comes to the end of a group costs the same, however many are in it.
"""

from __future__ import annotations

from collections.abc import Iterable

from eca_nvim.chat.model.blocks import Block, Fold, GroupBlock, ToolBlock
from eca_nvim.chat.model.chat import Lane
from eca_nvim.chat.model.known_tools import facts_of
from eca_nvim.chat.render.group import count_in
from eca_nvim.chat.update import Update
from eca_nvim.chat.vocabulary.ops import BlockKind, RemoveBlock
from eca_nvim.chat.vocabulary.states import CallState


def join_neighbours(update: Update, block: ToolBlock, lane: Lane) -> None:
    """Put a call that has just ended into one line with those beside it, if it fits them."""
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
    """Put a call into the group that ends before it."""
    _hide(update, lane, (block,))
    last = group.members[-1]
    group.members.append(block)
    block.group = group
    count_in(group, block, update.chat.settings)
    update.redraw(group, lane)
    if lane.is_shown and group.is_open:
        update.draw(block, lane, last)


def _join_run(update: Update, place: int, lane: Lane) -> None:
    """Put all calls around a place into one group, if there are several."""
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
        count_in(group, member, update.chat.settings)
    update.redraw(group, lane)
    if lane.is_shown and group.is_open:
        update.draw_members(group, lane)


def join_replayed(update: Update, before: int) -> None:
    """Put calls of a page of history into lines, now that all that was said between is there.

    before: the last block that was there without the page; only what is new is looked at.
    """
    for lane in update.chat.lanes.values():
        for block in [it for it in lane.blocks if it.id > before and isinstance(it, ToolBlock)]:
            join_neighbours(update, block, lane)


def _joins(block: Block) -> bool:
    if isinstance(block, GroupBlock):
        return True
    if not isinstance(block, ToolBlock):
        return False
    facts = facts_of(block.call)
    looks = facts is not None and facts.looks
    ended = block.state is CallState.DONE and (block.fold is Fold.CLOSED or bool(block.group))
    return looks and ended


def _place(lane: Lane, block: ToolBlock) -> int:
    """Find a call, which mostly is one of the last blocks."""
    blocks = lane.blocks
    return next(at for at in range(len(blocks) - 1, -1, -1) if blocks[at] is block)


def _run(lane: Lane, place: int) -> tuple[int, int]:
    """Give where the neighbours that a call joins begin and end; the end is exclusive."""
    blocks = lane.blocks
    start, end = place, place + 1
    while start > 0 and _joins(blocks[start - 1]):
        start -= 1
    while end < len(blocks) and _joins(blocks[end]):
        end += 1
    return start, end


def _new_group(update: Update, lane: Lane, members: list[ToolBlock]) -> GroupBlock:
    """Make a group in the place of the first call that it is of."""
    group = GroupBlock(update.mint(), BlockKind.TOOL, Fold.CLOSED, members=members)
    for member in members:
        count_in(group, member, update.chat.settings)
    update.chat.blocks[group.id] = group
    if lane.is_shown:
        update.draw(group, lane, members[0])
    return group


def _hide(update: Update, lane: Lane, blocks: Iterable[Block]) -> None:
    gone = (block.id for block in blocks if lane.shows(block))
    update.ops += [RemoveBlock(update.chat.id, block_id) for block_id in gone]

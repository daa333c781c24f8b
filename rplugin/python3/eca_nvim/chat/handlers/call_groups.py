"""Call groups: calls shown together: neighbours that read or search, and those of a subagent."""

from collections.abc import Callable, Iterable

from eca_nvim.chat.model.blocks import Block, Fold, GroupBlock, Lane, Nested, ToolBlock
from eca_nvim.chat.render.block import add_to_header
from eca_nvim.chat.update import Update
from eca_nvim.chat.vocabulary import call_details, ops, states, turn_events

_READ_ONLY = frozenset({call_details.ToolKind.READ, call_details.ToolKind.SEARCH})


def join_neighbours(update: Update, block: ToolBlock) -> None:
    """Group a call that has just ended with its neighbours, if they can be grouped."""
    if block.group is not None or not _joins(block):
        return
    lane = block.lane
    place = _place(lane, block)
    before = lane.blocks[place - 1] if place else None
    after = lane.blocks[place + 1 : place + 2]
    if before is not None and before.group is not None and not any(map(_joins, after)):
        _append(update, before.group, block)  # costs the same however long the group is
    else:
        _join_run(update, place, lane)


def join_sides(update: Update, place: int, lane: Lane) -> None:
    """Group the calls or groups on both sides of a block that was removed from an index."""
    sides = lane.blocks[max(place - 1, 0) : place + 1]
    if len(sides) == 2 and all(map(_joins, sides)):
        _join_run(update, place, lane)


def _append(update: Update, group: GroupBlock, block: ToolBlock) -> None:
    """Add a call to the group right before it."""
    _hide(update, (block,))
    last = group.members[-1]
    group.members.append(block)
    block.group = group
    add_to_header(group, block, update.chat.settings)
    update.redraw(group)
    if block.is_shown:
        update.draw(block, last)


def _join_run(update: Update, place: int, lane: Lane) -> None:
    """Put the run of calls around an index into one group, if there are at least two."""
    start, end = _run(lane, place)
    run = lane.blocks[start:end]
    members = [it for it in run if isinstance(it, ToolBlock)]
    if len(members) < 2:
        return
    groups = [it for it in run if isinstance(it, GroupBlock)]
    group = groups[0] if groups else _new_group(update, lane, members)
    _hide(update, (*groups[1:], *members))
    for other in groups[1:]:
        del update.chat.blocks[other.id]
    # The calls stay in their lane: an open group shows each as a block.
    lane.blocks[start:end] = [group, *members]
    group.members, group.names, group.outside = members, {}, False
    for member in members:
        member.group = group
        add_to_header(group, member, update.chat.settings)
    update.redraw(group)
    if lane.is_shown and group.is_open:
        update.draw_members(group)


def join_replayed(update: Update, before: int) -> None:
    """Group the calls of a page of history, once all its messages are in place.

    before: the last block id before the page was added; only newer blocks are looked at.
    """
    for lane in update.chat.lanes.values():
        for block in [it for it in lane.blocks if it.id > before and isinstance(it, ToolBlock)]:
            join_neighbours(update, block)


def _joins(block: Block) -> bool:
    if isinstance(block, GroupBlock):
        return True
    if not isinstance(block, ToolBlock):
        return False
    # A call that waits, runs, failed or was opened by the user keeps its own line.
    read_only = block.call.kind in _READ_ONLY
    ended = block.state is states.CallState.DONE and (
        block.fold is Fold.CLOSED or bool(block.group)
    )
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
    group = GroupBlock(*update.place(lane), ops.BlockKind.TOOL, Fold.CLOSED, members=members)
    for member in members:
        add_to_header(group, member, update.chat.settings)
    update.chat.blocks[group.id] = group
    if lane.is_shown:
        update.draw(group, members[0])
    return group


def _hide(update: Update, blocks: Iterable[Block]) -> None:
    gone = (block.id for block in blocks if block.is_shown)
    update.ops += [ops.RemoveBlock(update.chat.id, block_id) for block_id in gone]


def anchor_lane(update: Update, block: ToolBlock, child: str) -> None:
    """Show the blocks of a subagent's chat below the call that runs it."""
    chat = update.chat
    # A subagent of a subagent is shown inside the same call, one level in: no block is lost.
    anchor = update.lane.anchor or block
    if child in chat.anchors or child in (chat.id, anchor.lane.chat_id):
        return
    anchor.nested = anchor.nested or Nested()
    _follow(update, anchor, child)
    lane = chat.lanes.get(child)
    if lane is not None and _waits(update, anchor):
        reveal(update, lane)
        renew_nested_requests(update, anchor)


def _follow(update: Update, anchor: ToolBlock, child: str) -> None:
    """Attach a subagent's chat to a call, and the chats attached to its own calls with it."""
    chat = update.chat
    chat.anchors[child] = anchor
    if child in chat.lanes:
        update.adopt(chat.lanes[child], anchor)
    for other, before in list(chat.anchors.items()):
        if before.lane.chat_id == child:
            _follow(update, anchor, other)


def show_activity(update: Update, lane: Lane, words: Callable[[], str]) -> None:
    """Show in the call's header what its subagent is doing.

    words: returns a few clean words; called only if they are shown.
    """
    anchor = lane.anchor
    if anchor is None or anchor.nested is None or anchor.state in states.ENDED_CALLS:
        return
    text = words()
    if text and anchor.nested.doing != text:
        anchor.nested.doing = text
        update.redraw(anchor)


def show_progress(update: Update, lane: Lane, text: str) -> None:
    """Show the progress a subagent reports, unless one of its tool calls says more."""
    calls = (block for block in update.chat.live.values() if block.lane is lane)
    if not any(
        isinstance(block, ToolBlock) and block.state in states.UNFINISHED_CALLS for block in calls
    ):
        show_activity(update, lane, lambda: text)


def store_usage(update: Update, lane: Lane, usage: turn_events.UsageReported) -> None:
    """Store the tokens and the cost of a subagent's chat."""
    anchor = lane.anchor
    if anchor is not None and anchor.nested is not None:
        anchor.nested.usage = usage
        update.redraw(anchor, with_body=anchor.is_open)


def reveal(update: Update, lane: Lane) -> None:
    """Open the call of a subagent that waits for the user, until `conceal`."""
    anchor = lane.anchor
    if anchor is not None and anchor.nested is not None:
        anchor.nested.waits = True
        update.fold(anchor, Fold.OPEN)


def conceal(update: Update, lane: Lane) -> None:
    """Collapse the call of a subagent once nothing in it waits for the user."""
    anchor = lane.anchor
    if anchor is None or anchor.nested is None or not anchor.nested.waits:
        return
    if not _waits(update, anchor):
        anchor.nested.waits = False
        update.fold(anchor, Fold.CLOSED)


def renew_nested_requests(update: Update, anchor: ToolBlock) -> None:
    """Renew the requests of a subagent after its name became known or changed."""
    for block in update.chat.waiting:
        if block.lane.anchor is anchor:
            update.request_changed(block)


def _waits(update: Update, anchor: ToolBlock) -> bool:
    return any(block.lane.anchor is anchor for block in update.chat.waiting)

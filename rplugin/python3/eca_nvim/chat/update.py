"""Update: collects the changes of one event or intent while handlers work on the chat.

Handlers change the model first, then say what to redraw; only this file makes ops about blocks.
"""

from collections.abc import Mapping, Sequence
from enum import Flag, auto

from msgspec.structs import replace

from eca_nvim.chat.model.blocks import (
    AUTOMATIC_FOLDS,
    SHOWN_FOLDS,
    Block,
    Changes,
    Fold,
    GroupBlock,
    Lane,
    NoteBlock,
    StreamedBlock,
    TextBlock,
    ToolBlock,
)
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.render.block import body, header, lost_header
from eca_nvim.chat.render.panel_rows import set_used_files, usage_rows
from eca_nvim.chat.render.status import option_rows, queue_lines, status, task_list_line
from eca_nvim.chat.text.output import LONGEST, break_rows
from eca_nvim.chat.vocabulary import effects, ops, options, states

UNDRAWN: Sequence[ops.Segment] = (("…", "EcaMuted"),)
"""The header of a call until the events that came with it are applied: the frame has the last."""


class Dirty(Flag):
    """What to redraw when the update ends."""

    NOTHING = 0
    STATUS = auto()
    PENDING = auto()
    QUEUE = auto()
    TASK_LIST = auto()
    USAGE = auto()
    OPTIONS = auto()


class Update:
    """The changes of one event: the chat, the event's lane, the time (ms), and the results.

    after: the block in the chat's own lane that new blocks follow; None for the end. about: the
    tool call of the event. replays: the event is part of a loaded history. overruled_rejection: the
    model went on after a rejection. more_follow: more events follow at once; headers and the status
    wait in the chat until the last one, or until an autocommand fires.
    """

    __slots__ = (
        "about",
        "after",
        "chat",
        "dirty",
        "effects",
        "events",
        "lane",
        "more_follow",
        "now",
        "ops",
        "overruled_rejection",
        "replays",
    )

    def __init__(self, chat: Chat, lane: Lane, now: int, *, more_follow: bool = False) -> None:
        self.chat = chat
        self.lane = lane
        self.now = now
        self.ops: list[ops.ViewOp] = []
        self.effects: list[effects.Effect] = []
        self.events: list[ops.Emit] = []
        self.dirty = Dirty.NOTHING
        self.after: Block | None = None
        self.about: ToolBlock | None = None
        self.replays = False
        self.overruled_rejection = False
        self.more_follow = more_follow

    def emit(self, event: str, data: Mapping[str, object]) -> None:
        """Fire a `User` autocommand about this chat."""
        self.events.append(ops.Emit(event, {"chat": self.chat.id, **data}))

    def withdraw_rejection(self) -> None:
        """Forget a rejection, because the model went on: it will not be why the turn ends."""
        turn = self.chat.turn
        if self.lane is self.chat.root and turn.expected_end is states.TurnEnd.REJECTED:
            turn.expected_end = states.TurnEnd.DONE
            self.overruled_rejection = True

    def request_changed(self, block: Block) -> None:
        """Show a request again after it has changed."""
        if block.request is not None:
            block.request.changed()
        self.dirty |= Dirty.PENDING

    def place(self, lane: Lane | None = None) -> tuple[int, Lane]:
        """Return the id and the lane of a new block; without a lane, that of the event."""
        self.chat.last_block += 1
        return self.chat.last_block, lane or self.lane

    # --- blocks ---------------------------------------------------------------------------------

    def add(self, block: Block) -> None:
        """Add a new block; text that was still growing before it is complete."""
        self.finish_text(self.lane)
        self.chat.blocks[block.id] = block
        previous = self.after if self.lane is self.chat.root else None
        if previous is not None and previous.group:  # a new block is never inside a group
            previous = previous.group.members[-1]
        blocks = self.lane.blocks
        if previous is None or blocks[-1] is previous:
            blocks.append(block)
        else:
            blocks.insert(blocks.index(previous) + 1, block)
        if previous is not None:  # else the block is the last one, or in a subagent's lane
            self.after = block
        if self.lane.is_shown:
            self.draw(block, previous)

    def draw(self, block: Block, previous: Block | None = None) -> None:
        """Draw a block that is not in the view, after `previous` or at the end of its lane."""
        lane = block.lane
        leader = previous or lane.anchor
        if leader is not None and leader.group is not None and not leader.group.is_open:
            leader = leader.group
        after = None if leader is None else leader.id
        depth = lane.depth if block.group is None else lane.depth + 1
        place = (self.chat.id, block.id, block.kind)
        if isinstance(block, TextBlock):  # without a header
            block.drawn, block.column = (), 0
            text = self._rows(block, block.text)
            self.ops.append(ops.OpenBlock(*place, (), depth, after, None, text, block.complete))
            return
        lost = None
        if self.more_follow and isinstance(block, ToolBlock):
            block.drawn = UNDRAWN
            self.chat.stale[block.id] = block
        else:
            block.drawn = header(block, self.chat.settings, self.now)
            lost = lost_header(block, self.chat.settings)
        self.ops.append(ops.OpenBlock(*place, block.drawn, depth, after, lost))
        if block.is_open:
            self.draw_body(block)

    def draw_body(self, block: Block) -> None:
        """Draw the whole body, or none if it is collapsed, of a block in the view."""
        content = body(block, self.chat.settings)
        self.ops.append(
            ops.SetBody(self.chat.id, block.id, content.lines, content.marks, content.language)
        )
        is_whole = isinstance(block, StreamedBlock) and block.complete
        if block.is_open and (is_whole or isinstance(block, NoteBlock)):
            self._close(block)

    def _write(self, block: Block, text: str) -> None:
        """Append text to a block in the view."""
        opening = self._opening(block)
        if opening is not None and not opening.text:
            self.ops[-1] = replace(opening, text=text)
        else:
            self.ops.append(ops.AppendText(self.chat.id, block.id, text))

    def _close(self, block: Block) -> None:
        """End a block in the view."""
        opening = self._opening(block)
        if opening is not None:
            self.ops[-1] = replace(opening, closed=True)
        else:
            self.ops.append(ops.CloseBlock(self.chat.id, block.id))

    def _opening(self, block: Block) -> ops.OpenBlock | None:
        """Return the last op if it is the one that opens a block."""
        last = self.ops[-1] if self.ops else None
        return last if isinstance(last, ops.OpenBlock) and last.block == block.id else None

    def redraw(self, block: Block, *, with_body: bool = False) -> None:
        """Redraw the header if it has changed, and the body on request."""
        if not block.is_shown:
            return
        if self.more_follow:
            self.chat.stale[block.id] = block
        else:
            self._header(block)
        if with_body:
            self.draw_body(block)

    def _header(self, block: Block) -> None:
        fresh = header(block, self.chat.settings, self.now)
        if fresh != block.drawn:
            block.drawn = fresh
            lost = lost_header(block, self.chat.settings)
            self.ops.append(ops.SetHeader(self.chat.id, block.id, fresh, lost))

    def draw_stale(self) -> None:
        """Redraw the postponed headers of blocks that are still in the view."""
        stale, self.chat.stale = self.chat.stale, {}
        for block in stale.values():
            if self.chat.blocks.get(block.id) is block and block.is_shown:
                self._header(block)

    def append(self, block: StreamedBlock, text: str) -> None:
        """Append cleaned text to a block, and to the view if it is open: the hot path."""
        block.chunks.append(text)
        text = self._rows(block, text)
        if block.is_open and block.lane.is_shown:
            self._write(block, text)

    def _rows(self, block: StreamedBlock, text: str) -> str:
        """Break what is too long for a row of the view, and note the length of its last row."""
        column = block.column + len(text)
        if column > LONGEST:
            text, column = break_rows(text, block.column)
        elif (end := text.rfind("\n")) >= 0:
            column = len(text) - end - 1
        block.column = column
        return text

    def complete(self, block: StreamedBlock) -> None:
        """Note that a block gets no more text."""
        if tail := block.cleaner.finish():
            self.append(block, tail)
        block.chunks[:] = filter(None, [block.text])  # a chunk takes more memory than its text
        block.complete = True
        if block.is_open and block.lane.is_shown:
            self._close(block)

    def finish_text(self, lane: Lane) -> None:
        """Complete the model's current text, if any; its next text is a new block."""
        if lane.current_text is not None:
            block, lane.current_text = lane.current_text, None
            self.complete(block)

    def remove(self, block: Block) -> None:
        """Remove a block that another one has replaced."""
        if block.is_shown:
            self.ops.append(ops.RemoveBlock(self.chat.id, block.id))
        lane = block.lane
        lane.blocks.remove(block)
        del self.chat.blocks[block.id]
        if isinstance(block, ToolBlock) and lane.calls.get(block.call.id) is block:
            del lane.calls[block.call.id]

    # --- folds ----------------------------------------------------------------------------------

    def fold(self, block: Block, fold: Fold) -> None:
        """Open or collapse a block and those nested in it; what the user has folded stays so."""
        if fold in AUTOMATIC_FOLDS and block.fold not in AUTOMATIC_FOLDS:
            fold = block.fold
        was_open, is_open = block.is_open, fold in SHOWN_FOLDS
        block.fold = fold
        if not block.is_shown:
            return
        self.redraw(block, with_body=was_open or is_open)
        if was_open == is_open:
            return
        if isinstance(block, ToolBlock):
            self._nested(block)
        elif isinstance(block, GroupBlock) and is_open:
            self.draw_members(block)
        elif isinstance(block, GroupBlock):
            self.ops += [ops.RemoveBlock(self.chat.id, it.id) for it in block.members]

    def _nested(self, anchor: ToolBlock) -> None:
        for lane in self.chat.lanes.values():
            if lane.anchor is anchor:
                if anchor.is_open:
                    self.draw_lane(lane)
                else:
                    self._hide(lane)

    def draw_lane(self, lane: Lane) -> None:
        """Draw all blocks of a lane that has just come into the view."""
        for block in lane.blocks:
            if block.is_shown:
                self.draw(block)

    def _hide(self, lane: Lane) -> None:
        """Remove all blocks of a lane from the view."""
        for block in lane.blocks:
            if block.group is None or block.group.is_open:
                self.ops.append(ops.RemoveBlock(self.chat.id, block.id))

    def draw_members(self, group: GroupBlock) -> None:
        """Draw the calls of a group that has just opened."""
        previous: Block = group
        for block in group.members:
            self.draw(block, previous)
            previous = block

    def adopt(self, lane: Lane, anchor: ToolBlock) -> None:
        """Attach a lane to its tool call, which became known after the lane's first event."""
        was_shown = lane.is_shown
        lane.anchor = anchor
        if was_shown and not lane.is_shown:
            self._hide(lane)
        elif lane.is_shown and not was_shown:
            self.draw_lane(lane)

    # --- end ------------------------------------------------------------------------------------

    def finish(self) -> Changes:
        """Return the changes: draw what is dirty once, then fire the autocommands.

        If more events follow, headers and a status that is dirty alone wait for the last one. An
        autocommand does not wait: its listeners must find the view up to date. Nothing of a chat
        that was forgotten changes: the view would open it again.
        """
        chat, used = self.chat, self.chat.used
        if chat.forgotten:
            return Changes()
        postpones = self.more_follow and not self.events
        if not postpones:
            if chat.stale:
                self.draw_stale()
            if chat.status_is_stale:
                self.dirty |= Dirty.STATUS
            if used.is_stale:
                self.ops.append(set_used_files(chat))
            if used.named or used.ended:
                request = effects.FindFiles(chat.id, *used.take_named(), (*chat.settings.folders,))
                self.effects.append(lambda it: it.find_files(request))
        if postpones and self.dirty is Dirty.STATUS:
            self.chat.status_is_stale = True
        elif self.dirty is not Dirty.NOTHING:
            self._draw_dirty()
        self.ops += self.events
        pending_changed = self.dirty is not Dirty.NOTHING and Dirty.PENDING in self.dirty
        return Changes(
            self.ops, self.effects, pending_changed, self.chat.shows_time, self.chat.server_name
        )

    def _draw_dirty(self) -> None:
        if Dirty.QUEUE in self.dirty:
            self.ops.append(ops.SetQueue(self.chat.id, queue_lines(self.chat)))
        if Dirty.TASK_LIST in self.dirty:
            self.ops.append(ops.SetTaskList(self.chat.id, task_list_line(self.chat)))
        if Dirty.USAGE in self.dirty:
            self.ops.append(ops.SetUsage(self.chat.id, usage_rows(self.chat.usage)))
        if Dirty.OPTIONS in self.dirty:
            self.ops.append(options.SetOptions(self.chat.id, option_rows(self.chat.options)))
        self.chat.status_is_stale = False
        fresh = status(
            self.chat, self.now
        )  # it counts pending requests: any of these may change it
        if fresh != self.chat.shown_status:
            self.chat.shown_status = fresh
            self.ops.append(ops.SetStatus(self.chat.id, fresh))

"""The ledger: which turn of which chat changed which file, from what to what.

Rules kept here:
- A file is looked at as soon as the model has written which one a call is to change, when the call
  is complete, when the user lets it, and when it has ended in whatever way. What the file was
  before, and what the call did to it, follows from all of that (`earlier_states.py`).
- What calls change without saying so, as a shell command does, is found by surveys
  (`attribution.py`).
- Memory is bounded: the oldest turns are forgotten first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from eca_nvim.chat.model.blocks import TextBlock, ToolBlock
from eca_nvim.chat.model.call_files import changed_paths, may_change, paths_so_far
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.text.safe_text import one_line, truncate
from eca_nvim.chat.vocabulary.events import (
    AgentGone,
    ChatEvent,
    ToolFinished,
    ToolPreparing,
    ToolRejected,
    ToolRequested,
    ToolRunning,
    TurnChanged,
)
from eca_nvim.chat.vocabulary.ops import BlockKind
from eca_nvim.chat.vocabulary.states import ENDED_CALLS
from eca_nvim.disk.replacing import NEW_MODE
from eca_nvim.review.attribution import Attribution
from eca_nvim.review.snapshots import Blobs, Snapshot, take
from eca_nvim.review.survey import NO_ROOM
from eca_nvim.review.tracked_calls import Fate, Observation, Step
from eca_nvim.review.turn_changes import TurnChanges

MOST_BYTES = 1 << 28
"""Bytes that all snapshots take, about, before the oldest turn is forgotten."""
PROMPT_CELLS = 60


class _Open(Struct, eq=False):
    """A call that is complete and has not ended; `is_let`: it may have run by now."""

    block: ToolBlock
    step: Step
    turn: TurnChanges
    is_let: bool


class Ledger:
    """All turns that changed something, oldest first."""

    def __init__(self) -> None:
        self._blobs = Blobs()
        self._turns: list[TurnChanges] = []
        self._early: dict[tuple[str, int], Observation] = {}
        self._open: dict[tuple[str, int], _Open] = {}
        self.attribution = Attribution(self._found)

    def remove(self) -> None:
        """Remove what lies in files, at the end."""
        self._blobs.remove()

    def snapshot(self, path: str, like: Snapshot | None = None) -> Snapshot:
        """Take a snapshot of a file as it is."""
        return take(path, self._blobs, like)

    def seen_before(self, chat: Chat, block: ToolBlock | None, path: str) -> Snapshot:
        """Give a file as it was before a call, or as it is when nobody has looked before."""
        early = (
            self._early.get((chat.id, block.id), Observation()).seen if block is not None else {}
        )
        return early.get(path) or self.snapshot(path)

    # --- what happens ---------------------------------------------------------------------------

    def record(self, chat: Chat, event: ChatEvent, block: ToolBlock | None) -> None:
        """Look at the files that an event is about, and at the call in a block, if it is about one.

        To be called when the chat has taken the event, and before anything comes of it.
        """
        if block is not None:
            self._record_call(chat, event, block)
            return
        match event:
            case TurnChanged():
                self._early = {key: look for key, look in self._early.items() if key[0] != chat.id}
                self._end_settled(chat)
            case AgentGone():
                for chat_id, block_id in [key for key in self._open if key[0] == chat.id]:
                    self._ended(chat_id, block_id, Fate.STOPPED)
            case _:
                pass

    def _record_call(self, chat: Chat, event: ChatEvent, block: ToolBlock) -> None:
        match event:
            case ToolPreparing():
                self._preparing(chat, block)
            case ToolRequested(needs_approval=waits):
                self._requested(chat, block, waits=waits)
            case ToolRunning():
                self._running(chat, block)
            case ToolFinished(failed=failed):
                self._ended(chat.id, block.id, Fate.FAILED if failed else Fate.DONE)
            case ToolRejected():
                self._ended(chat.id, block.id, Fate.STOPPED)
            case _:
                pass

    def is_watched(self, chat_id: str, block_id: int) -> bool:
        """Say whether a call that has not ended may change any file."""
        opened = self._open.get((chat_id, block_id))
        return opened is not None and opened.step.is_watched

    def approved(self, chat_id: str, block_id: int, *, surveyed: bool = False) -> None:
        """Look at a call's files again: the user may have changed them while it waited.

        Of a call that is watched: whether the workspace was `surveyed` since it was approved.
        """
        opened = self._open.get((chat_id, block_id))
        if opened is None:
            return
        step, turn, opened.is_let = opened.step, opened.turn, True
        if step.is_watched:
            step.certain = surveyed and self.attribution.last is not None
            self.attribution.started(step, turn)
        else:
            step.before = self._look(turn, step.before.seen, step.before)

    def _preparing(self, chat: Chat, block: ToolBlock) -> None:
        if (chat.id, block.id) not in self._early:
            paths = paths_so_far(block.call, block.arguments.main_argument)
            if paths:
                self._early[chat.id, block.id] = self._look(self._turn(chat), paths, Observation())

    def _requested(self, chat: Chat, block: ToolBlock, *, waits: bool) -> None:
        early = self._early.pop((chat.id, block.id), Observation())
        call = block.call
        paths = changed_paths(call)
        if not may_change(call):
            return
        turn = self._turn(chat)
        self.attribution.named(paths)
        step = Step(call, early, self._look(turn, paths, early), waits, is_watched=not paths)
        self._open[chat.id, block.id] = _Open(block, step, turn, is_let=not waits)
        if step.is_watched and not waits:
            self.attribution.started(step, turn)

    def _running(self, chat: Chat, block: ToolBlock) -> None:
        opened = self._open.get((chat.id, block.id))
        if opened is None:
            self._requested(chat, block, waits=False)
            return
        opened.is_let = True
        if opened.step.is_watched:
            self.attribution.started(opened.step, opened.turn)

    def _look(self, turn: TurnChanges, paths: Iterable[str], last: Observation) -> Observation:
        """Look at files; those that are as they were seen last take no room."""
        known = {**(turn.steps[-1].after if turn.steps else {}), **last.seen}
        seen = {path: self.snapshot(path, known.get(path)) for path in paths}
        return Observation(seen, len(turn.steps))

    def _turn(self, chat: Chat) -> TurnChanges:
        number = max(1, chat.turn.number)
        for turn in reversed(self._turns):
            if turn.chat == chat.id and turn.number == number:
                return turn
        self._settle(chat.id)
        turn = TurnChanges(chat.id, number, _prompt(chat))
        self._turns.append(turn)
        return turn

    # --- what came of it ------------------------------------------------------------------------

    def _ended(self, chat_id: str, block_id: int, fate: Fate) -> None:
        opened = self._open.pop((chat_id, block_id), None)
        if opened is not None and (opened.is_let or fate is not Fate.STOPPED):
            step = opened.step
            step.call, step.fate = opened.block.call, fate
            self._see_end(step)
            opened.turn.steps.append(step)
            if step.is_watched:
                self.attribution.ended(step)
            else:
                self.attribution.others(step.after)
            self._shrink()

    def _end_settled(self, chat: Chat) -> None:
        """End the calls that the chat has settled with its turn: no agent may tell their end."""
        for (chat_id, block_id), opened in list(self._open.items()):
            is_settled = chat_id == chat.id and opened.block.state in ENDED_CALLS
            if opened.step.is_watched and is_settled:
                self._ended(chat_id, block_id, Fate.STOPPED)

    def _see_end(self, step: Step) -> None:
        seen, named = step.before.seen, changed_paths(step.call)
        paths = named if step.is_watched else (*seen, *named)
        step.after |= {path: self.snapshot(path, seen.get(path)) for path in paths}

    def _shrink(self) -> None:
        while self._blobs.size > MOST_BYTES and len(self._turns) > 1:
            del self._turns[0]
        if self._blobs.size > MOST_BYTES:
            self._settle(self._turns[0].chat)

    def _settle(self, chat_id: str) -> None:
        """Forget how files became what they were at the end of a turn."""
        for turn in self._worked_out(chat_id):
            turn.settle()

    def turns(self, chat_id: str) -> Sequence[TurnChanges]:
        """Give the turns of a chat that changed something, with what calls did so far."""
        return [turn for turn in self._worked_out(chat_id) if turn.files or turn.odd]

    def has_kept(self, chat_id: str, number: int) -> bool:
        """Say whether it is kept what files were before a turn."""
        return any(turn.chat == chat_id and turn.number == number for turn in self._turns)

    def unknown(self, chat_id: str) -> Mapping[int, str]:
        """Say of turns of a chat why it is not known what their commands did, by number."""
        turns = [turn for turn in self._turns if turn.chat == chat_id]
        return {turn.number: turn.unknown for turn in turns if turn.unknown is not None}

    def _worked_out(self, chat_id: str) -> Iterator[TurnChanges]:
        for turn in [turn for turn in self._turns if turn.chat == chat_id]:
            open_steps = [
                opened.step
                for opened in self._open.values()
                if opened.turn is turn and opened.is_let
            ]
            for step in open_steps:
                self._see_end(step)
            turn.work_out(open_steps, self._kept)
            yield turn

    def _found(self, content: bytes, mode: int, place: str) -> Snapshot:
        """Keep what a survey found, as long as there is room."""
        while self._blobs.size + len(content) > MOST_BYTES and len(self._turns) > 1:
            del self._turns[0]
        if self._blobs.size + len(content) > MOST_BYTES:
            return Snapshot(fault=NO_ROOM)
        return self._kept(content, mode, place)

    def _kept(self, content: bytes, mode: int, place: str) -> Snapshot:
        try:
            return Snapshot(self._blobs.keep(content), mode or NEW_MODE, place)
        except OSError as fault:
            return Snapshot(fault=f"it could not be kept: {fault.strerror}")


def _prompt(chat: Chat) -> str:
    for block in reversed(chat.root.blocks):
        if isinstance(block, TextBlock) and block.kind is BlockKind.USER:
            return truncate(one_line(block.text), PROMPT_CELLS)
    return ""

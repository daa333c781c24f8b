"""The ledger: which turn of which chat changed which file, with the content before and after.

Rules kept here:
- A file is observed as soon as the model has written its path, when the request of a call is
  complete, when the user approves it, and when it ends in whatever way. `earlier_states.py`
  computes from these what the file was before and what the call did.
- Changes that calls make without naming a file, as shell commands do, are found by surveys
  (`attribution.py`).
- Memory is limited: the oldest turns are forgotten first.
"""

import os.path
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from eca_nvim.chat.model.blocks import TextBlock, ToolBlock
from eca_nvim.chat.model.calls import changed_paths, may_change, paths_so_far
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.text.safe_text import one_line, truncate
from eca_nvim.chat.vocabulary import call_details, events, ops, states, turn_events
from eca_nvim.disk.replacing import NEW_MODE
from eca_nvim.review.attribution import Attribution, FoundChange
from eca_nvim.review.earlier_states import CallOutcome, Observation, TrackedCall, TurnChanges
from eca_nvim.review.snapshots import Blobs, Snapshot, take_snapshot
from eca_nvim.review.survey import NO_ROOM

MOST_BYTES = 1 << 28
"""Bytes of all snapshots together, about, above which the oldest turn is forgotten."""
PROMPT_CELLS = 60


RECORDED = (
    *(turn_events.TurnEnded, turn_events.TurnLapsed, events.ChatDeleted),
    *(call_details.FileUsed, events.AgentGone),
)
"""Events that are recorded although they are about no call."""


class _OpenCall(Struct, eq=False):
    """A call whose request is complete and that has not ended.

    may_run: it may have run. written: files that were written for it through the editor.
    """

    block: ToolBlock
    tracked: TrackedCall
    turn: TurnChanges
    may_run: bool
    written: set[str] = field(default_factory=set)


class Ledger:
    """All turns that changed something, oldest first."""

    def __init__(
        self,
        found: FoundChange = lambda *_: None,
        turn_ended: Callable[[Chat], None] = lambda _: None,
    ) -> None:
        self._turn_ended = turn_ended
        self._blobs = Blobs()
        self._turns: list[TurnChanges] = []
        self._early: dict[tuple[str, int], Observation] = {}
        self._open: dict[tuple[str, int], _OpenCall] = {}
        self._found = found
        self.attribution = Attribution(self._store_surveyed, self._found_by_survey)
        self.versions = Counter[str]()
        """How often the changes of a chat that are known have become others, by its id."""

    def remove(self) -> None:
        """Remove the files that hold snapshots; called as the host ends."""
        self._blobs.remove()

    def snapshot(self, path: str, like: Snapshot | None = None) -> Snapshot:
        """Take a snapshot of a file as it is."""
        return take_snapshot(path, self._blobs, like)

    def seen_before(self, chat: Chat, block: ToolBlock | None, path: str) -> Snapshot:
        """Return a file as first observed for a call, or as it is now if it was not."""
        key = None if block is None else (chat.id, block.id)
        early = self._early.get(key, Observation()).files if key is not None else {}
        return early.get(path) or self.snapshot(path)

    def _found_by_survey(self, chat_id: str, path: str) -> None:
        self.versions[chat_id] += 1
        self._found(chat_id, path)

    # --- events ---------------------------------------------------------------------------------

    def record(self, chat: Chat, event: events.ChatEvent, block: ToolBlock | None) -> None:
        """Observe the files that an event concerns; `block`: the call it is about, if any.

        To be called after the chat has applied the event and before its effects are performed.
        """
        if block is not None:
            self._record_call(chat, event, block)
            return
        match event:
            case turn_events.TurnEnded() | turn_events.TurnLapsed() | events.ChatDeleted():
                self._turn_ended(chat)
                self._early = {key: seen for key, seen in self._early.items() if key[0] != chat.id}
                self._end_settled(chat)
            case call_details.FileUsed(path, call_details.Use.WRITTEN, True, unsaved):
                self._written(chat.id, os.path.realpath(path), unsaved)
            case events.AgentGone():
                for chat_id, block_id in [key for key in self._open if key[0] == chat.id]:
                    self._ended(chat_id, block_id, CallOutcome.STOPPED)

    def _record_call(self, chat: Chat, event: events.ChatEvent, block: ToolBlock) -> None:
        match event:
            case events.ToolPreparing():
                self._preparing(chat, block)
            case events.ToolRequested(needs_approval=waits):
                self._requested(chat, block, waits=waits)
            case events.ToolRunning():
                self._running(chat, block)
            case events.ToolFinished(failed=failed):
                self._ended(chat.id, block.id, CallOutcome.FAILED if failed else CallOutcome.DONE)
            case events.ToolRejected():
                self._ended(chat.id, block.id, CallOutcome.STOPPED)
            case _:
                pass

    def _written(self, chat_id: str, place: str, unsaved: bytes | None) -> None:
        """Note what a file was before its first write in a call: with the user's unsaved changes.

        To restore what was on disk would lose what they have typed.
        """
        for (open_chat, _), opened in self._open.items():
            before = opened.tracked.before
            paths = [path for path, seen in before.files.items() if seen.place == place]
            is_first = open_chat == chat_id and place not in opened.written
            if is_first and paths and unsaved is not None:
                seen = self._stored(unsaved, before.files[paths[0]])
                files = {**before.files, **dict.fromkeys(paths, seen)}
                opened.tracked.before = replace(before, files=files)
                opened.tracked.before_is_certain = True
            if is_first and paths:
                opened.written.add(place)

    def is_watched(self, chat_id: str, block_id: int) -> bool:
        """Return whether a call that has not ended may change any file."""
        opened = self._open.get((chat_id, block_id))
        return opened is not None and opened.tracked.is_watched

    def approved(self, chat_id: str, block_id: int, *, surveyed: bool = False) -> None:
        """Observe a call's files again: the user may have changed them before the approval.

        surveyed: for a watched call, whether the workspace was surveyed since the approval.
        """
        opened = self._open.get((chat_id, block_id))
        if opened is None:
            return
        tracked, turn, opened.may_run = opened.tracked, opened.turn, True
        if tracked.is_watched:
            tracked.before_is_certain = surveyed and self.attribution.last is not None
            self.attribution.call_started(tracked, turn)
        else:
            tracked.before = self._observe(turn, tracked.before.files, tracked.before)

    def _preparing(self, chat: Chat, block: ToolBlock) -> None:
        if (chat.id, block.id) not in self._early:
            paths = paths_so_far(block.call, block.so_far)
            if paths:
                observation = self._observe(self._turn(chat), paths, Observation())
                self._early[chat.id, block.id] = observation

    def _requested(self, chat: Chat, block: ToolBlock, *, waits: bool) -> None:
        early = self._early.pop((chat.id, block.id), Observation())
        call = block.call
        paths = changed_paths(call)
        if not may_change(call):
            return
        before = self._open.get((chat.id, block.id))
        if before is not None and before.may_run and before.tracked.is_watched:
            if not waits and not paths:
                return
            self._unwatch(before)
        turn = self._turn(chat)
        self.attribution.call_names(paths)
        observed = self._observe(turn, paths, early)
        tracked = TrackedCall(call, early, observed, waits, is_watched=not paths)
        self._open[chat.id, block.id] = _OpenCall(block, tracked, turn, may_run=not waits)
        if tracked.is_watched and not waits:
            self.attribution.call_started(tracked, turn)

    def _unwatch(self, opened: _OpenCall) -> None:
        """Stop watching a call that asks, or names its files by now.

        Until the user has answered, others may change files. What it has done so far is its own.
        """
        if opened.block.started_ms is None:
            self.attribution.call_did_nothing(opened.tracked)
        else:
            self.attribution.call_ended(opened.tracked)

    def _running(self, chat: Chat, block: ToolBlock) -> None:
        opened = self._open.get((chat.id, block.id))
        if opened is None:
            self._requested(chat, block, waits=False)
            return
        opened.may_run = True
        if opened.tracked.is_watched:
            self.attribution.call_started(opened.tracked, opened.turn)

    def _observe(self, turn: TurnChanges, paths: Iterable[str], last: Observation) -> Observation:
        """Take snapshots of files; an unchanged file shares its content with the last snapshot."""
        known = {**(turn.calls[-1].after if turn.calls else {}), **last.files}
        files = {path: self.snapshot(path, known.get(path)) for path in paths}
        return Observation(files, len(turn.calls))

    def _turn(self, chat: Chat) -> TurnChanges:
        number = max(1, chat.turn.number)
        for turn in reversed(self._turns):
            if turn.chat == chat.id and turn.number == number:
                return turn
        self._settle(chat.id)
        turn = TurnChanges(chat.id, number, _prompt(chat))
        self._turns.append(turn)
        return turn

    # --- ends of calls, and results -------------------------------------------------------------

    def _ended(self, chat_id: str, block_id: int, outcome: CallOutcome) -> None:
        opened = self._open.pop((chat_id, block_id), None)
        if opened is not None and (opened.may_run or outcome is not CallOutcome.STOPPED):
            tracked = opened.tracked
            tracked.call, tracked.outcome = opened.block.call, outcome
            self._observe_after(tracked)
            opened.turn.calls.append(tracked)
            self.versions[chat_id] += 1
            if tracked.is_watched:
                self.attribution.call_ended(tracked)
            else:
                self.attribution.changed_by_others(tracked.after)
            self._shrink()

    def _end_settled(self, chat: Chat) -> None:
        """End the calls that the chat has ended with its turn: the agent may never report that."""
        for (chat_id, block_id), opened in list(self._open.items()):
            is_settled = chat_id == chat.id and opened.block.state in states.ENDED_CALLS
            if opened.tracked.is_watched and is_settled:
                self._ended(chat_id, block_id, CallOutcome.STOPPED)

    def _observe_after(self, tracked: TrackedCall) -> None:
        before, named = tracked.before.files, changed_paths(tracked.call)
        paths = named if tracked.is_watched else (*before, *named)
        tracked.after |= {path: self.snapshot(path, before.get(path)) for path in paths}

    def _shrink(self) -> None:
        while self._blobs.size > MOST_BYTES and len(self._turns) > 1:
            del self._turns[0]
        if self._blobs.size > MOST_BYTES:
            self._settle(self._turns[0].chat)

    def _settle(self, chat_id: str) -> None:
        """Settle the turns of a chat: keep their records, drop the calls that led to them."""
        for turn in self._computed(chat_id):
            turn.settle()

    def turns(self, chat_id: str) -> Sequence[TurnChanges]:
        """Return the turns of a chat that changed something, running calls included."""
        return [turn for turn in self._computed(chat_id) if turn.files or turn.odd_names]

    def has_kept(self, chat_id: str, number: int) -> bool:
        """Return whether the files of a turn are stored."""
        return any(turn.chat == chat_id and turn.number == number for turn in self._turns)

    def unknown(self, chat_id: str) -> Mapping[int, str]:
        """Return why the changes of commands are unknown, by the number of the turn."""
        turns = [turn for turn in self._turns if turn.chat == chat_id]
        return {turn.number: turn.unknown for turn in turns if turn.unknown is not None}

    def _computed(self, chat_id: str) -> Iterator[TurnChanges]:
        """Yield the turns of a chat with their files computed again."""
        for turn in [turn for turn in self._turns if turn.chat == chat_id]:
            open_calls = [
                opened.tracked
                for opened in self._open.values()
                if opened.turn is turn and opened.may_run
            ]
            for tracked in open_calls:
                self._observe_after(tracked)
            turn.compute_files(open_calls, self._store)
            yield turn

    def _store_surveyed(self, content: bytes, mode: int, place: str) -> Snapshot:
        """Store what a survey found, if there is room."""
        while self._blobs.size + len(content) > MOST_BYTES and len(self._turns) > 1:
            del self._turns[0]
        if self._blobs.size + len(content) > MOST_BYTES:
            return Snapshot(fault=NO_ROOM)
        return self._store(content, mode, place)

    def _stored(self, content: bytes, like: Snapshot) -> Snapshot:
        """Return a snapshot of the same file with another content."""
        stored = self._store(content, like.mode, like.place)
        return stored if stored.fault else replace(stored, missing=like.missing)

    def _store(self, content: bytes, mode: int, place: str) -> Snapshot:
        try:
            return Snapshot(self._blobs.keep(content), mode or NEW_MODE, place)
        except OSError as fault:
            return Snapshot(fault=f"it could not be stored: {fault.strerror}")


def _prompt(chat: Chat) -> str:
    for block in reversed(chat.root.blocks):
        if isinstance(block, TextBlock) and block.kind is ops.BlockKind.USER:
            return truncate(one_line(block.text), PROMPT_CELLS)
    return ""

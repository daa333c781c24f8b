"""The ledger: which turn of which chat changed which file, with the content before and after.

Rules kept here:
- A file is seen as soon as the model has written its path, when the request of a call is complete,
  when the user approves it, and when it ends in whatever way.
- What calls change without naming a file, as shell commands do, is what differs between two trees
  (`commands.py`).
"""

import os.path
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from eca_nvim.chat.model.blocks import TextBlock, ToolBlock
from eca_nvim.chat.model.calls import changed_paths, may_change, moved, paths_so_far
from eca_nvim.chat.model.chat import PROMPT_CELLS, Chat
from eca_nvim.chat.text.safe_text import one_line, truncate
from eca_nvim.chat.vocabulary import call_details, events, ops, states, turn_events
from eca_nvim.review.commands import Commands, Watch
from eca_nvim.review.snapshots import Blobs, Snapshot, take_snapshot
from eca_nvim.review.tree_changes import TreeRequest
from eca_nvim.review.turn_changes import UNSEEN, FileRecord, TurnChanges

RECORDED = (
    *(turn_events.TurnEnded, turn_events.TurnLapsed, events.ChatDeleted),
    *(call_details.FileUsed, events.AgentGone),
)
"""Events that are recorded although they are about no call."""


class _OpenCall(Struct, eq=False):
    """A call whose request is complete and that has not ended.

    before: the files that it names, as they were at `began` (ns since 1970). known: those that the
    turn knew then. is_certain: it had surely not run by then. may_run: it may have run. is_command:
    it names no files. watch: what it changes while it runs. written: files that were written for it
    through the editor.
    """

    block: ToolBlock
    turn: TurnChanges
    before: dict[str, Snapshot]
    began: int
    known: frozenset[str]
    is_certain: bool
    may_run: bool
    is_command: bool
    watch: Watch | None = None
    written: set[str] = field(default_factory=set)


class Ledger:
    """All turns that changed something, oldest first."""

    def __init__(
        self,
        blobs: Blobs,
        commands: Commands,
        turn_ended: Callable[[Chat, TurnChanges], object] = lambda *_: None,
    ) -> None:
        self._turn_ended = turn_ended
        self.blobs = blobs
        self.commands = commands
        self._turns: list[TurnChanges] = []
        self._early: dict[tuple[str, int], dict[str, Snapshot]] = {}
        self._open: dict[tuple[str, int], _OpenCall] = {}
        self.versions = Counter[str]()
        """How often the changes of a chat that are known have become others, by its id."""
        self.last_numbers: Mapping[str, int] = {}
        """The number of the last turn that an earlier Neovim knows, by the id of its chat."""
        self.loading = set[str]()
        """The chats whose turns of earlier Neovims were asked for, without those that are gone."""
        self.changed: Callable[[TurnChanges], object] = lambda _: None
        """Called when what is known of a turn has changed."""

    def forget(self, chat_id: str) -> None:
        """Forget the turns of a chat that is gone; the store has them as long as checkpoints."""
        self._end_all(chat_id)
        for turn in self.all_turns(chat_id):
            self._turns.remove(turn)
            self.commands.forget(turn)
        self.versions.pop(chat_id, None)
        self.loading.discard(chat_id)

    def snapshot(self, path: str) -> Snapshot:
        """Take a snapshot of a file as it is."""
        return take_snapshot(path, self.blobs)

    def present(self, path: str) -> Snapshot:
        """Take a snapshot of a file that turns have changed, or of a link that they have."""
        known = (it.files[path] for it in self._turns if path in it.files)
        return take_snapshot(path, self.blobs, follow=not any(it.is_link for it in known))

    def seen_before(self, chat: Chat, block: ToolBlock | None, path: str) -> Snapshot:
        """Return a file as first observed for a call, or as it is now if it was not."""
        early = {} if block is None else self._early.get((chat.id, block.id), {})
        return early.get(path) or self.snapshot(path)

    # --- events ---------------------------------------------------------------------------------

    def record(self, chat: Chat, event: events.ChatEvent, block: ToolBlock | None) -> None:
        """Observe the files that an event concerns; `block`: the call it is about, if any.

        To be called after the chat has applied the event and before its effects are performed.
        """
        key = (chat.id, 0 if block is None else block.id)
        match event:
            case events.ToolPreparing() if block is not None and key not in self._early:
                paths = paths_so_far(block.call, block.so_far)
                self._early |= {key: self._observe(paths)} if paths else {}
            case events.ToolRequested(needs_approval=waits) if block is not None:
                self._requested(chat, block, waits=waits)
            case events.ToolRunning() if block is not None:
                self._running(chat, block)
            case events.ToolFinished(failed=failed):
                self._ended(*key, has_failed=failed)
            case events.ToolRejected():
                self._ended(*key, is_stopped=True)
            case turn_events.TurnEnded() | turn_events.TurnLapsed() | events.ChatDeleted():
                self._drop_early(chat.id)
                self._end_settled(chat)
                self.end_turns(chat, self.turn(chat))
            case call_details.FileUsed(path, call_details.Use.WRITTEN, True, unsaved):
                self._written(chat.id, os.path.realpath(path), unsaved)
            case events.AgentGone():
                self._end_all(chat.id)
                self.end_turns(chat)
            case _:
                pass

    def end_turns(self, chat: Chat, *more: TurnChanges) -> None:
        """Note the ends of a chat's turns, and of others, that do not run.

        A turn goes on after the end of a subagent's; after its own the next may have begun already.
        """
        for turn in dict.fromkeys((*self.commands.turns_of(chat.id), *more)):
            if chat.turn.state is states.Turn.IDLE or turn.number != chat.turn.number:
                self._turn_ended(chat, turn)

    def _drop_early(self, chat_id: str) -> None:
        self._early = {key: seen for key, seen in self._early.items() if key[0] != chat_id}

    def _written(self, chat_id: str, place: str, unsaved: bytes | None) -> None:
        """Note what a file was before its first write in a call: with the user's unsaved changes.

        To restore what was on disk would lose what they have typed.
        """
        for (open_chat, _), opened in self._open.items():
            paths = [path for path, seen in opened.before.items() if seen.place == place]
            if open_chat != chat_id or place in opened.written or not paths:
                continue
            opened.written.add(place)
            if unsaved is not None:
                blob = self.blobs.keep(unsaved)
                seen = replace(opened.before[paths[0]], blob=blob, fault=None)
                opened.before |= dict.fromkeys(paths, seen)
                opened.is_certain = True

    def is_watched(self, chat_id: str, block_id: int) -> bool:
        """Return whether a call that has not ended may change any file."""
        opened = self._open.get((chat_id, block_id))
        return opened is not None and opened.is_command

    def approved(self, chat_id: str, block_id: int, tree: TreeRequest | None = None) -> None:
        """Observe a call's files again: the user may have changed them before the approval.

        tree: that of a watched call from before it runs, if it was taken in time.
        """
        opened = self._open.get((chat_id, block_id))
        if opened is None:
            return
        opened.before, opened.began = self._observe(opened.before), time.time_ns()
        self._let_run(opened, tree)
        self.changed(opened.turn)

    def _let_run(self, opened: _OpenCall, tree: TreeRequest | None = None) -> None:
        opened.may_run = True
        if opened.is_command and opened.watch is None:
            opened.watch = self.commands.begin(opened.turn, tree)

    def _requested(self, chat: Chat, block: ToolBlock, *, waits: bool) -> None:
        early = self._early.pop((chat.id, block.id), {})
        paths = changed_paths(block.call)
        if not may_change(block.call):
            return
        before = self._open.get((chat.id, block.id))
        if before is not None and before.watch is not None:
            if not waits and not paths:
                return
            # It asks, or names its files by now. Until the user has answered, others may change
            # files. What it has done so far is its own.
            if before.block.started_ms is not None:
                self.commands.end(before.watch)
            else:
                self.commands.watches.remove(before.watch)
        turn = self.turn(chat)
        seen, known = self._observe(paths), frozenset(turn.seen)
        if not waits:
            seen |= {it: early[it] for it in early.keys() & seen.keys() - known}
        about = (block, turn, seen, time.time_ns(), known, waits, not waits, not paths)
        opened = self._open[chat.id, block.id] = _OpenCall(*about)
        if not waits:
            self._let_run(opened)

    def _running(self, chat: Chat, block: ToolBlock) -> None:
        opened = self._open.get((chat.id, block.id))
        if opened is None:
            self._requested(chat, block, waits=False)
        else:
            self._let_run(opened)

    def _observe(self, paths: Iterable[str]) -> dict[str, Snapshot]:
        return {path: self.snapshot(path) for path in dict.fromkeys(paths)}

    def turn(self, chat: Chat) -> TurnChanges:
        """Return the turn that runs in a chat, or ran last."""
        number = max(1, chat.turn.number)
        for turn in reversed(self._turns):
            if turn.chat == chat.id and turn.number == number and not turn.process:
                return turn
        turn = TurnChanges(chat.id, number, _prompt(chat), began=time.time_ns())
        self._turns.append(turn)
        return turn

    # --- ends of calls, and results -------------------------------------------------------------

    def _ended(
        self, chat_id: str, block_id: int, *, is_stopped: bool = False, has_failed: bool = False
    ) -> None:
        opened = self._open.pop((chat_id, block_id), None)
        if opened is None or (is_stopped and not opened.may_run):
            return
        turn = opened.turn
        if opened.is_command:
            self._let_run(opened)  # unless it runs: others may have allowed it
            if opened.watch is not None:
                self.commands.end(opened.watch)
        else:
            self._note(opened, worked=not is_stopped and not has_failed)
            ends = None if has_failed else moved(opened.block.call)
            if ends is not None:
                turn.note_move(*ends)
        self.is_changed(turn)

    def _end_all(self, chat_id: str) -> None:
        self._drop_early(chat_id)
        for opened in [it for it in self._open if it[0] == chat_id]:
            self._ended(*opened, is_stopped=True)

    def _end_settled(self, chat: Chat) -> None:
        """End the calls that the chat has ended with its turn: the agent may never report that."""
        for (chat_id, block_id), opened in list(self._open.items()):
            is_settled = chat_id == chat.id and opened.block.state in states.ENDED_CALLS
            if opened.is_command and is_settled:
                self._ended(chat_id, block_id, is_stopped=True)

    def _note(self, opened: _OpenCall, *, worked: bool | None = None) -> None:
        """Note what a call has done to the files that it names; worked: None while it runs."""
        turn, now = opened.turn, time.time_ns()
        after = self._observe((*opened.before, *changed_paths(opened.block.call)))
        before = {path: opened.before.get(path, UNSEEN) for path in after}
        for path, later in after.items():
            is_first = not opened.is_certain and path not in opened.known
            if worked and is_first and before[path].same_as(later) and not later.is_absent:
                before[path] = UNSEEN  # it had run
            record = FileRecord(before[path], later, began=opened.began, ended=now)
            turn.note(path, record, is_late=not opened.is_certain)
            if worked is not None and is_first:
                turn.unsure.setdefault(path, now)
        if worked is not None:
            self.commands.written(after, turn, before)

    def is_changed(self, turn: TurnChanges) -> None:
        """Note that what is known of a turn has changed."""
        turn.compute_files()
        if turn in self._turns:  # else its chat is gone
            self.versions[turn.chat] += 1
        self.changed(turn)

    def number_after(self, last: Mapping[str, int]) -> None:
        """Let the turns that are known by now follow those of earlier Neovims, by chat."""
        self.last_numbers = last
        for turn in self._turns:
            if not turn.process:
                turn.number += last.get(turn.chat, 0)

    def turns(self, chat_id: str) -> Sequence[TurnChanges]:
        """Return the turns of a chat that changed something, running calls included."""
        of_chat = [it for it in self._turns if it.chat == chat_id]
        for turn in of_chat:
            opened = [*self.open_calls(turn)]
            for each in opened:
                self._note(each)
            if opened:
                turn.compute_files()
        return [turn for turn in of_chat if turn.files or turn.odd_names]

    def open_calls(self, turn: TurnChanges) -> Iterator[_OpenCall]:
        """Yield the calls of a turn that name their files and may be running."""
        for it in self._open.values():
            if it.turn is turn and it.may_run and not it.is_command:
                yield it

    def all_turns(self, chat_id: str | None = None) -> Sequence[TurnChanges]:
        """Return the turns of a chat, or of all, also those that changed nothing."""
        return [turn for turn in self._turns if chat_id in (None, turn.chat)]

    def add(self, turn: TurnChanges) -> None:
        """Add a turn of an earlier Neovim, or replace what is known of it; what ran then is over.

        Others may have changed its files meanwhile.
        """
        kept = [it for it in self._turns if it.saved != turn.saved]
        self._turns = sorted([*kept, turn], key=lambda it: it.began)
        now = {"ended": time.time_ns(), "changed_by_others": True}
        for path, record in turn.running.items():
            turn.note(path, replace(record, after=self.snapshot(path), **now))
        self.versions[turn.chat] += 1
        if turn.running:
            self.is_changed(turn)
        self.commands.resume(turn)


def _prompt(chat: Chat) -> str:
    for block in reversed(chat.root.blocks):
        if isinstance(block, TextBlock) and block.kind is ops.BlockKind.USER:
            return truncate(one_line(block.text), PROMPT_CELLS)
    return ""

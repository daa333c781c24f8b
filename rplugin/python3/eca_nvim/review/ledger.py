"""The ledger: which turn of which chat changed which file, from what to what.

Rules kept here:
- A file is looked at when a call says that it will change it, again when the user lets it, and
  when it has ended in whatever way: what is different then was changed by the call.
- A turn has a file's state before its first change and after its last. What happened in between
  without a call is noted: it was the user.
- Changes that no call announces, as a shell command's, are not known here.
- Memory is bounded: the oldest turns are forgotten first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from eca_nvim.chat.blocks import TextBlock
from eca_nvim.chat.details import FileChange, ToolCall
from eca_nvim.chat.events import (
    AgentGone,
    ChatEvent,
    ToolFinished,
    ToolRejected,
    ToolRequested,
)
from eca_nvim.chat.files import changed_paths, moved
from eca_nvim.chat.model import Chat
from eca_nvim.chat.ops import BlockKind
from eca_nvim.chat.text import one_line, truncate
from eca_nvim.review.prior import before_change
from eca_nvim.review.snapshots import Blobs, Snapshot, take

MOST_BYTES = 1 << 28
"""Bytes that all snapshots take, about, before the oldest turn is forgotten."""
PROMPT_CELLS = 60
NEW_MODE = 0o644


@dataclass(slots=True)
class FileRecord:
    """A file in a turn: before its first change and after its last.

    mixed: somebody else changed it in between. origin: where it was moved from. undone: the turn
    was taken back in this file; then `before` and `after` are the other way round.
    """

    before: Snapshot
    after: Snapshot
    mixed: bool = False
    origin: str | None = None
    undone: bool = False


@dataclass(slots=True, eq=False)
class TurnRecord:
    """What a turn changed, by path; `prompt` is what the user said, in a line."""

    chat: str
    number: int
    prompt: str
    files: dict[str, FileRecord] = field(default_factory=dict)


@dataclass(slots=True)
class _OpenCall:
    """A call that may be about to change files, with their state before."""

    call: ToolCall
    turn: TurnRecord
    before: dict[str, Snapshot]


class Ledger:
    """All turns that changed something, oldest first."""

    def __init__(self) -> None:
        self._blobs = Blobs()
        self._turns: list[TurnRecord] = []
        self._open: dict[tuple[str, str], _OpenCall] = {}

    def remove(self) -> None:
        """Remove what lies in files, at the end."""
        self._blobs.remove()

    def snapshot(self, path: str, like: Snapshot | None = None) -> Snapshot:
        """Take a snapshot of a file as it is."""
        return take(path, self._blobs, like)

    # --- what happens ---------------------------------------------------------------------------

    def witness(self, chat: Chat, event: ChatEvent) -> None:
        """Look at the files that an event is about; to be called before anything comes of it."""
        match event:
            case ToolRequested(call, needs_approval):
                self._requested(chat, call, waits=needs_approval)
            case ToolFinished(call) | ToolRejected(call):
                self._ended(chat.id, call.id)
            case AgentGone():
                for chat_id, call_id in [key for key in self._open if key[0] == chat.id]:
                    self._ended(chat_id, call_id)
            case _:
                pass

    def approved(self, call_id: str) -> None:
        """Look at a call's files again: the user may have changed them while it waited."""
        for (_, known), opened in self._open.items():
            if known == call_id:
                opened.before = self._look(opened.call)

    def _requested(self, chat: Chat, call: ToolCall, *, waits: bool) -> None:
        known = chat.find_call(call.id)
        whole = call if known is None else _completed(call, known.call)
        before = self._look(whole)
        if not before:
            return
        if not waits:
            self._look_back(whole, before)
        self._open[chat.id, call.id] = _OpenCall(whole, self._turn(chat), before)

    def _look(self, call: ToolCall) -> dict[str, Snapshot]:
        return {path: self.snapshot(path) for path in changed_paths(call)}

    def _look_back(self, call: ToolCall, before: dict[str, Snapshot]) -> None:
        """Correct what was seen for a call that may have run already."""
        details, ends = call.details, moved(call)
        if isinstance(details, FileChange) and details.path in before:
            seen = before[details.path]
            before[details.path] = self._prior(seen, details)
        elif ends is not None and before[ends[0]].is_absent and before[ends[1]].blob is not None:
            source, destination = ends
            before[source], before[destination] = before[destination], Snapshot()

    def _prior(self, seen: Snapshot, change: FileChange) -> Snapshot:
        if seen.fault is not None:
            return seen
        content = None if seen.blob is None else seen.blob.read()
        prior = before_change(content, change)
        if prior is None:
            return Snapshot(missing=seen.missing)
        try:
            blob = self._blobs.keep(prior, seen.blob)
        except OSError as fault:
            return Snapshot(fault=str(fault))
        return Snapshot(blob, seen.mode or NEW_MODE)

    def _turn(self, chat: Chat) -> TurnRecord:
        number = max(1, chat.turn.number)
        for turn in reversed(self._turns):
            if turn.chat == chat.id and turn.number == number:
                return turn
        turn = TurnRecord(chat.id, number, _prompt(chat))
        self._turns.append(turn)
        return turn

    # --- what came of it ------------------------------------------------------------------------

    def _ended(self, chat_id: str, call_id: str) -> None:
        opened = self._open.pop((chat_id, call_id), None)
        if opened is not None:
            self._record(opened)
            self._shrink()

    def _record(self, opened: _OpenCall) -> None:
        ends = moved(opened.call)
        for path, before in opened.before.items():
            after = self.snapshot(path, before)
            if after.same_as(before):
                continue
            known = opened.turn.files.get(path)
            if known is None:
                known = opened.turn.files[path] = FileRecord(before, after)
            else:
                known.mixed |= not (before.same_as(known.after) or before.same_as(known.before))
                known.after = after
            if ends is not None and path == ends[1]:
                known.origin = ends[0]

    def _shrink(self) -> None:
        while self._blobs.size > MOST_BYTES and len(self._turns) > 1:
            del self._turns[0]

    def turns(self, chat_id: str) -> Sequence[TurnRecord]:
        """Give the turns of a chat that changed something, with what calls did so far."""
        for (chat, _), opened in self._open.items():
            if chat == chat_id:
                self._record(opened)
        return [turn for turn in self._turns if turn.chat == chat_id and turn.files]


def _completed(call: ToolCall, known: ToolCall) -> ToolCall:
    """Give a call with what was told of it before."""
    return replace(
        call,
        name=call.name or known.name,
        details=call.details or known.details,
        arguments=call.arguments or known.arguments,
    )


def _prompt(chat: Chat) -> str:
    for block in reversed(chat.root.blocks):
        if isinstance(block, TextBlock) and block.kind is BlockKind.USER:
            return truncate(one_line(block.text), PROMPT_CELLS)
    return ""

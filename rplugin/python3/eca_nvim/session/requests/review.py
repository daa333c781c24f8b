"""Review: answers requests about the files that tools changed, and undoes changes."""

import os.path
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, cast

import anyio
import anyio.lowlevel
from msgspec.structs import replace

from eca_nvim.chat.model.chat import PastTurn, ran_command, turns_since
from eca_nvim.chat.text.safe_text import literal_name
from eca_nvim.chat.vocabulary import intents, ops, query_intents
from eca_nvim.review.change_list import (
    Present,
    Table,
    keys_by_turn,
    list_used_files,
    snapshot_text,
)
from eca_nvim.review.ledger import Ledger
from eca_nvim.review.restoring import Outcome
from eca_nvim.review.turn_changes import TurnChanges
from eca_nvim.review.undo import (
    ODD_NAME,
    UndoPlan,
    done_line,
    merged,
    moved_on,
    no_plan,
    plan_table,
    plan_undo,
    undo,
)
from eca_nvim.review.unreviewed import unreviewed
from eca_nvim.session.chats import Chats
from eca_nvim.session.files.checkpoints import Checkpoints
from eca_nvim.session.files.turn_recorder import TurnRecorder
from eca_nvim.session.proposals.diff_tab import EditorFiles, diff
from eca_nvim.session.requests import history_edits
from eca_nvim.session.view import Refused, View
from eca_nvim.threads import run_in_thread

MOST_ENTRIES = 1000
"""Changes listed at once, at most."""
MOST_NAMES = 5
UNCOVERED = (
    "Commands may have changed more, and that stays: ignored files, empty",
    "folders, owners, .git folders, and files outside of the workspace.",
)
"""What trees do not have, in lines of a float."""
UNSETTLED = "the changes of the last commands are not found yet: try again in a moment"


class ReviewRequests:
    """Handles the user's requests about changed files."""

    def __init__(
        self,
        ledger: Ledger,
        recorder: TurnRecorder,
        checkpoints: Callable[[], Checkpoints],
        chats: Chats,
        files: EditorFiles,
        view: View,
    ) -> None:
        self._ledger = ledger
        self._recorder = recorder
        self._checkpoints = checkpoints
        self._chats = chats
        self._files = files
        self._view = view
        self._keeping = anyio.Lock()  # a list waits for what was kept before
        self.table: Mapping[type[query_intents.Intent], Callable[[Any], object]] = {
            intents.RequestDiff: self._show_diff,
            query_intents.ListChanges: self._list,
            query_intents.ListUnreviewed: self._unreviewed,
            query_intents.KeepChanges: self._keep,
            query_intents.PlanUndo: self._plan,
            query_intents.UndoTurn: self._undo,
            query_intents.ShowCheckpoint: self._show_checkpoint,
            query_intents.ListFiles: self._list_files,
        }

    async def _show_diff(self, intent: intents.RequestDiff) -> None:
        shown = await diff(self._chats.get, intent, self._files, self._ledger.snapshot)
        self._view.push([shown])

    async def _keep(self, intent: query_intents.KeepChanges) -> None:
        """Keep changes, also those that an earlier host has listed."""
        keys = keys_by_turn(intent.keys)
        async with self._keeping:
            if not keys.keys() <= {turn.number for turn in self._ledger.turns(intent.chat)}:
                await self._recorder.settled(intent.chat)
        for turn in self._ledger.turns(intent.chat):
            if not keys.get(turn.number, set()) <= turn.kept:
                turn.kept |= keys[turn.number]
                self._ledger.changed(turn)

    async def _unreviewed(self, intent: query_intents.ListUnreviewed) -> list[Table]:
        async with self._keeping:
            if intent.begins:  # the user learns what is not known yet
                await self._settle(intent.chat)
            else:
                await self._recorder.settled(intent.chat)
        turns = self._ledger.turns(intent.chat)
        paths = _changed_files(turns, intent.path)
        listed = await self._entries((path, turns) for path in paths)
        if intent.begins or (intent.path is None and any(turn.is_open for turn in turns)):
            self._note_open(turns, listed)
        return listed[:MOST_ENTRIES]

    def _note_open(self, turns: Sequence[TurnChanges], left: Sequence[Table]) -> None:
        """Note which turns of a review are not reviewed: they are not forgotten before they are."""
        keys = keys_by_turn([key for it in left for key in cast("Sequence[str]", it["keys"])])
        for turn in turns:
            if turn.is_open != (turn.number in keys):
                turn.is_open = not turn.is_open
                self._ledger.changed(turn)

    async def _settle(self, chat: str) -> None:
        """Wait until the changes of commands are known; warn of turns where they are not."""
        lines = [UNSETTLED] if not await self._recorder.settled(chat) else []
        unknown: dict[str, list[str]] = {}
        for turn in self._ledger.all_turns(chat):
            if turn.unknown is not None:
                unknown.setdefault(turn.unknown, []).append(str(turn.number))
        for why, turns in unknown.items():
            where = "turn" if len(turns) == 1 else "turns"
            lines.append(f"what commands changed in {where} {', '.join(turns)} is not known: {why}")
        self._view.push([ops.Notify("warn", line) for line in lines])

    async def _list(self, intent: query_intents.ListChanges) -> list[Table] | None:
        """Return the remaining changes, or say that there are none."""
        async with self._keeping:
            await self._settle(intent.chat)
        number = intent.turn
        turns = self._ledger.turns(intent.chat)
        turns = [turn for turn in turns if number in (None, turn.number)]
        if not turns:
            where = "in this chat" if number is None else f"in turn {number}"
            self._view.push([ops.Notify("info", f"no changes {where}")])
            return None
        self._view.push([ops.Notify("warn", _odd(turn)) for turn in turns if turn.odd_names])
        listed = await self._entries((path, [turn]) for turn in turns for path in turn.files)
        return listed[:MOST_ENTRIES]

    async def _entries(self, asked: Iterable[tuple[str, Sequence[TurnChanges]]]) -> list[Table]:
        """Return what is not reviewed of files in some turns."""
        # To compare many texts takes a while. The turns may change meanwhile: it gets copies.
        wanted = [(path, [*map(_copy, turns)]) for path, turns in asked]
        present = await self._present(path for path, _ in wanted)
        return await run_in_thread(
            lambda: [it for path, turns in wanted for it in unreviewed(path, turns, present[path])]
        )

    async def _plan(self, intent: query_intents.PlanUndo) -> Table | None:
        """Plan the undo of the turn that is named, else of the last one with something to undo."""
        await self._settle(intent.chat)
        if intent.since is not None:
            return await self._plan_since(intent, intent.since)
        turns = self._ledger.turns(intent.chat)
        for turn in reversed(turns):
            if intent.turn in (None, turn.number):
                found = plan_undo([turn], await self._present(turn.files), intent.paths)
                if found.files and (intent.turn is not None or not found.again):
                    chat = self._chats.table.get(intent.chat)
                    ran = chat is not None and ran_command(chat, [turn.number])
                    return _with_notes(plan_table([turn.number], turn.prompt, found), found, ran)
        later = [turn for turn in turns if intent.turn is not None and turn.number > intent.turn]
        named = [turn for turn in turns if turn.number == intent.turn]
        return no_plan(moved_on(named[0], later) if named else None)

    async def _plan_since(self, intent: query_intents.PlanUndo, block: int) -> Table | None:
        """Plan the undo of all turns from a user's message on."""
        chat = self._chats.get(intent.chat)
        history_edits.require_idle(chat)
        prompt = history_edits.prompt_at(chat, block)
        past, kept = turns_since(chat, prompt), self._ledger.turns(chat.id)
        past = _numbered(past, self._ledger.all_turns(chat.id))
        first = min((it.number for it in past if it.number), default=None)
        turns = [it for it in reversed(kept) if first is not None and it.number >= first]
        paths = [path for turn in turns for path in turn.files]
        known = {turn.number for turn in self._ledger.all_turns(chat.id)}
        unkept = [
            turn.prompt for turn in past if turn.may_have_changed and turn.number not in known
        ]
        found = plan_undo(turns, await self._present(paths))
        left = UndoPlan([]) if found.again else found
        numbers = [turn.number for turn in turns]
        by_agent = history_edits.can_roll_back(chat, prompt)
        more = {"messages": intent.messages, "by_agent": by_agent}
        table = plan_table(numbers, past[0].prompt, left, unkept, **more)
        return _with_notes(table, left, any(it.ran_command for it in past))

    async def _undo(self, intent: query_intents.UndoTurn) -> Table:
        if intent.since is not None:
            prompt = history_edits.prompt_at(self._chats.get(intent.chat), intent.since)
            await self._checkpoints().keep_before(intent.chat, prompt.text)
        paths = [path for path, _ in intent.files]
        present = await self._present(paths)
        changed = {path for path, seen in intent.files if present[path].fingerprint != seen}
        asked = {path: present[path].disk for path in paths}
        turns = self._turns(intent.chat, intent.turns)
        again = all(it.undone for path, it in merged(turns).items() if path in asked)
        outcomes: list[Outcome] = []
        for outcome in undo(turns, asked, self._ledger, changed):
            outcomes.append(outcome)
            self._ledger.commands.written({outcome.path: self._ledger.present(outcome.path)})
            await anyio.lowlevel.checkpoint()
        for turn in turns:
            self._ledger.is_changed(turn)
        await self._recorder.saved()
        done = [it.path for it in outcomes if it.fault is None]
        failed = [_failure(it) for it in outcomes if it.fault is not None]
        touched = [it.path for it in outcomes if it.fault is None or it.copy is not None]
        if touched:
            events = [
                ops.Emit("EcaFileChanged", {"chat": intent.chat, "path": it}) for it in touched
            ]
            self._view.push([ops.FilesChanged(intent.chat, touched), *events])
        told = done_line(intent.turns, len(done), again=again)
        return {"done": done, "failed": failed, "told": told}

    async def _show_checkpoint(self, intent: query_intents.ShowCheckpoint) -> None:
        turns = self._turns(intent.chat, intent.turns)
        files = merged(turns)
        if intent.path not in files:
            raise Refused("this change is no longer there")
        before = files[intent.path].before
        present = (await self._present([intent.path]))[intent.path]
        old, new = snapshot_text(before), present.text
        if (old is None and not before.is_absent) or (new is None and not present.disk.is_absent):
            why = f": {before.fault}" if before.fault else ""
            raise Refused(f"there is no text to compare{why}")
        self._view.push([_diff(turns[-1], intent.path, old or "", new or "")])

    def _turns(self, chat: str, numbers: Sequence[int]) -> Sequence[TurnChanges]:
        """Return some turns of a chat, the newest first."""
        return [turn for turn in reversed(self._ledger.turns(chat)) if turn.number in numbers]

    async def _list_files(self, intent: query_intents.ListFiles) -> Table | None:
        await self._recorder.settled(intent.chat)
        chat = self._chats.table.get(intent.chat)
        return None if chat is None else list_used_files(chat, self._ledger.turns(chat.id))

    async def _present(self, paths: Iterable[str]) -> Mapping[str, Present]:
        return await present_files(paths, self._files, self._ledger)


async def present_files(
    paths: Iterable[str], files: EditorFiles, ledger: Ledger
) -> Mapping[str, Present]:
    """Return files as they are now, with what the editor has not saved."""
    unique = tuple(dict.fromkeys(paths))
    unsaved = await files.unsaved(unique) if unique else {}
    present: dict[str, Present] = {}
    for path in unique:
        present[path] = Present(ledger.present(path), unsaved.get(path))
        await anyio.lowlevel.checkpoint()
    return present


def _copy(turn: TurnChanges) -> TurnChanges:
    return replace(turn, files={**turn.files}, kept={*turn.kept})


def _changed_files(turns: Sequence[TurnChanges], only: str | None) -> Sequence[str]:
    """Return the files that turns have changed, or one of them by any of its names, in order."""
    paths = sorted({path for turn in turns for path in turn.files})
    return [path for path in paths if only in (None, path, os.path.realpath(path))]


def _numbered(past: Sequence[PastTurn], kept: Sequence[TurnChanges]) -> Sequence[PastTurn]:
    """Give turns that were replayed the numbers that they had when they ran."""
    numbered: list[PastTurn] = []
    left = list(kept)
    for turn in reversed(past):
        named = [it for it in left if turn.number in (it.number, 0) and it.prompt == turn.prompt]
        if named:
            left = left[: left.index(named[-1])]
        number = turn.number or (named[-1].number if named else 0)
        numbered.append(replace(turn, number=number))
    return numbered[::-1]


def _with_notes(table: Table, plan: UndoPlan, ran: bool) -> Table:
    """Add to a plan what it does not know, if commands may have changed it; ran: some have run."""
    is_told = not plan.again and (ran or any(it["command"] for it in plan.files))
    return {**table, "notes": UNCOVERED if is_told else ()}


def _odd(turn: TurnChanges) -> str:
    """Return a warning with the odd names of files that commands changed; they are not shown."""
    names = [literal_name(PurePath(path).name) for path in sorted(turn.odd_names)]
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"turn {turn.number}: {ODD_NAME}: {', '.join(names[:MOST_NAMES])}{more}"


def _failure(outcome: Outcome) -> Table:
    """Return why a file was not restored, and where its copy is if it was left damaged."""
    copy = {"copy": outcome.copy} if outcome.copy is not None else {}
    return {"path": outcome.path, "fault": outcome.fault, **copy}


def _diff(turn: TurnChanges, path: str, before: str, after: str) -> ops.ShowDiff:
    kind = "changed" if before and after else "new" if after else "deleted"
    call = f"turn {turn.number} {path}"
    return ops.ShowDiff(turn.chat, call, path, before, after, kind)

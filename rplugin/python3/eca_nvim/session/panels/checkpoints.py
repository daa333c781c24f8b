"""Checkpoints, as a panel and for scripts: the workspace before each prompt, to go back to."""

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import PurePath
from typing import ClassVar, Final

from eca_nvim.agents.abilities import AgentRefused
from eca_nvim.agents.base import AgentFault
from eca_nvim.chat.model.blocks import TextBlock
from eca_nvim.chat.vocabulary.ops import FilesChanged, Notify
from eca_nvim.chat.vocabulary.panels import Action, RestoreCheckpoint, Row, SetCheckpoints
from eca_nvim.chat.vocabulary.query_intents import Rollback
from eca_nvim.digests import name_digest
from eca_nvim.review.checkpoint_store import Checkpoint
from eca_nvim.review.git import GitFailed
from eca_nvim.review.turn_changes import FileRecord
from eca_nvim.session.files.checkpoints import Checkpoints, Restored
from eca_nvim.session.panels.panel import Answer, Panel, Scene, cell, column, note, rest
from eca_nvim.session.view import Refused, View

LONGEST_PROMPT: Final = 1000
"""Characters of a prompt that scripts get."""
_UNCOVERED: Final = "ignored files, empty folders, owners, .git folders"
_NAMED: Final = 5
"""Files that the question names."""


class CheckpointsPanel(Panel):
    """The checkpoints of the workspace, also those of earlier Neovims."""

    ACTIONS: ClassVar = (
        Action("files", "o", "what differs from now"),
        Action("restore", "r", "go back to it", sure="Restore {}?"),
        Action("delete", "D", "delete it", sure="Delete the checkpoint of {}?"),
    )

    _plans: Mapping[str, Mapping[str, FileRecord]] = {}

    @property
    def _checkpoints(self) -> Checkpoints:
        return self.scene.checkpoints()

    @property
    def title(self) -> str:
        """How many there are."""
        busy = " · git works" if self._checkpoints.is_busy else ""
        return f"checkpoints: {len(self._prompts)}{busy}"

    @property
    def _prompts(self) -> Sequence[Checkpoint]:
        return [it for it in self._checkpoints.known or () if it.about.get("kind") != "end"]

    async def begin(self) -> None:
        """List what is kept."""
        try:
            await self._checkpoints.load()
        except GitFailed as fault:
            raise Refused(str(fault)) from fault

    def rows(self) -> Iterator[Row]:
        """Yield the checkpoints, newest first, with what differs from now below an opened one."""
        ends = _ends(self._checkpoints.known or ())
        for each in self._prompts:
            plan = self._plans.get(each.id)
            end = ends.get(each.id, {})
            yield self._row(each, end, plan)
            if plan is not None:
                yield from _files(each.id, plan, self._checkpoints.roots())
        if self._checkpoints.known is None:
            yield note("git is asked …")
        elif not self._prompts:
            yield note("no checkpoint yet: one is made before each prompt, in a git repository")

    def _row(
        self, each: Checkpoint, end: Mapping[str, object], plan: Mapping[str, FileRecord] | None
    ) -> Row:
        prompt = str(each.about.get("prompt", ""))
        count = end.get("count")
        changed = f"{count} changed" if count else ""
        about = cell(prompt, 40)
        if plan:
            names = [PurePath(path).name for path in sorted(plan) if plan[path].after.fault is None]
            more = f" and {len(names) - _NAMED} more" if names[_NAMED:] else ""
            about = cell(f"{len(names)} files as they were: {', '.join(names[:_NAMED])}{more}")
        actions = ("files", "restore", "delete") if plan else ("files", "delete")
        return Row(
            id=each.id,
            line=(
                column(_when(each.time), 12, "EcaTime"),
                column(changed, 11, "EcaMuted"),
                column(each.about.get("title") or "", 18, "EcaMuted"),
                rest(prompt),
            ),
            actions=actions,
            values={"name": about},
        )

    async def act(self, action: str, row: str, values: Mapping[str, str]) -> Answer | None:  # noqa: ARG002
        """Show what differs, restore what was shown, or delete."""
        found = next((it for it in self._prompts if it.id == row.partition("\n")[0]), None)
        if found is None:
            raise Refused("this checkpoint is gone")
        try:
            if action == "files":
                await self._toggle(found)
            elif action == "restore":
                await self._restore(found)
            else:
                await self._checkpoints.drop([found.id])
        except (GitFailed, OSError) as fault:
            raise Refused(str(fault)) from fault
        return None

    async def _toggle(self, found: Checkpoint) -> None:
        plans = dict(self._plans)
        if plans.pop(found.id, None) is None:
            plans[found.id] = await self._checkpoints.plan(found)
            if not plans[found.id]:
                self.scene.view.push([Notify("info", "no file differs from this checkpoint")])
        self._plans = plans

    async def _restore(self, found: Checkpoint) -> None:
        plan = self._plans.get(found.id)
        if not plan:
            raise Refused("look at what differs first: o shows it")
        restored = await self._checkpoints.restore(found, plan)
        self._plans = {}
        _show_restored(self.scene, found, restored)
        told = f"{len(restored.done)} files restored"
        if restored.failed:
            path, why = next(iter(restored.failed.items()))
            told += f", {len(restored.failed)} not: {PurePath(path).name}: {why}"
        self.scene.view.push([Notify("warn" if restored.failed else "info", cell(told))])

    def seconds_for(self, action: str) -> float:  # noqa: ARG002 - all read the workspace
        """Return no limit: what is begun is done, and its row says since when it waits."""
        return math.inf


def _files(checkpoint: str, plan: Mapping[str, FileRecord], roots: Sequence[str]) -> Iterator[Row]:
    """Yield the files that differ, with what going back does to each."""
    for path, file in sorted(plan.items()):
        group = "EcaFailed" if file.before.is_absent else "EcaChanged"
        root = next((it for it in roots if path.startswith(f"{it}/")), "")
        name = path.removeprefix(f"{root}/")
        line = (column(f"  {_verb(file)}", 12, group), rest(name))
        row = f"{checkpoint}\n{name_digest(os.fsencode(path))}"
        yield Row(row, line, ("files",), {"name": cell(name, 40)})
    if plan:
        line = (column("  stays", 12, "EcaMuted"), rest(_UNCOVERED, "EcaMuted"))
        yield Row(f"{checkpoint}\n", line, ("files",))


def _verb(file: FileRecord) -> str:
    """Return what going back does to a file."""
    if file.after.fault is not None:
        return "stays"
    if file.before.is_absent:
        return "deleted"
    return "created" if file.after.is_absent else "restored"


def _ends(known: Sequence[Checkpoint]) -> Mapping[object, Mapping[str, object]]:
    """Return what the ends of turns are about, by the ids of the checkpoints before them."""
    return {it.about.get("of"): it.about for it in known if it.about.get("kind") == "end"}


def _show_restored(scene: Scene, checkpoint: Checkpoint, restored: Restored) -> None:
    for path in restored.done:  # it is not the work of a command that runs
        scene.ledger.commands.written({path: scene.ledger.snapshot(path)})
    if restored.done:
        scene.view.push([FilesChanged(str(checkpoint.about.get("chat", "")), restored.done)])


def _when(moment: int) -> str:
    """Return a time of today, or a day."""
    local = datetime.fromtimestamp(moment / 1e9, UTC).astimezone()
    is_today = local.date() == datetime.now(UTC).astimezone().date()
    return local.strftime("%H:%M:%S" if is_today else "%b %d %H:%M")


# --- for scripts ----------------------------------------------------------------------------------


class CheckpointMirror:
    """Tells the view of checkpoints, so that scripts need not wait for them.

    changed: has panels drawn again.
    """

    def __init__(self, view: View, changed: Callable[[], None]) -> None:
        self._view = view
        self._changed = changed
        self._told: Mapping[str, Mapping[str, object]] | None = None

    def show(self, known: Sequence[Checkpoint]) -> None:
        """Send what differs from what was sent."""
        ends, before = _ends(known), self._told or {}
        prompts = (it for it in known if it.about.get("kind") == "prompt")
        now = {it.id: _public(it, ends.get(it.id, {})) for it in prompts}
        items = [it for id_, it in now.items() if before.get(id_) != it]
        gone = [*(before.keys() - now.keys())]
        if items or gone or self._told is None:
            self._view.push([SetCheckpoints(items, gone, whole=self._told is None)])
        self._told = now
        self._changed()


def _public(each: Checkpoint, end: Mapping[str, object]) -> Mapping[str, object]:
    files = end.get("files")
    return {
        "id": each.id,
        "chat": str(each.about.get("chat", "")),
        "turn": each.about.get("turn", 0),
        "prompt": str(each.about.get("prompt", ""))[:LONGEST_PROMPT],
        "time": each.time // 10**9,
        "files": [*map(str, files)] if isinstance(files, list) else [],
    }


async def restore_for_script(scene: Scene, intent: RestoreCheckpoint) -> Mapping[str, object]:
    """Do what `RestoreCheckpoint` says, and return its answer."""
    checkpoints = scene.checkpoints()
    try:
        await checkpoints.load()
        found = _by_id(checkpoints, intent.checkpoint)
        if intent.history:
            await _undo_history(scene, found)
        if not intent.files:
            return {"files": []}
        plan = await checkpoints.plan(found)
        restored = await checkpoints.restore(found, plan)
    except (GitFailed, OSError, Refused, AgentRefused, AgentFault) as fault:
        return {"files": [], "fault": str(fault)}
    _show_restored(scene, found, restored)
    done = [{"path": it, "done": _verb(plan[it])} for it in restored.done]
    failed = [{"path": path, "fault": why} for path, why in restored.failed.items()]
    return {"files": [*done, *failed], "undo": restored.undo}


def _by_id(checkpoints: Checkpoints, id_: str) -> Checkpoint:
    found = next((it for it in checkpoints.known or () if it.id == id_), None)
    if found is None:
        raise Refused(f"there is no checkpoint {cell(id_, 40)}")
    return found


async def _undo_history(scene: Scene, found: Checkpoint) -> None:
    """Undo the chat from the prompt of a checkpoint on. Raises Refused, AgentRefused."""
    chat = scene.chats.table.get(str(found.about.get("chat", "")))
    turn = found.about.get("turn")
    blocks = () if chat is None else chat.blocks.values()
    prompts = (it for it in blocks if isinstance(it, TextBlock) and turn and it.turn == turn)
    prompt = next(prompts, None)
    if chat is None or prompt is None:
        raise Refused("the prompt of this checkpoint is in no open chat")
    if not await scene.do(Rollback(chat.id, prompt.id)):
        raise Refused("the chat could not go back")

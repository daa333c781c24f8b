"""The diff tab of a tool call: its change as two whole texts, and what the user takes of it.

Rules kept here:
- The change is applied to what the agent has read (`Base`), as its tool will do. If that is the
  file on disk, unsaved changes in the buffer are left out, and a remark says so.
- Tools read UTF-8: other bytes reach them as U+FFFD, and that is what they write back.
- If there is nothing to compare, one line says why.
- The pending request is stored with the two texts, so that an answer is for what they show.
- The hunks that are taken, here or in the float, and the user's edits are one choice. It is made of
  the texts as they are then.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from eca_nvim.chat.model.blocks import Changes, ToolBlock
from eca_nvim.chat.model.calls import may_change, moved
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.model.hunk_choice import (
    NotInParts,
    Sides,
    edited,
    left_out_of,
    lines_of_parts,
    part_at,
    standing_text,
    texts_after,
)
from eca_nvim.chat.render.tool import standing_changes
from eca_nvim.chat.text.diffs import Versions, rewritten, text_after, versions
from eca_nvim.chat.text.safe_text import literal_name
from eca_nvim.chat.text.text_differences import parts_of
from eca_nvim.chat.user_actions.approvals import choose_hunks, decide, has_parts, waiting_call
from eca_nvim.chat.vocabulary import call_details, intents, ops, query_intents, states
from eca_nvim.path_risks import real_path
from eca_nvim.paths import path_fault
from eca_nvim.review.snapshots import Snapshot
from eca_nvim.review.text_changes import is_latin1, text_of
from eca_nvim.session.files.whole_writes import changed_line_ends
from eca_nvim.session.view import Refused

ReadSnapshot: TypeAlias = Callable[[str], Snapshot]
"""Takes a snapshot of a file as it is on disk."""

UNSAVED = "you have changes that are not written: the tool does not see them"
NOT_UTF8 = "not UTF-8: the tool replaces such bytes by �"
BEFORE_UNKNOWN = "the whole file was written: what it held before is not known"
NO_CHANGE = "no file change here"
_BYTE_ORDER_MARK = "\ufeff"


class NothingToShow(Exception):
    """Raised when there are no two texts to compare; the text says why."""


class EditorFiles(Protocol):
    """Reads files as the editor has them."""

    async def unsaved(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Return the texts of those files that have unsaved changes, by path."""


class _Sides(Struct, frozen=True):
    """The file, the two texts and the remarks of a diff tab."""

    path: str
    shown: Versions
    remarks: Sequence[str] = ()


async def diff(
    chats: Callable[[str], Chat],
    intent: intents.RequestDiff,
    files: EditorFiles,
    read: ReadSnapshot,
) -> ops.ViewOp:
    """Return the op that opens the diff tab, or a warning if there is nothing to show."""
    chat, block = _choose(chats, intent)
    if block is None:
        return ops.Notify("warn", NO_CHANGE)
    request = _request(block)
    try:
        place, sides = _next_sides(block, intent.file, chat.settings, read)
    except NothingToShow as reason:
        return ops.Notify("warn", str(reason))
    unsaved = (await files.unsaved([sides.path])).get(sides.path)
    if unsaved is not None:
        sides = _with_unsaved(sides, block, place, unsaved)
    after, left_out = _chosen(block, place, sides)
    return ops.ShowDiff(
        chat=chat.id,
        id=f"call {block.id}",
        path=sides.path,
        before=sides.shown.before,
        after=after,
        kind=sides.shown.kind,
        request=request,
        fault=sides.shown.fault,
        remark="\n".join(sides.remarks) or None,
        file=_file(block, place),
        left_out=left_out,
        is_open=request is not None and has_parts(block) and sides.shown.fault is None,
    )


def _chosen(block: ToolBlock, place: int, sides: _Sides) -> tuple[str, Sequence[tuple[int, int]]]:
    """Return what stands for a file of a call, as the user has chosen, and what is left out."""
    chosen = block.request.chosen if block.request else None
    if chosen is None or sides.shown.fault is not None:
        return sides.shown.after, ()
    own = {it.place for it in parts_of(chosen.changes)
           if it.change == place and it.number in chosen.left_out}  # fmt: skip
    if not own and chosen.changes[place] == chosen.asked[place]:
        return sides.shown.after, ()
    file = Sides("", sides.shown.before, sides.shown.after, on_disk=True)
    return (
        standing_text(file, chosen.changes[place], own),
        _marks(file, chosen.changes, place, chosen.left_out),
    )


def _with_unsaved(sides: _Sides, block: ToolBlock, place: int, text: str) -> _Sides:
    """Return the sides for a file whose `text` in the editor is not written."""
    change = block.call.changes[place] if block.call.changes else None
    if change is None or change.base is call_details.Base.DISK:
        return replace(sides, remarks=[*sides.remarks, UNSAVED])
    if change.base is call_details.Base.OLD or block.state is states.CallState.DONE:
        return sides
    after = change.whole if change.whole is not None else text_after(text, change)
    shown = versions(text, change, applied=False) if after is None else rewritten(text, after)
    return replace(sides, shown=shown)


def _file(block: ToolBlock, place: int) -> Mapping[str, object] | None:
    """Return which file of a call is shown, if it changes several."""
    count = len(block.call.changes or ())
    return {"block": block.id, "place": place, "count": count} if count > 1 else None


def _choose(
    chats: Callable[[str], Chat], intent: intents.RequestDiff
) -> tuple[Chat, ToolBlock | None]:
    """Return the requested call, or the alternative if that one changes no file."""
    chat = chats(intent.chat)
    block = _find(chat, intent.block)
    if intent.instead is None or (block and (block.call.changes or moved(block.call))):
        return chat, block
    other = chats(intent.instead[0])
    return other, _find(other, intent.instead[1])


def _find(chat: Chat, block_id: int) -> ToolBlock | None:
    block = chat.blocks.get(block_id)
    return block if isinstance(block, ToolBlock) else None


def _request(block: ToolBlock) -> Mapping[str, object] | None:
    """Return the fields that answer the call's request, None if it has no pending one."""
    request = block.request if block.state is states.CallState.WAITING else None
    if request is None:
        return None
    return {"id": request.id, "block": block.id, "digest": request.digest}


def _next_sides(
    block: ToolBlock, first: int, settings: RenderSettings, read: ReadSnapshot
) -> tuple[int, _Sides]:
    """Return the next file of a call that can be shown, from `first` on, and its place.

    Its remarks say why others cannot. Raises NothingToShow if none can.
    """
    count, faults = max(1, len(block.call.changes or ())), list[str]()
    for place in ((first + step) % count for step in range(count)):
        try:
            sides = _sides(block, place, settings, read)
        except NothingToShow as reason:
            faults.append(str(reason))
        else:
            return place, replace(sides, remarks=[*faults, *sides.remarks])
    raise NothingToShow(faults[0])


def _sides(block: ToolBlock, place: int, settings: RenderSettings, read: ReadSnapshot) -> _Sides:
    """Return the sides of one of the files that a call changes (`place` is 0-based)."""
    applied = block.state is states.CallState.DONE and may_change(block.call)
    if block.call.changes:
        change = block.call.changes[place]
        _require_plain(change.path, settings)
        sides = _changed(change, read, applied=applied)
        if change.whole is None:
            return sides
        return replace(sides, remarks=[*sides.remarks, *_whole_write_remarks(block, sides)])
    if paths := moved(block.call):
        for path in paths:
            _require_plain(path, settings)
        return _moved(*paths, settings, read, applied=applied)
    raise NothingToShow(NO_CHANGE)


def _whole_write_remarks(block: ToolBlock, sides: _Sides) -> Sequence[str]:
    """Return what the two texts do not show of a call that writes a whole file."""
    if block.replayed:
        return (BEFORE_UNKNOWN,)
    return tuple(filter(None, [changed_line_ends(sides.shown.before, sides.shown.after)]))


def _require_plain(path: str, settings: RenderSettings) -> None:
    """Raise NothingToShow for a path that is never opened, such as one with a scheme."""
    if fault := path_fault(path):
        raise NothingToShow(f"not shown, {fault}: {settings.relative(literal_name(path))}")


def _content(path: str, read: ReadSnapshot) -> bytes | None:
    """Return the content of a text file, None if there is no file. Raises NothingToShow."""
    name = literal_name(PurePath(path).name)
    snapshot = read(path)
    if snapshot.fault is not None:
        raise NothingToShow(f"cannot show {name}: {snapshot.fault}")
    content = None if snapshot.blob is None else snapshot.blob.read()
    if content is not None and text_of(content) is None:
        raise NothingToShow(f"{name} is binary: there is no diff to show")
    return content


def _changed(change: call_details.FileChange, read: ReadSnapshot, *, applied: bool) -> _Sides:
    if change.base is call_details.Base.OLD and change.new is not None and not applied:
        return _Sides(change.path, rewritten(change.old, change.new))
    content = _content(change.path, read)
    text = None if content is None else content.decode(errors="replace")
    if change.whole is None or applied:
        shown = versions(text, change, applied=applied)
    else:
        shown = rewritten(text, change.whole)
    if shown.fault is not None and content is None:
        shown = replace(shown, fault=f"there is no such file; {shown.fault}")
    if content is None or not is_latin1(content):
        return _Sides(change.path, _without_mark(shown))
    present = content.decode("latin-1")
    shown = replace(shown, after=present) if applied else replace(shown, before=present)
    return _Sides(change.path, shown, [NOT_UTF8])


def _without_mark(shown: Versions) -> Versions:
    """Remove the byte order mark, as the editor does when it reads a file."""
    before, after = (it.removeprefix(_BYTE_ORDER_MARK) for it in (shown.before, shown.after))
    return replace(shown, before=before, after=after)


def _moved(
    source: str, destination: str, settings: RenderSettings, read: ReadSnapshot, *, applied: bool
) -> _Sides:
    path, other = (destination, source) if applied else (source, destination)
    content = _content(path, read)
    if content is None:
        raise NothingToShow(f"there is no file {literal_name(path)}")
    text = text_of(content) or ""
    remark = f"{'moved from' if applied else 'moves to'} {settings.relative(literal_name(other))}"
    if not applied and not read(destination).is_absent:
        remark += ", which exists already"
    return _Sides(path, Versions(text, text, "moved"), [remark])


# --- what the user takes of a change --------------------------------------------------------------


class HunkRequests:
    """Handles what the user chooses of the changes of calls that wait."""

    def __init__(
        self,
        chats: Callable[[str], Chat],
        show: Callable[[Changes], None],
        now: Callable[[], int],
        read: ReadSnapshot,
    ) -> None:
        """Make it; `show` draws what a choice changes, `now` returns the time in ms."""
        self._chats = chats
        self._show = show
        self._now = now
        self._read = read
        self.table: Mapping[type[query_intents.Intent], Callable[[Any], object]] = {
            query_intents.ToggleHunk: self._toggle,
            query_intents.EditProposal: self._edit,
            query_intents.AllowHunks: self._allow,
        }

    def _toggle(self, intent: query_intents.ToggleHunk) -> None:
        """Take a hunk, or leave it out."""
        chat, block, files = self._waiting(intent)
        changes, out = standing_changes(block)
        numbers = {it.number for it in parts_of(changes)}
        if intent.hunk not in numbers:
            raise Refused(f"there is no hunk {intent.hunk}")
        chosen = out - {intent.hunk} if intent.taken else out | {intent.hunk}
        self._choose(chat, block, changes, chosen, files)

    def _allow(self, intent: query_intents.AllowHunks) -> None:
        """Allow some hunks, and answer the request so."""
        chat, block, files = self._waiting(intent)
        changes, _ = standing_changes(block)
        numbers = {it.number for it in parts_of(changes)}
        if strange := sorted({*intent.hunks} - numbers):
            raise Refused(f"there is no hunk {strange[0]}, but 1 to {len(numbers)}")
        self._choose(chat, block, changes, numbers - {*intent.hunks}, files)
        digest = (block.request and block.request.digest) or ""
        self._show(decide(chat, block.id, digest, intent.choice, self._now()))

    def _edit(self, intent: query_intents.EditProposal) -> Mapping[str, object]:
        """Take over the user's text of a file; with a line, take or leave out the hunk there."""
        chat, block, files = self._waiting(intent)
        asked, place = block.call.changes or (), intent.file
        changes, out = standing_changes(block)
        sides = files[asked[place].path]
        if [it.path for it in asked].count(asked[place].path) > 1:
            raise Refused("this file is changed more than once: choose hunks in the float")
        change, own = _read_text(asked[place], changes[place], sides, intent.text)
        if intent.line is not None:
            at = part_at(lines_of_parts(sides.before, change, own), intent.line)
            if at is None:
                raise Refused("there is no hunk here: ]c goes to the next one")
            own = own ^ {at}
        fresh = (*changes[:place], change, *changes[place + 1 :])
        taken_out = {(it.change, it.place) for it in parts_of(changes) if it.number in out}
        taken_out = {it for it in taken_out if it[0] != place} | {(place, it) for it in own}
        left = {it.number for it in parts_of(fresh) if (it.change, it.place) in taken_out}
        self._choose(chat, block, fresh, left, files)
        return {
            "digest": block.request and block.request.digest,
            "text": standing_text(sides, change, own),
            "left_out": _marks(sides, fresh, place, left),
        }

    def _choose(
        self,
        chat: Chat,
        block: ToolBlock,
        changes: tuple[call_details.FileChange, ...],
        left_out: Collection[int],
        files: Mapping[str, Sides],
    ) -> None:
        try:
            self._show(choose_hunks(chat, block.id, changes, left_out, files, self._now()))
        except NotInParts as reason:
            raise Refused(str(reason)) from reason

    def _waiting(
        self,
        intent: query_intents.ToggleHunk | query_intents.EditProposal | query_intents.AllowHunks,
    ) -> tuple[Chat, ToolBlock, Mapping[str, Sides]]:
        """Return the call that is meant, and the files that it changes. Raises Refused."""
        chat = self._chats(intent.chat)
        try:
            block = waiting_call(chat, intent.block, intent.digest)
            return chat, block, self._sides_of(chat, block, intent.unsaved)
        except (NotInParts, NothingToShow) as reason:
            raise Refused(str(reason)) from reason

    def _sides_of(
        self, chat: Chat, block: ToolBlock, unsaved: Mapping[str, str]
    ) -> Mapping[str, Sides]:
        """Return the files that a call changes, by path. Raises NotInParts and NothingToShow."""
        found: dict[str, Sides] = {}
        changes = block.call.changes or ()
        for place, change in enumerate(changes):
            if change.path in found:
                continue
            sides = _sides(block, place, chat.settings, self._read)
            if change.path in unsaved:
                sides = _with_unsaved(sides, block, place, unsaved[change.path])
            if sides.shown.fault is not None or NOT_UTF8 in sides.remarks:
                raise NotInParts(
                    f"its hunks cannot be taken one by one: {sides.shown.fault or NOT_UTF8}"
                )
            is_new = sides.shown.kind == "new" and self._read(change.path).is_absent
            before = None if is_new else sides.shown.before
            of_file = [it for it in changes if it.path == change.path]
            after = sides.shown.after if len(of_file) == 1 else texts_after(before, of_file)
            is_gone = block.call.kind is call_details.ToolKind.DELETE and not after
            on_disk = change.base is call_details.Base.DISK
            place_of = real_path(change.path)
            found[change.path] = Sides(place_of, before, None if is_gone else after, on_disk)
        return found


def _read_text(
    asked: call_details.FileChange, stands: call_details.FileChange, sides: Sides, text: str
) -> tuple[call_details.FileChange, frozenset[int]]:
    """Return the change that makes a file hold a text, and the parts of it that are left out."""
    for change in dict.fromkeys((asked, stands)):
        out = left_out_of(text, sides.before, change)
        if out is not None:
            return change, out
    return edited(asked, sides.before, text), frozenset()


def _marks(
    sides: Sides,
    changes: Sequence[call_details.FileChange],
    place: int,
    left_out: Collection[int],
) -> Sequence[tuple[int, int]]:
    """Return the lines of a text where hunks are left out, and the numbers of these hunks."""
    own = [it for it in parts_of(changes) if it.change == place]
    gone = {it.place for it in own if it.number in left_out}
    places = lines_of_parts(sides.before, changes[place], gone)
    return [(places[it.place][0], it.number) for it in own if it.place in gone]

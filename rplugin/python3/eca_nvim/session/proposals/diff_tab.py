"""The diff tab of a tool call: its change as two whole texts, as the user has chosen.

Rules kept here:
- The change is applied to what the agent has read (`Base`), as its tool will do. If that is the
  file on disk, unsaved changes in the buffer are left out, and a remark says so.
- Tools read UTF-8: other bytes reach them as U+FFFD, and that is what they write back.
- If there is nothing to compare, one line says why.
- The pending request is stored with the two texts, so that an answer is for what they show.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from eca_nvim.chat.model.blocks import ToolBlock
from eca_nvim.chat.model.calls import may_change, moved
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.model.hunk_choice import (
    Sides,
    marks,
    standing_text,
)
from eca_nvim.chat.text.diffs import Versions, rewritten, text_after, versions
from eca_nvim.chat.text.safe_text import literal_name
from eca_nvim.chat.text.text_differences import parts_of
from eca_nvim.chat.user_actions.approvals import has_parts
from eca_nvim.chat.vocabulary import call_details, intents, ops, states
from eca_nvim.paths import path_fault
from eca_nvim.review.snapshots import Snapshot
from eca_nvim.review.text_changes import is_latin1, text_of
from eca_nvim.session.proposals.whole_writes import changed_line_ends

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


class ShownSides(Struct, frozen=True):
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
        sides = with_unsaved(sides, block, place, unsaved)
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


def _chosen(
    block: ToolBlock, place: int, sides: ShownSides
) -> tuple[str, Sequence[tuple[int, int]]]:
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
        marks(file, chosen.changes, place, chosen.left_out),
    )


def with_unsaved(sides: ShownSides, block: ToolBlock, place: int, text: str) -> ShownSides:
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
) -> tuple[int, ShownSides]:
    """Return the next file of a call that can be shown, from `first` on, and its place.

    Its remarks say why others cannot. Raises NothingToShow if none can.
    """
    count, faults = max(1, len(block.call.changes or ())), list[str]()
    for place in ((first + step) % count for step in range(count)):
        try:
            sides = sides_of(block, place, settings, read)
        except NothingToShow as reason:
            faults.append(str(reason))
        else:
            return place, replace(sides, remarks=[*faults, *sides.remarks])
    raise NothingToShow(faults[0])


def sides_of(
    block: ToolBlock, place: int, settings: RenderSettings, read: ReadSnapshot
) -> ShownSides:
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


def _whole_write_remarks(block: ToolBlock, sides: ShownSides) -> Sequence[str]:
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


def _changed(change: call_details.FileChange, read: ReadSnapshot, *, applied: bool) -> ShownSides:
    if change.base is call_details.Base.OLD and change.new is not None and not applied:
        return ShownSides(change.path, rewritten(change.old, change.new))
    content = _content(change.path, read)
    text = None if content is None else content.decode(errors="replace")
    if change.whole is None or applied:
        shown = versions(text, change, applied=applied)
    else:
        shown = rewritten(text, change.whole)
    if shown.fault is not None and content is None:
        shown = replace(shown, fault=f"there is no such file; {shown.fault}")
    if content is None or not is_latin1(content):
        return ShownSides(change.path, _without_mark(shown))
    present = content.decode("latin-1")
    shown = replace(shown, after=present) if applied else replace(shown, before=present)
    return ShownSides(change.path, shown, [NOT_UTF8])


def _without_mark(shown: Versions) -> Versions:
    """Remove the byte order mark, as the editor does when it reads a file."""
    before, after = (it.removeprefix(_BYTE_ORDER_MARK) for it in (shown.before, shown.after))
    return replace(shown, before=before, after=after)


def _moved(
    source: str, destination: str, settings: RenderSettings, read: ReadSnapshot, *, applied: bool
) -> ShownSides:
    path, other = (destination, source) if applied else (source, destination)
    content = _content(path, read)
    if content is None:
        raise NothingToShow(f"there is no file {literal_name(path)}")
    text = text_of(content) or ""
    remark = f"{'moved from' if applied else 'moves to'} {settings.relative(literal_name(other))}"
    if not applied and not read(destination).is_absent:
        remark += ", which exists already"
    return ShownSides(path, Versions(text, text, "moved"), [remark])

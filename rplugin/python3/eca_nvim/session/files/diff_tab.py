"""The diff tab of a tool call: its change as two whole files.

Rules kept here:
- The file on disk is what the tool will change, so that is what the change is applied to. What the
  user has not written is left out, and that is said.
- A tool reads UTF-8: what is none reaches it as U+FFFD, and that is what it writes back.
- What has no text has no diff; why is told in a line.
- What is asked is taken down together with the two texts: an answer is to what they show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from eca_nvim.chat.model.blocks import ToolBlock
from eca_nvim.chat.model.call_files import may_change, moved, whole_text
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.text.diffs import Versions, rewritten, versions
from eca_nvim.chat.text.safe_text import literal_name
from eca_nvim.chat.vocabulary.call_details import FileChange
from eca_nvim.chat.vocabulary.intents import RequestDiff
from eca_nvim.chat.vocabulary.ops import Notify, ShowDiff, ViewOp
from eca_nvim.chat.vocabulary.states import CallState
from eca_nvim.paths import why_strange
from eca_nvim.review.snapshots import Snapshot
from eca_nvim.review.text_changes import is_latin1, text_of
from eca_nvim.session.files.whole_writes import turned_ends

ReadSnapshot: TypeAlias = Callable[[str], Snapshot]
"""Takes a snapshot of a file as it is on disk."""

UNWRITTEN = "you have changes that are not written: the tool does not see them"
NOT_UTF8 = "not UTF-8: � is what the tool makes of it"
WRITTEN_WHOLE = "written whole: what was there before was not told"
NO_CHANGE = "no file change here"
_BYTE_ORDER_MARK = "\ufeff"


class NothingToShow(Exception):
    """Raised when there are no two texts to compare; says why in a line."""


class Files(Protocol):
    """Reads files the way the user sees them."""

    async def edited(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Give the texts of those files that the user has changed and not written, by path."""


class _Sides(Struct, frozen=True):
    """What a diff tab shows: of which file, which two texts, and what to say of them."""

    path: str
    shown: Versions
    remarks: Sequence[str] = ()


async def diff(
    chats: Callable[[str], Chat], wanted: RequestDiff, files: Files, read: ReadSnapshot
) -> ViewOp:
    """Build what the diff tab shows, or the line that says why there is nothing to show."""
    chat, block = _choose(chats, wanted)
    if block is None:
        return Notify("warn", NO_CHANGE)
    request = _request(chat, block)
    try:
        sides = _sides(block, chat.settings, read)
    except NothingToShow as reason:
        return Notify("warn", str(reason))
    unwritten = [UNWRITTEN] if await files.edited([sides.path]) else []
    return ShowDiff(
        chat=chat.id,
        id=f"call {block.id}",
        path=sides.path,
        before=sides.shown.before,
        after=sides.shown.after,
        kind=sides.shown.kind,
        request=request,
        fault=sides.shown.fault,
        remark="\n".join((*sides.remarks, *unwritten)) or None,
    )


def _choose(chats: Callable[[str], Chat], wanted: RequestDiff) -> tuple[Chat, ToolBlock | None]:
    """Take the call that is wanted, or the other one when it changes no file."""
    chat = chats(wanted.chat)
    block = _find(chat, wanted.block)
    if wanted.instead is None or (block is not None and _is_change(block)):
        return chat, block
    other = chats(wanted.instead[0])
    return other, _find(other, wanted.instead[1])


def _is_change(block: ToolBlock) -> bool:
    return isinstance(block.call.details, FileChange) or moved(block.call) is not None


def _find(chat: Chat, block_id: int) -> ToolBlock | None:
    block = chat.blocks.get(block_id)
    return block if isinstance(block, ToolBlock) else None


def _request(chat: Chat, block: ToolBlock) -> Mapping[str, object] | None:
    """Give what the user is asked for, if the call waits for approval."""
    request = chat.pending.get(block.id) if block.state is CallState.WAITING else None
    if request is None:
        return None
    return {"id": request.id, "block": block.id, "digest": request.digest}


def _sides(block: ToolBlock, settings: RenderSettings, read: ReadSnapshot) -> _Sides:
    applied = block.state is CallState.DONE and may_change(block.call)
    if isinstance(block.call.details, FileChange):
        _require_plain(block.call.details.path, settings)
        whole = whole_text(block.call)
        sides = _changed(block.call.details, read, applied=applied, whole=whole)
        return replace(sides, remarks=[*sides.remarks, *_of_whole(block, sides, whole)])
    if places := moved(block.call):
        for place in places:
            _require_plain(place, settings)
        return _moved(*places, settings, read, applied=applied)
    raise NothingToShow(NO_CHANGE)


def _of_whole(block: ToolBlock, sides: _Sides, whole: str | None) -> Sequence[str]:
    """Say what the two sides do not show of a file that is written whole."""
    if whole is None:
        return ()
    if block.replayed:
        return (WRITTEN_WHOLE,)
    return tuple(filter(None, [turned_ends(sides.shown.before, sides.shown.after)]))


def _require_plain(path: str, settings: RenderSettings) -> None:
    """Raise NothingToShow for a path that no file is opened by."""
    if fault := why_strange(path):
        raise NothingToShow(f"not shown, {fault}: {settings.relative(literal_name(path))}")


def _content(path: str, read: ReadSnapshot) -> bytes | None:
    """Read a file that is text; None when there is none. Raises NothingToShow."""
    name = literal_name(PurePath(path).name)
    snapshot = read(path)
    if snapshot.fault is not None:
        raise NothingToShow(f"cannot show {name}: {snapshot.fault}")
    content = None if snapshot.blob is None else snapshot.blob.read()
    if content is not None and text_of(content) is None:
        raise NothingToShow(f"{name} is binary: there is no diff to show")
    return content


def _changed(change: FileChange, read: ReadSnapshot, *, applied: bool, whole: str | None) -> _Sides:
    content = _content(change.path, read)
    text = None if content is None else content.decode(errors="replace")
    if whole is None or applied:
        shown = versions(text, change, applied=applied)
    else:
        shown = rewritten(text, whole)
    if shown.fault is not None and content is None:
        shown = replace(shown, fault=f"there is no such file; {shown.fault}")
    if content is None or not is_latin1(content):
        return _Sides(change.path, _without_mark(shown))
    there = content.decode("latin-1")
    shown = replace(shown, after=there) if applied else replace(shown, before=there)
    return _Sides(change.path, shown, [NOT_UTF8])


def _without_mark(shown: Versions) -> Versions:
    """Take out the byte order mark, as the editor does."""
    before, after = (it.removeprefix(_BYTE_ORDER_MARK) for it in (shown.before, shown.after))
    return replace(shown, before=before, after=after)


def _moved(
    source: str, destination: str, settings: RenderSettings, read: ReadSnapshot, *, applied: bool
) -> _Sides:
    path, other = (destination, source) if applied else (source, destination)
    content = _content(path, read)
    if content is None:
        raise NothingToShow(f"there is no {literal_name(path)}")
    text = text_of(content) or ""
    remark = f"{'moved from' if applied else 'moves to'} {settings.relative(literal_name(other))}"
    if not applied and not read(destination).is_absent:
        remark += ", where a file is already"
    return _Sides(path, Versions(text, text, "moved"), [remark])

"""What the diff tab shows of a call, for all kinds of files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from tests.support.calls import eca_call

from eca_nvim.chat.handlers.reducer import apply
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.vocabulary.call_details import Base, FileChange, ToolCall
from eca_nvim.chat.vocabulary.events import ToolFinished, ToolRequested
from eca_nvim.chat.vocabulary.intents import RequestDiff
from eca_nvim.chat.vocabulary.ops import Notify, ShowDiff, ViewOp
from eca_nvim.review.snapshots import Blobs, Snapshot, take_snapshot
from eca_nvim.session.proposals.diff_tab import NOT_UTF8, UNSAVED, diff

pytestmark = pytest.mark.anyio
HUNK = "@@ -1,2 +1,2 @@\n one\n-two\n+2"


class Files:
    """Knows what the user has not written."""

    def __init__(self, **unwritten: str) -> None:
        self.unwritten = unwritten

    async def unsaved(self, paths: Sequence[str]) -> Mapping[str, str]:
        found = {path: self.unwritten.get(Path(path).name) for path in paths}
        return {path: text for path, text in found.items() if text is not None}


def look(path: str) -> Snapshot:
    return take_snapshot(path, Blobs())


async def ask(call: ToolCall, *, done: bool = False, files: Files | None = None) -> ViewOp:
    chat = Chat("a", RenderSettings())
    apply(chat, ToolRequested(call, needs_approval=True), 0)
    if done:
        apply(chat, ToolFinished(call), 0)
    return await diff({"a": chat}.__getitem__, RequestDiff("a", 1), files or Files(), look)


async def shown(
    path: Path, hunks: str = HUNK, *, done: bool = False, files: Files | None = None
) -> ShowDiff:
    change = FileChange(str(path), hunks, 1, 1)
    op = await ask(eca_call("c", "edit_file", details=change), done=done, files=files)
    assert isinstance(op, ShowDiff)
    return op


async def test_the_file_on_disk_is_what_the_tool_will_change(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("one\ntwo\n")
    before = await shown(file)
    assert before.request is not None
    assert (before.before, before.after, before.remark) == ("one\ntwo\n", "one\n2\n", None)
    assert (before.kind, before.path) == ("changed", str(file))
    edited = await shown(file, files=Files(f="mine"))
    assert (edited.before, edited.remark) == ("one\ntwo\n", UNSAVED)
    file.write_text("one\n2\n")
    made = await shown(file, done=True)
    assert (made.before, made.after, made.request) == ("one\ntwo\n", "one\n2\n", None)


@pytest.mark.parametrize("done", [False, True])
@pytest.mark.parametrize("placed", [False, True])
@pytest.mark.parametrize(
    ("base", "old", "new", "sides"),
    [
        (Base.DISK, "two\n", "2\n", ("one\ntwo\n", "one\n2\n")),
        (Base.EDITOR, "two\n", "2\n", ("one\ntwo\nmine\n", "one\n2\nmine\n")),
        (Base.EDITOR, "mine\n", "yours\n", ("one\ntwo\nmine\n", "one\ntwo\nyours\n")),
        (Base.EDITOR, None, "2\n", ("one\ntwo\nmine\n", "2\n")),
        (Base.OLD, "one\n", "2\n", ("one\n", "2\n")),
    ],
)
async def test_the_base_is_what_the_agent_has_read(
    base: Base,
    old: str | None,
    new: str,
    sides: tuple[str, str],
    placed: bool,
    done: bool,
    tmp_path: Path,
) -> None:
    file = tmp_path / "f"
    file.write_text("one\ntwo\n")
    change = FileChange(str(file), HUNK, 1, 1, old, new, base=base, placed=placed)
    op = await ask(ToolCall("c", changes=(change,)), done=done, files=Files(f="one\ntwo\nmine\n"))
    assert isinstance(op, ShowDiff)
    assert op.remark == (UNSAVED if base is Base.DISK else None)
    if not done and (placed or base is not Base.DISK):
        assert (op.before, op.after, op.fault) == (*sides, None)


async def test_a_text_that_the_editor_has_no_longer_does_not_apply(tmp_path: Path) -> None:
    change = FileChange(str(tmp_path / "f"), HUNK, 1, 1, "gone", "2", base=Base.EDITOR)
    op = await ask(ToolCall("c", changes=(change,)), files=Files(f="mine\n"))
    assert isinstance(op, ShowDiff)
    assert (op.before, op.fault) == ("mine\n", "hunk 1 (line 1) does not fit the file")


async def test_a_preview_that_is_done_has_changed_nothing(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("one\ntwo\n")
    change = FileChange(str(file), HUNK, 1, 1)
    op = await ask(eca_call("c", "preview_file_change", details=change), done=True)
    assert isinstance(op, ShowDiff)
    assert (op.before, op.after, op.fault) == ("one\ntwo\n", "one\n2\n", None)


@pytest.mark.parametrize(
    ("content", "before", "after"),
    [
        (b"one\r\ntwo\r\n", "one\r\ntwo\r\n", "one\r\n2\r\n"),
        (b"one\ntwo", "one\ntwo", "one\n2"),
        (b"\xef\xbb\xbfzero\none\ntwo\n", "zero\none\ntwo\n", "zero\none\n2\n"),
    ],
)
async def test_line_ends_and_marks_stay(
    tmp_path: Path, content: bytes, before: str, after: str
) -> None:
    file = tmp_path / "f"
    file.write_bytes(content)
    op = await shown(file)
    assert (op.before, op.after, op.fault) == (before, after, None)


async def test_what_is_not_utf8_shows_what_the_tool_makes_of_it(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"caf\xe9\none\ntwo\n")
    op = await shown(file)
    assert (op.before, op.after) == ("café\none\ntwo\n", "caf�\none\n2\n")
    assert op.remark == NOT_UTF8


async def test_what_does_not_apply_says_why(tmp_path: Path) -> None:
    file = tmp_path / "f"
    missing = await shown(file)
    assert missing.fault is not None
    assert missing.fault.startswith("there is no such file; hunk 1")
    file.write_text("other\n")
    other = await shown(file)
    assert (other.before, other.after) == ("other\n", HUNK)
    assert other.fault == "hunk 1 (line 1) does not fit the file"


async def test_new_and_emptied_files(tmp_path: Path) -> None:
    file = tmp_path / "f"
    op = await ask(
        eca_call("c", details=FileChange(str(file), "@@ -1,1 +1,2 @@\n-\n+one\n+two", 2, 0))
    )
    assert isinstance(op, ShowDiff)
    assert (op.before, op.after, op.kind) == ("", "one\ntwo\n", "new")
    file.write_text("one\n")
    gone = await shown(file, "@@ -1,1 +0,0 @@\n-one")
    assert (gone.before, gone.after, gone.kind) == ("one\n", "", "deleted")


def move(source: Path, destination: Path) -> ToolCall:
    places = {"source": str(source), "destination": str(destination)}
    return eca_call("c", "move_file", arguments=places)


async def test_a_move_shows_the_file_and_where_it_goes(tmp_path: Path) -> None:
    source, destination = tmp_path / "a", tmp_path / "b"
    source.write_text("one\n")
    op = await ask(move(source, destination))
    assert isinstance(op, ShowDiff)
    assert (op.path, op.before, op.after, op.kind) == (str(source), "one\n", "one\n", "moved")
    assert op.remark == f"moves to {destination}"


async def test_a_move_says_what_would_be_lost_and_where_it_came_from(tmp_path: Path) -> None:
    source, destination = tmp_path / "a", tmp_path / "b"
    source.write_text("one\n")
    destination.write_text("other\n")
    op = await ask(move(source, destination))
    assert isinstance(op, ShowDiff)
    assert op.remark == f"moves to {destination}, which exists already"
    made = await ask(move(source, destination), done=True)
    assert isinstance(made, ShowDiff)
    assert (made.path, made.remark) == (str(destination), f"moved from {source}")
    source.unlink()
    assert await ask(move(source, destination)) == Notify("warn", f"there is no file {source}")


async def test_what_has_no_text_has_no_diff(tmp_path: Path) -> None:
    binary = tmp_path / "b.bin"
    binary.write_bytes(b"one\0two")
    change = eca_call("c", details=FileChange(str(binary), HUNK, 1, 1))
    assert await ask(change) == Notify("warn", "b.bin is binary: there is no diff to show")
    folder = eca_call("c", details=FileChange(str(tmp_path), HUNK, 1, 1))
    assert await ask(folder) == Notify(
        "warn", f"cannot show {tmp_path.name}: it is not a regular file"
    )
    relative = eca_call("c", details=FileChange("x/f", HUNK, 1, 1))
    assert await ask(relative) == Notify("warn", "not shown, an absolute path is needed: x/f")
    assert await ask(eca_call("c", "grep")) == Notify("warn", "no file change here")


async def test_a_large_file_is_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("".join(f"line {number}\n" for number in range(10_000)))
    op = await shown(file, "@@ -9999,1 +9999,1 @@\n-line 9998\n+changed")
    assert op.after.split("\n")[9998] == "changed"


async def test_where_a_call_changes_nothing_the_other_one_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("one\ntwo\n")
    here, there = Chat("a", RenderSettings()), Chat("b", RenderSettings())
    reads = eca_call("r", "read_file", arguments={"path": str(file)})
    change = eca_call("c", "edit_file", details=FileChange(str(file), HUNK, 1, 1))
    apply(here, ToolRequested(reads, needs_approval=True), 0)
    apply(there, ToolRequested(change, needs_approval=True), 0)
    chats = {"a": here, "b": there}.__getitem__

    async def ask_for(chat: str, instead: tuple[str, int] | None) -> ViewOp:
        return await diff(chats, RequestDiff(chat, 1, instead), Files(), look)

    op = await ask_for("a", ("b", 1))
    assert isinstance(op, ShowDiff)
    assert op.chat == "b"
    own = await ask_for("b", ("a", 1))
    assert isinstance(own, ShowDiff)
    assert own.chat == "b"
    assert await ask_for("a", None) == Notify("warn", "no file change here")
    assert await ask_for("a", ("a", 1)) == Notify("warn", "no file change here")


async def test_each_file_of_a_call_is_shown_and_after_the_last_one_the_first(
    tmp_path: Path,
) -> None:
    files = [tmp_path / name for name in ("a", "b", "c")]
    for file in files:
        file.write_text(f"one\ntwo\n{file.name}\n")
    files[1].write_bytes(b"one\0two")
    changes = tuple(FileChange(str(file), HUNK, 1, 1) for file in files)
    chat = Chat("a", RenderSettings())
    apply(chat, ToolRequested(ToolCall("c", changes=changes), needs_approval=True), 0)

    async def shown_at(place: int) -> ShowDiff:
        wanted = RequestDiff("a", 1, file=place)
        op = await diff({"a": chat}.__getitem__, wanted, Files(), look)
        assert isinstance(op, ShowDiff)
        return op

    first = await shown_at(0)
    assert (first.path, first.after, first.remark) == (str(files[0]), "one\n2\na\n", None)
    assert first.file == {"block": 1, "place": 0, "count": 3}
    assert first.request is not None
    third = await shown_at(1)
    assert third.file == {"block": 1, "place": 2, "count": 3}
    assert (third.path, third.remark) == (str(files[2]), "b is binary: there is no diff to show")
    assert (await shown_at(3)).path == str(files[0])
    assert (await shown_at(2)).id == first.id

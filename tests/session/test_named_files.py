"""Paths that prompts, messages and commands name count if they are files."""

import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import anyio
import pytest
from tests.session.rig import Rig

from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.call_details import (
    FileNamed,
    FileUsed,
    Location,
    SetUsedFiles,
    ToolCall,
    ToolKind,
    Use,
)
from eca_nvim.chat.vocabulary.effects import FindFiles
from eca_nvim.chat.vocabulary.events import ToolFinished
from eca_nvim.chat.vocabulary.turn_events import TurnBegan
from eca_nvim.session.proposals import call_warnings
from eca_nvim.session.proposals.call_warnings import NamedFiles

pytestmark = pytest.mark.anyio


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    """Run a session in a folder with files of some kinds."""
    for name in ("a", "b c", "src/d"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("text")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "endless").symlink_to("/dev/zero")
    rig = Rig(folders=(str(tmp_path),))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rig.session.run)
        yield rig
        tasks.cancel_scope.cancel()
    rig.session.kill()


def used(rig: Rig) -> dict[str, tuple[str, ...]]:
    """Return the names of the files that the view knows, and how they were used."""
    files = {it["path"]: it for op in rig.view.of(SetUsedFiles) for it in op.files}
    return {Path(path).name: tuple(set(it) & set(Use)) for path, it in files.items()}


async def test_only_files_count(rig: Rig, tmp_path: Path) -> None:
    agent = await rig.ready()
    rig.do(intents.SendPrompt("a", "hi", contexts=[{"type": "mention", "path": f"{tmp_path}/a"}]))
    await rig.view.until(lambda: "a" in used(rig))
    line = "cat 'b c' src src/d pipe endless missing /etc/passwd ../x"
    command = ToolCall("t", kind=ToolKind.EXECUTE, command=line)
    agent.say("a", TurnBegan(), ToolFinished(command), FileNamed(str(tmp_path)))
    search = ToolCall("s", kind=ToolKind.SEARCH, locations=(Location(str(tmp_path / "src/d")),))
    agent.say("a", ToolFinished(search))
    await rig.view.until(lambda: len(used(rig).get("d", ())) == 2)
    assert used(rig) == {"a": ("mentioned",), "b c": ("run",), "d": used(rig)["d"]}
    assert set(used(rig)["d"]) == {"run", "read"}


async def test_too_many_are_not_counted(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    monkeypatch.setattr(call_warnings, "MOST_WAITING", 2)
    (tmp_path / "a").write_text("")
    found: list[str] = []
    done = anyio.Event()

    def note(chat: str, files: object) -> None:
        assert files == [FileUsed(str(tmp_path / "a"), Use.MENTIONED)]
        found.append(chat)
        if len(found) == 2:
            done.set()

    files = NamedFiles(note)
    for chat in ("one", "two", "three"):
        files.request(FindFiles(chat, (FileNamed(str(tmp_path / "a")),)))
    assert "too many files to look for" in caplog.text
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(files.run)
        await done.wait()
        tasks.cancel_scope.cancel()
    assert found == ["one", "two"]


async def test_what_waits_is_looked_for_together(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text("")
    found: list[tuple[str, list[str]]] = []
    done = anyio.Event()

    def note(chat: str, files: Sequence[FileUsed]) -> None:
        found.append((chat, [Path(it.path).name for it in files]))
        if chat == "last":
            done.set()

    files = NamedFiles(note)
    for chat, *names in (("one", "a"), ("two", "b", "c"), ("one", "b"), ("none", "c")):
        named = (FileNamed(str(tmp_path / name)) for name in names)
        files.request(FindFiles(chat, tuple(named)))
    for chat in ("one",) * call_warnings.MOST_TOGETHER + ("last",):
        files.request(FindFiles(chat, (FileNamed(str(tmp_path / "a")),)))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(files.run)
        await done.wait()
        tasks.cancel_scope.cancel()
    before = call_warnings.MOST_TOGETHER - 4
    assert found == [
        ("one", ["a", "b", *"a" * before]),
        ("two", ["b"]),
        ("one", ["a"] * 4),
        ("last", ["a"]),
    ]

"""Contexts from other plugins, checked before they are sent."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from tests.session.rig import Recorder

from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.vocabulary.contexts import DirectoryContext, FileContext, TextContext
from eca_nvim.chat.vocabulary.ops import Notify
from eca_nvim.chat.vocabulary.query_intents import CheckContext, MeasureContexts
from eca_nvim.session.requests.contexts import Contexts

pytestmark = pytest.mark.anyio


class Desk:
    """A folder with files, some of them changed in the editor and not written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.unwritten: dict[str, str] = {}
        self.view = Recorder()
        self.chats: dict[str, Chat] = {}
        settings = RenderSettings(folders=(str(folder),))
        self.contexts = Contexts(settings, self, self.view, self.chats)

    async def unsaved(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Read what the user has not written (`session.Files`)."""
        return {path: text for path, text in self.unwritten.items() if path in paths}

    async def check(self, **item: object) -> object:
        return await self.contexts.check(CheckContext(item, 1))

    async def check_file(self, name: str, **lines: int) -> object:
        return await self.check(type="file", path=str(self.folder / name), **lines)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "code").write_text("1\n2\n3\n4")
    (tmp_path / "notes").mkdir()
    return Desk(tmp_path)


def lines(first: int | None = None, last: int | None = None) -> Mapping[str, int | None]:
    return {"first": first, "last": last}


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (lines(), lines()),
        (lines(3), lines(3)),
        (lines(None, 2), lines(None, 2)),
        (lines(3, 2), lines(2, 3)),
        (lines(2, 99), lines(2, 4)),
        (lines(None, 99), lines(None, 4)),
        (lines(5), {"fault": "code has no line 5, its last one is 4"}),
        (lines(20, 30), {"fault": "code has no line 20, its last one is 4"}),
        (lines(0), {"fault": "first is a line, counted from 1, not 0"}),
    ],
)
async def test_lines_are_in_order_and_end_where_the_file_does(
    desk: Desk, asked: Mapping[str, int | None], answer: object
) -> None:
    given = {key: line for key, line in asked.items() if line is not None}
    assert await desk.check_file("code", **given) == answer


@pytest.mark.parametrize(("text", "last"), [("more\n" * 24, 24), ("more\n" * 2, 4)])
async def test_lines_that_are_only_in_the_editor_are_there(
    desk: Desk, text: str, last: int
) -> None:
    desk.unwritten[str(desk.folder / "code")] = text
    assert await desk.check_file("code", first=2, last=30) == lines(2, last)


@pytest.mark.parametrize(
    ("kind", "name", "fault"),
    [
        ("file", "gone", "not found: gone"),
        ("file", "x" * 300, f"not found: {'x' * 300}"),
        ("file", "notes", "notes is a folder: use the type 'directory'"),
        ("directory", "code", "code is a file: use the type 'file'"),
        ("file", "a\n\u202eb", "not found: a␤<U+202E>b"),
    ],
)
async def test_what_is_not_there_is_told_with_its_name(
    desk: Desk, kind: str, name: str, fault: str
) -> None:
    answer = await desk.check(type=kind, path=str(desk.folder / name))
    assert answer == {"fault": fault}


async def test_what_is_no_ordinary_file_is_not_opened(desk: Desk) -> None:
    os.mkfifo(desk.folder / "pipe")
    assert await desk.check_file("pipe") == lines()
    answer = await desk.check_file("pipe", first=1)
    assert answer == {"fault": "pipe cannot be read: it is not a regular file"}


async def test_a_buffer_and_a_page_are_looked_at_without_the_disk(desk: Desk) -> None:
    assert await desk.check(type="web", url="https://neovim.io") == lines()
    assert await desk.check(type="buffer", buf=7, count=4, first=4) == lines()
    answer = await desk.check(type="buffer", buf=7, count=4, first=5)
    assert answer == {"fault": "buffer 7 has no line 5, its last one is 4"}


async def test_a_prompt_takes_what_is_right_and_the_rest_is_told(desk: Desk) -> None:
    code, notes = str(desk.folder / "code"), str(desk.folder / "notes")
    items = [
        {"type": "file", "path": code, "first": 3, "last": 2},
        {"type": "file", "path": notes},
        {"type": "flie"},
        {"type": "directory", "path": notes},
        {"type": "buffer", "buf": 7, "count": 1, "label": "buffer 7", "content": "typed"},
    ]
    assert list(desk.contexts.read(items)) == [
        FileContext(code, 2, 3),
        DirectoryContext(notes),
        TextContext("buffer 7", "typed"),
    ]
    assert [told.text for told in desk.view.of(Notify)] == [
        "context not sent: notes is a folder: use the type 'directory'",
        'context not sent: no such type: "flie", see :help eca-context-tables',
    ]


async def test_folders_are_measured(desk: Desk) -> None:
    (desk.folder / "notes/a").write_text("12345")
    (desk.folder / "notes/.hidden").write_text("12345")
    (desk.folder / "large").mkdir()
    (desk.folder / "large/a").write_bytes(b"x" * 1_000_001)
    (desk.folder / "empty").mkdir()
    items: list[object] = [
        {"type": "directory", "path": str(desk.folder / name)}
        for name in ("notes", "large", "empty", "gone")
    ]
    items += [{"type": "diff", "folder": str(desk.folder)}, {"type": "directory"}, None]
    measured = await desk.contexts.measure(MeasureContexts(items, 1))
    assert measured == [5, False, 0, 0, False, False, False]

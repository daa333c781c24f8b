"""Files that are sent with a prompt, as they are at that moment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from eca_nvim.agents import attached_files
from eca_nvim.agents.attached_files import Fitted, fit, state
from eca_nvim.chat.vocabulary.contexts import (
    Context,
    DirectoryContext,
    FileContext,
    ImageContext,
    PathMention,
    TextContext,
)


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Make a file of three lines, and two empty ones that the server does not count."""
    file = tmp_path / "a.txt"
    file.write_bytes(b"one\r\n\r\nthree\n\n\r\n")
    return str(file)


@pytest.mark.parametrize(
    ("wanted", "got"),
    [
        ((2, 3), (2, 3)),
        ((3, 3), (3, 3)),
        ((1, 99), (1, 3)),
        ((3, 4), (3, 3)),
        ((2, None), (2, 3)),
        ((None, 2), (1, 2)),
        ((None, None), (None, None)),
    ],
)
def test_lines_are_those_a_file_has(
    path: str, wanted: tuple[int | None, int | None], got: tuple[int | None, int | None]
) -> None:
    assert fit(FileContext(path, *wanted)) == Fitted(FileContext(path, *got))


@pytest.mark.parametrize("first", [4, 5, 6, 100])
def test_lines_past_the_end_are_left_out_and_told(path: str, first: int) -> None:
    line = f"context not sent: {path} has no line {first}"
    assert fit(FileContext(path, first, first + 1)) == Fitted(None, line)


def test_what_is_no_file_is_left_to_the_server(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    odd = [FileContext(it, 2, 3) for it in ("/is/not/there", str(tmp_path), str(pipe), "/a\0b")]
    assert list(map(fit, odd)) == list(map(Fitted, odd))
    assert [state(it) for it in odd] == [None] * 4


def test_a_file_that_cannot_be_read_is_left_to_the_server(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "open", refuse)
    assert fit(FileContext(path, 1, 2)) == Fitted(FileContext(path, 1, 2))


def test_a_file_has_another_state_once_it_changed(path: str) -> None:
    before = state(FileContext(path)), state(FileContext(path, 1, 2))
    Path(path).write_text("one\n\nthree and more\n")
    assert state(FileContext(path)) != before[0]
    assert state(FileContext(path, 1, 2)) == before[1]


def only_name(context: Context) -> str:
    """Check that only the name of a context is sent, and return what is said about it."""
    fitted = fit(context)
    assert isinstance(fitted.context, TextContext)
    assert isinstance(context, FileContext | DirectoryContext | ImageContext)
    assert (fitted.context.label, fitted.context.token) == (context.path, context.token)
    assert "use your tools" in fitted.context.content
    assert fitted.message is not None
    assert "\n" not in fitted.message
    return fitted.message.removeprefix(f"only the name is sent: {context.token or context.path} ")


def test_large_files_are_sent_by_their_names(tmp_path: Path) -> None:
    log = tmp_path / "big.log"
    log.write_bytes(b"line\n" * 1_000_000)
    assert only_name(FileContext(str(log), token="@big.log")) == "is larger than 1 MB"
    assert fit(FileContext(str(log), 900_000, 900_001)).message is None
    cut = fit(FileContext(str(log), 2))
    assert isinstance(cut.context, FileContext)
    assert cut.context.last == 200_001
    with log.open("r+b") as file:
        file.truncate(50_000_001)
    assert only_name(FileContext(str(log), 1, 2)) == "is larger than 50 MB"
    assert cut.message == f"only lines 2-200001 are sent, 1 MB of {log}"


def test_files_that_are_no_text_are_sent_by_their_names(tmp_path: Path) -> None:
    program, line = tmp_path / "prog", tmp_path / "min.js"
    program.write_bytes(b"\x7fELF\0\0")
    line.write_text("x" * 3_000_000)
    assert only_name(FileContext(str(program))) == "is not a text"
    assert only_name(FileContext(str(line), 1, 1)) == "has more than 1 MB in line 1"


def test_large_folders_are_sent_by_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The walk stops early: what it has seen is bounded, whatever the folder has."""
    monkeypatch.setattr(attached_files, "MOST_FILES", 20)
    many, deep, heavy, fine = (tmp_path / it for it in ("many", "deep", "heavy", "fine"))
    for folder in (many, heavy, fine):
        folder.mkdir()
    for number in range(500):
        (many / str(number)).touch()
    deep.joinpath(*"abc").mkdir(parents=True)
    for number in range(30):
        (deep / "a" / "b" / "c" / str(number)).touch()
    (heavy / "core").write_bytes(b"\0" * 1_000_001)
    (fine / "a.py").write_text("x")
    (fine / ".git").mkdir()
    (fine / ".git" / "pack").write_bytes(b"\0" * 1_000_001)
    (fine / "loop").symlink_to(many)
    for folder in (many, deep, heavy):
        assert only_name(DirectoryContext(str(folder), "@it/")) == "is too large a folder"
    assert fit(DirectoryContext(str(fine))) == Fitted(DirectoryContext(str(fine)))


def test_pictures_are_sent_up_to_a_size(tmp_path: Path) -> None:
    picture = tmp_path / "shot.png"
    picture.write_bytes(b"\x89PNG\0")
    assert fit(ImageContext(str(picture))) == Fitted(ImageContext(str(picture)))
    with picture.open("r+b") as file:
        file.truncate(20_000_001)
    assert only_name(ImageContext(str(picture))) == "is larger than 20 MB"


def test_other_contexts_stay_as_they_are() -> None:
    for context in (TextContext("a", "b"), PathMention("/a")):
        assert fit(context) == Fitted(context)

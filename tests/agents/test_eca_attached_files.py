"""Files that are sent with a prompt, as they are at that moment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from eca_nvim.agents.eca.prompt.attached_files import fit_lines, is_image, state
from eca_nvim.chat.vocabulary.contexts import DirectoryContext, FileContext


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
    assert fit_lines([FileContext(path, *wanted)]) == ((FileContext(path, *got),), ())


@pytest.mark.parametrize("first", [4, 5, 6, 100])
def test_lines_past_the_end_are_left_out_and_told(path: str, first: int) -> None:
    folder = DirectoryContext("/d")
    fitted, missing = fit_lines([FileContext(path, first, first + 1), folder])
    assert fitted == (folder,)
    assert missing == (f"context not sent: {path} has no line {first}",)


def test_what_is_no_file_is_left_to_the_server(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    odd = [FileContext(it, 2, 3) for it in ("/is/not/there", str(tmp_path), str(pipe), "/a\0b")]
    assert fit_lines(odd) == (tuple(odd), ())
    assert [state(it) for it in odd] == [None] * 4


def test_a_file_that_cannot_be_read_is_left_to_the_server(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "open", refuse)
    assert fit_lines([FileContext(path, 1, 2)]) == ((FileContext(path, 1, 2),), ())


def test_a_file_has_another_state_once_it_changed(path: str) -> None:
    before = state(FileContext(path)), state(FileContext(path, 1, 2))
    Path(path).write_text("one\n\nthree and more\n")
    assert state(FileContext(path)) != before[0]
    assert state(FileContext(path, 1, 2)) == before[1]


def test_pictures_are_told_by_their_names() -> None:
    assert is_image(FileContext("/a/b.PNG"))
    assert not is_image(FileContext("/a/png"))
    assert not is_image(DirectoryContext("/a.png"))

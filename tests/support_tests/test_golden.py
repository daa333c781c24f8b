"""Golden files: what is replaced, what differs, what is written."""

from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.golden import assert_golden, assert_screen_golden, normalise


@pytest.fixture(autouse=True)
def compare_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UPDATE_GOLDEN", raising=False)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("thought 4s", "thought <time>"),
        ("● running 1m 12s · x", "● running <time> · x"),
        ("took 77 ms", "took <time>"),
        ("id 7b11f442-d162-492e-81fb-3fe5b1386e98.", "id <uuid>."),
        ("/tmp/pytest-of-me/pytest-3/test_a0/workspace/src/x.py", "<workspace>/src/x.py"),
        ("/tmp/pytest-of-me/pytest-3/test_a0/nvim1", "<tmp>/nvim1"),
        ("│ 12s      │", "│ <time>  │"),
        ("kept    as is  ", "kept    as is"),
        ("34k/200k · $0.09", "34k/200k · $0.09"),
    ],
)
def test_only_what_differs_from_run_to_run_is_replaced(line: str, expected: str) -> None:
    assert normalise(line) == expected + "\n"


def test_equal_text_passes(tmp_path: Path) -> None:
    path = tmp_path / "golden.txt"
    path.write_text("one\nthought <time>\n")
    assert_golden("one  \nthought 9s\n\n", path)


def test_a_difference_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "golden.txt"
    path.write_text("one\ntwo\n")
    with pytest.raises(AssertionError, match=r"(?s)-two\n\+three\n.*UPDATE_GOLDEN=1"):
        assert_golden("one\nthree", path)


def test_a_missing_file_is_told_with_the_text(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"(?s)no golden file .*The text is:\nhello"):
        assert_golden("hello", tmp_path / "absent.txt")


def test_files_are_written_when_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UPDATE_GOLDEN", "1")
    path = tmp_path / "folder" / "golden.txt"
    assert_golden("thought 9s", path)
    assert path.read_text() == "thought <time>\n"


def test_a_screen_is_waited_for(nvim: Neovim, tmp_path: Path) -> None:
    path = tmp_path / "screen.txt"
    nvim.lua("vim.defer_fn(function() vim.fn.setline(2, 'late') vim.cmd('redraw!') end, 30)")
    nvim.lua("vim.o.laststatus = 0 vim.o.ruler = false")
    path.write_text("\n".join(["", "late", *["~"] * 21]) + "\n")
    assert_screen_golden(nvim, path)


def test_a_screen_that_differs_is_shown(nvim: Neovim, tmp_path: Path) -> None:
    path = tmp_path / "screen.txt"
    path.write_text("something else\n")
    with pytest.raises(AssertionError, match=r"(?s)-something else.*100x24, normal mode"):
        assert_screen_golden(nvim, path, timeout=0.1)


def test_a_screen_is_written_when_it_has_settled(
    nvim: Neovim, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UPDATE_GOLDEN", "1")
    monkeypatch.setattr("tests.support.golden.QUIET", 2.0)
    path = tmp_path / "screen.txt"
    nvim.lua("vim.defer_fn(function() vim.fn.setline(1, 'settled') vim.cmd('redraw') end, 100)")
    assert_screen_golden(nvim, path)
    assert path.read_text().startswith("settled\n")

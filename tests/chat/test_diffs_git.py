"""Which changes apply, compared with `git apply`.

We are as strict as git is with `--unidiff-zero`, by which a hunk may be found anywhere, but

- laxer about line ends: carriage returns, and a line feed at the file's end, do not count;
- stricter about places: hunks stay in their order, what has no context stays at its line, and
  what follows the last hunk belongs to it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.chat.test_diffs import SLOW, git

from eca_nvim.chat.text.diffs import DoesNotApply, MalformedDiff, apply_hunks, parse_hunks

Lines = list[str]


@st.composite
def edited(draw: st.DrawFn, lines: Lines, mark: str, most: int = 4) -> Lines:
    """Return lines with some replaced, removed or put in between; new ones are like no other."""
    later = [*lines]
    for turn in range(draw(st.integers(0, most))):
        at = draw(st.integers(0, len(later)))
        added = [f"{mark} {turn} {number}" for number in range(draw(st.integers(0, 2)))]
        later[at : at + draw(st.integers(0, 2))] = added
    return later


@st.composite
def histories(draw: st.DrawFn) -> tuple[Lines, Lines, Lines]:
    """Return a file, its content after a change, and its content by then."""
    lines = [f"line {number}" for number in range(draw(st.integers(1, 25)))]
    return lines, draw(edited(lines, "ours")), draw(edited(lines, "theirs"))


def text(lines: Lines) -> str:
    return "".join(f"{line}\n" for line in lines)


def made(folder: Path, before: str, after: str, context: int) -> str:
    """Return the diff that git makes of a file `f`."""
    (folder / "f").write_bytes(before.encode())
    (folder / "g").write_bytes(after.encode())
    ran = git(folder, "diff", "--no-index", f"-U{context}", "f", "g")
    return ran.stdout.decode().replace("b/g", "b/f")


def by_git(folder: Path, now: str, diff: str, *options: str) -> str | None:
    """Return what git makes of a file; None when it refuses."""
    (folder / "f").write_bytes(now.encode())
    ran = git(folder, "apply", *options, "-", text=diff)
    return (folder / "f").read_bytes().decode() if ran.returncode == 0 else None


def by_us(now: str, diff: str) -> str | None:
    """Return what we make of a file; None when we refuse."""
    try:
        return apply_hunks(now, parse_hunks(diff))
    except (MalformedDiff, DoesNotApply):
        return None


@given(histories(), st.integers(1, 3))
@SLOW
def test_git_refuses_what_we_refuse(
    tmp_path: Path, history: tuple[Lines, Lines, Lines], context: int
) -> None:
    before, after, now = map(text, history)
    assume(before != after)
    diff = made(tmp_path, before, after, context)
    assert by_us(now, diff) == by_git(tmp_path, now, diff, "--unidiff-zero")


@given(histories(), st.integers(1, 3), st.data())
@SLOW
def test_a_damaged_diff_that_git_refuses_is_refused(
    tmp_path: Path, history: tuple[Lines, Lines, Lines], context: int, data: st.DataObject
) -> None:
    before, after, _ = map(text, history)
    assume(before != after)
    diff = made(tmp_path, before, after, context).split("\n")
    first = next(row for row, line in enumerate(diff) if line.startswith("@@"))
    at = data.draw(st.integers(first, len(diff) - 2))
    new = data.draw(st.sampled_from([[], [" x"], ["+x"], ["-x"], ["@@"], ["x"], [diff[at]] * 2]))
    damaged = "\n".join([*diff[:at], *new, *diff[at + 1 :]])
    if by_git(tmp_path, before, damaged, "--unidiff-zero") is None:
        assert by_us(before, damaged) is None


def test_lines_that_have_lost_their_hunk_are_not_passed_over() -> None:
    with pytest.raises(MalformedDiff, match="before its first"):
        parse_hunks("--- a/f\n+++ b/f\n-gone\n@@ -2 +1,2 @@\n b\n+c\n")


MOVED = ("a\nb\nc\n", "A\nb\nc\n", "above\na\nb\nc\n", "above\nA\nb\nc\n")
GROWN = ("a\nb\nc\n", "a\nb\nC\n", "a\nb\nc\nbelow\n", "a\nb\nC\nbelow\n")
RETURNS = ("a\nb\nc\n", "a\nB\nc\n", "a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\n")
CUT = ("a\nb\nc\n", "a\nB\nc\n", "a\nb\nc", "a\nB\nc")


@pytest.mark.parametrize(
    ("history", "options"),
    [(MOVED, ()), (GROWN, ()), (RETURNS, ("--unidiff-zero",)), (CUT, ("--unidiff-zero",))],
    ids=["moved", "grown", "returns", "cut"],
)
def test_where_we_are_laxer_than_git(
    tmp_path: Path, history: tuple[str, str, str, str], options: tuple[str, ...]
) -> None:
    before, after, now, then = history
    diff = made(tmp_path, before, after, 2)
    assert by_git(tmp_path, now, diff, *options) is None
    assert by_us(now, diff) == then


SWAPPED = "@@ -1,2 +1,2 @@\n a\n-b\n+B\n@@ -5,2 +5,2 @@\n x\n-y\n+Y\n"
BEYOND = "@@ -9,0 +10,1 @@\n+new\n"
AFTERWARDS = "@@ -1,2 +1,2 @@\n a\n-b\n+B\n+not counted\n"


@pytest.mark.parametrize(
    ("diff", "now", "git_makes"),
    [
        (SWAPPED, "x\ny\na\nb\n", "x\nY\na\nB\n"),
        (BEYOND, "a\nb\n", "a\nb\nnew\n"),
        (AFTERWARDS, "a\nb\n", "a\nB\n"),
    ],
    ids=["swapped", "beyond", "afterwards"],
)
def test_where_we_are_stricter_than_git(
    tmp_path: Path, diff: str, now: str, git_makes: str
) -> None:
    whole = f"--- a/f\n+++ b/f\n{diff}"
    assert by_git(tmp_path, now, whole, "--unidiff-zero") == git_makes
    assert by_us(now, diff) is None

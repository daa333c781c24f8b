"""Diffs: read, applied, reversed, and compared with git."""

from __future__ import annotations

import difflib
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from eca_nvim.chat.text.diffs import (
    DoesNotApply,
    MalformedDiff,
    apply_hunks,
    change_hunks,
    parse_hunks,
    reverse_hunks,
    versions,
)
from eca_nvim.chat.text.text_differences import added_lines
from eca_nvim.chat.vocabulary.call_details import FileChange

BEFORE = "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n"
EDIT = (
    "@@ -1,5 +1,6 @@\n def add(a, b):\n-    return a + b\n+    return a + b  # edited\n"
    "+    # second\n \n \n def sub(a, b):"
)
AFTER = BEFORE.replace("return a + b", "return a + b  # edited\n    # second")
NEW = "@@ -1,1 +1,2 @@\n-\n+hello\n+world"

FILES = st.lists(st.sampled_from(["a", "b", "c", "", "  x", "-d", "+e", "@@", "\\ f"]), max_size=12)


def test_an_edit_is_applied_and_taken_back_47() -> None:
    hunks = parse_hunks(EDIT)
    assert apply_hunks(BEFORE, hunks) == AFTER
    assert apply_hunks(AFTER, reverse_hunks(hunks)) == BEFORE


def test_a_diff_that_is_told_again_is_not_read_again() -> None:
    told_again = EDIT.encode().decode()
    assert parse_hunks(told_again) is parse_hunks(EDIT)


def test_a_file_that_has_moved_on_still_takes_the_hunk() -> None:
    shifted = "# one\n# two\n# three\n" + BEFORE
    assert apply_hunks(shifted, parse_hunks(EDIT)) == "# one\n# two\n# three\n" + AFTER
    assert apply_hunks(AFTER, reverse_hunks(parse_hunks(EDIT))) == BEFORE


def test_the_nearest_place_wins() -> None:
    text = "x\na\nx\nx\na\nx\n"
    hunk = parse_hunks("@@ -4,3 +4,3 @@\n x\n-a\n+b\n x")
    assert apply_hunks(text, hunk) == "x\na\nx\nx\nb\nx\n"


def test_what_does_not_fit_names_the_hunk() -> None:
    with pytest.raises(DoesNotApply, match=r"hunk 1 \(line 1\)"):
        apply_hunks("something else\n", parse_hunks(EDIT))
    two = "@@ -1 +1 @@\n-a\n+b\n@@ -3 +3 @@\n-c\n+d"
    with pytest.raises(DoesNotApply, match="hunk 2"):
        apply_hunks("a\nx\ny\n", parse_hunks(two))


@pytest.mark.parametrize(
    "diff",
    [
        *("hello", "@@ nonsense @@\n x", "@@ -1,5 +1,5 @@\n a", "@@ -1 +1 @@\nxx\n", EDIT + "\n+x"),
        *("@@ -1,0 +1,0 @@", "@@ -1 +1 @@\n-a\n+b\n+c", "@@ -1 +1 @@\n-a\n\rb\n"),
    ],
)
def test_a_malformed_diff_says_so(diff: str) -> None:
    with pytest.raises(MalformedDiff):
        parse_hunks(diff)


def test_headers_and_nothing_are_read() -> None:
    git = "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n" + EDIT + "\n"
    assert parse_hunks(git) == parse_hunks(EDIT)
    assert parse_hunks("\n") == ()
    assert parse_hunks(EDIT + "\n\n") == parse_hunks(EDIT)


def test_an_empty_line_may_have_lost_its_blank() -> None:
    lost = EDIT.replace("\n \n", "\n\n")
    assert lost != EDIT
    assert parse_hunks(lost) == parse_hunks(EDIT)


def test_a_new_file_has_no_line_before_47() -> None:
    change = FileChange("/n", NEW, added=2, removed=0)
    assert versions(None, change, applied=False).after == "hello\nworld\n"
    new = versions(None, change, applied=False)
    assert (new.before, new.kind, new.fault) == ("", "new", None)
    written = versions("hello\nworld", change, applied=True)
    assert (written.before, written.after, written.kind) == ("", "hello\nworld", "new")


@pytest.mark.parametrize("text", ["\none\ntwo\n", "one\n\ntwo\n", "one\ntwo\n\n", "\n\none\n\n"])
def test_an_empty_line_of_a_new_file_is_its_own_47(text: str) -> None:
    """The server pairs the line that was never there with one that is new."""
    lines = text.splitlines()
    diff = "\n".join(list(difflib.unified_diff([""], lines, lineterm=""))[2:])
    change = FileChange("/n", diff, added=len(lines) - 1, removed=0)
    assert "\n \n" in f"\n{diff}\n"
    new = versions(None, change, applied=False)
    assert (new.before, new.after, new.kind, new.fault) == ("", text, "new", None)
    assert versions("", change, applied=False).after == text
    assert versions(text, change, applied=True).before == ""
    assert added_lines(change) == len(lines)


def test_lines_around_the_empty_line_of_a_file_leave_it_there() -> None:
    change = FileChange("/n", "@@ -1,1 +1,2 @@\n \n+one", added=1, removed=0)
    assert versions("\n", change, applied=False).after == "\none\n"
    assert added_lines(FileChange("/n", "@@ -1,1 what", 7, 0)) == 7
    assert added_lines(FileChange("/n", EDIT, 5, 2)) == 5


def test_a_file_of_one_empty_line_really_had_it() -> None:
    change = FileChange("/n", NEW, added=2, removed=1)
    assert len(change_hunks(change)[0].before) == 1
    assert versions("\n", change, applied=False).kind == "changed"


def test_a_deleted_file() -> None:
    change = FileChange("/n", "@@ -1,2 +0,0 @@\n-a\n-b", added=0, removed=2)
    gone = versions("a\nb\n", change, applied=False)
    assert (gone.before, gone.after, gone.kind) == ("a\nb\n", "", "deleted")
    assert versions(None, change, applied=True).before == "a\nb\n"


def test_a_change_that_no_longer_fits_shows_the_raw_diff() -> None:
    change = FileChange("/f", EDIT, 2, 1)
    shown = versions("other\n", change, applied=False)
    assert (shown.before, shown.after) == ("other\n", EDIT)
    assert shown.fault is not None
    assert "hunk 1" in shown.fault
    assert versions("x", FileChange("/f", "junk", 0, 0), applied=False).fault


def test_carriage_returns_stay() -> None:
    crlf = BEFORE.replace("\n", "\r\n")
    assert apply_hunks(crlf, parse_hunks(EDIT)) == AFTER.replace("\n", "\r\n")
    assert apply_hunks(crlf, parse_hunks(EDIT.replace("\n", "\r\n"))) == AFTER.replace("\n", "\r\n")


def test_a_missing_final_newline_stays_missing_or_changes_when_said() -> None:
    assert apply_hunks("a\nb", parse_hunks("@@ -1,2 +1,2 @@\n a\n-b\n+c")) == "a\nc"
    gains = "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"
    assert apply_hunks("a\nb", parse_hunks(gains)) == "a\nb\n"
    assert apply_hunks("a\nb\n", reverse_hunks(parse_hunks(gains))) == "a\nb"


def test_a_huge_file_is_quick() -> None:
    lines = [f"line {number}" for number in range(200_000)]
    text = "\n".join(lines) + "\n"
    hunk = parse_hunks("@@ -199990,2 +199990,2 @@\n line 149989\n-line 149990\n+changed")
    assert apply_hunks(text, hunk).split("\n")[149990] == "changed"


def unified(before: list[str], after: list[str], context: int) -> str:
    return "\n".join(
        line.removesuffix("\n")
        for line in difflib.unified_diff(before, after, n=context, lineterm="")
    )


@given(FILES, FILES, st.integers(0, 3))
@settings(max_examples=150, deadline=None)
def test_a_diff_turns_one_file_into_the_other_and_back(
    before: list[str], after: list[str], context: int
) -> None:
    hunks = parse_hunks(unified(before, after, context))
    one = "".join(f"{line}\n" for line in before)
    other = "".join(f"{line}\n" for line in after)
    assert apply_hunks(one, hunks) == (other if hunks else one)
    assert apply_hunks(other, reverse_hunks(hunks)) == one


@st.composite
def files(draw: st.DrawFn, *, distinct: bool = False) -> tuple[str, str]:
    """Return a file and a later state of it; no two lines are equal when `distinct`."""
    alphabet = ["a", "b", "", "  x", "-d", "+e", "@@", "\\ f"]
    lines = draw(st.lists(st.sampled_from(alphabet), max_size=30))
    later = [*lines]
    if distinct:
        lines, later = ([f"{number} {line}" for number, line in enumerate(lines)] for _ in "ab")
    for turn in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(later)))
        added = [f"new {turn} {line}" if distinct else line for line in draw(FILES)[:3]]
        later[at : at + draw(st.integers(0, 3))] = added
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return _text(lines, end, draw(st.booleans())), _text(later, end, draw(st.booleans()))


def _text(lines: list[str], end: str, ends: bool) -> str:
    return end.join(lines) + (end if ends else "") if lines else ""


def git(folder: Path, *arguments: str, text: str = "") -> subprocess.CompletedProcess[bytes]:
    command = ["git", "-c", "core.autocrlf=false", *arguments]
    return subprocess.run(
        command, cwd=folder, input=text.encode(), capture_output=True, check=False
    )


SLOW = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@given(files(), st.integers(0, 3))
@SLOW
def test_git_agrees(tmp_path: Path, states: tuple[str, str], context: int) -> None:
    before, after = states
    (tmp_path / "f").write_bytes(before.encode())
    (tmp_path / "g").write_bytes(after.encode())
    ran = git(tmp_path, "diff", "--no-index", f"-U{context}", "f", "g")
    hunks = parse_hunks(ran.stdout.decode())
    assert apply_hunks(before, hunks) == after
    assert apply_hunks(after, reverse_hunks(hunks)) == before


@given(files(distinct=True), st.lists(st.just("above"), max_size=3), st.integers(1, 3))
@SLOW
def test_git_applies_to_a_file_that_has_moved_on_the_same(
    tmp_path: Path, states: tuple[str, str], above: list[str], context: int
) -> None:
    before, after = states
    assume(before)  # an empty text has no place to find
    (tmp_path / "f").write_bytes(before.encode())
    (tmp_path / "g").write_bytes(after.encode())
    made = git(tmp_path, "diff", "--no-index", f"-U{context}", "f", "g").stdout.decode()
    end = "\r\n" if "\r\n" in before else "\n"
    moved = "".join(line + end for line in above) + before
    (tmp_path / "f").write_bytes(moved.encode())
    ran = git(tmp_path, "apply", "-", text=made.replace("b/g", "b/f"))
    if made and ran.returncode == 0:
        assert apply_hunks(moved, parse_hunks(made)).encode() == (tmp_path / "f").read_bytes()

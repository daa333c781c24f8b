"""A file before a change, worked out from what the change left, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.review.agent import edited, file_change

from eca_nvim.chat.vocabulary.call_details import FileChange
from eca_nvim.review.before_change import ReportedChange

CONTENTS = st.lists(
    st.sampled_from([b"a\n", b"b\n", b"\n", b"a\r\n", b"\xe9\n", b"x y\n", b"\xc3\xa9\n", b"end"]),
    max_size=10,
).map(b"".join)
PIECES = st.sampled_from(["a", "b", "a\nb", "\n", "b\n", "x", "", "x\nx\n", "\n\n"])
ONE = b"0\n1\n2\n3\n4\n5\n"


def told(before: bytes, old: str, new: str, *, every: bool = False) -> tuple[ReportedChange, bytes]:
    """Edit a content as the real server does; gives what it tells, and the content then."""
    text = before.decode(errors="replace")
    after = edited(text, old, new, every=every)
    change = file_change(Path("/f"), text, after)
    return ReportedChange(replace(change, old=old, new=new, every=every)), after.encode()


def plain(diff: str, removed: int = 1, new: str | None = None) -> ReportedChange:
    return ReportedChange(FileChange("/f", diff, 1, removed, new=new))


@settings(deadline=None)
@given(CONTENTS, PIECES, PIECES, st.booleans())
@example(b"a\n\n\n", "a\n\n", "a\n", False)
@example(b"a\n\n\n", "\n", "a", False)
@example(b"a\n\n", "\n\n", "a", False)
@example(b"a\n\n\n\n", "a", "a", False)
@example(b"a\nb\r\n", "a", "b", False)
@example(b"\xe9\nb\n", "b", "a", False)
def test_it_is_what_was_there_or_nothing(before: bytes, old: str, new: str, every: bool) -> None:
    if not old or old not in before.decode(errors="replace"):
        return
    change, after = told(before, old, new, every=every)
    assert change.may_follow(after)
    assert change.before(after) in (before, None)


@pytest.mark.parametrize(
    ("before", "old", "new"),
    [
        (ONE, "2\n", "two\n"),
        (ONE, "5", "five"),
        (b"1\n2", "2", "two"),
        (b"1\n2\n", "1\n", "0\n1\n"),
        (b"a\na\na\n", "a\na\na\n", "a\na\na\na\n"),
        ("\u00e9\n\u2014\n".encode(), "\u2014", "-"),
    ],
)
def test_an_edit_is_taken_back(before: bytes, old: str, new: str) -> None:
    change, after = told(before, old, new)
    assert change.before(after) == before


def test_a_change_of_an_unknown_tool_is_taken_back_unless_it_reaches_the_end() -> None:
    diff = "@@ -1,2 +1,2 @@\n 0\n-1\n+one"
    assert plain(diff).before(b"0\none\n2\n") == b"0\n1\n2\n"
    assert plain(diff).before(b"0\none\n") is None


@pytest.mark.parametrize(
    "after",
    [b"0\n1\n2\n", b"0\r\none\r\n2\r\n", b"0\none\n\xff\n", "0\none\n\ufffd\n".encode()],
    ids=["it is not there", "line ends", "no UTF-8", "was no UTF-8"],
)
def test_what_is_not_sure_is_not_told(after: bytes) -> None:
    assert plain("@@ -1,2 +1,2 @@\n 0\n-1\n+one").before(after) is None


@pytest.mark.parametrize("diff", ["", "no diff at all", "@@ -7,1 +7,1 @@\n-x\n+y"])
def test_a_diff_that_says_nothing(diff: str) -> None:
    assert plain(diff).before(b"one\n") is None


def test_hunks_in_one_place_are_not_taken_back() -> None:
    twice = "@@ -1,2 +1,2 @@\n 0\n-1\n+one"
    assert plain(f"{twice}\n{twice}").before(b"0\none\n2\n") is None


def test_a_file_that_is_written_whole_may_have_been_any() -> None:
    change = plain("@@ -1,1 +1,2 @@\n-\n+hello\n+world", 0, new="hello\nworld")
    assert change.may_follow(b"hello\nworld")
    assert not change.may_follow(None)
    assert not change.may_follow(b"anything\n")
    assert change.before(b"hello\nworld") is None


def test_a_change_needs_its_lines() -> None:
    change, _ = told(ONE, "2", "two")
    assert not change.may_follow(None)

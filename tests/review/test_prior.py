"""Prior: a file before a change, seen before it was made, or too late."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eca_nvim.chat.details import FileChange
from eca_nvim.review.prior import before_change

CONTENTS = st.lists(st.sampled_from([b"a", b"b", b"", b"\xe9", b"x y", b"\xc3\xa9"]), max_size=10)


def change(before: bytes | None, after: bytes) -> FileChange:
    """Make a change as the server tells it: hunks without a header."""
    old = (before or b"").decode(errors="surrogateescape").split("\n")
    new = after.decode(errors="surrogateescape").split("\n")
    lines = list(difflib.unified_diff(trimmed(old), trimmed(new), lineterm="", n=3))[2:]
    removed = 0 if before is None else sum(line.startswith("-") for line in lines)
    return FileChange("/f", "\n".join(lines), sum(line.startswith("+") for line in lines), removed)


def trimmed(lines: list[str]) -> list[str]:
    return lines[:-1] if len(lines) > 1 and lines[-1] == "" else lines


@given(CONTENTS, CONTENTS)
def test_whenever_it_is_seen(before: list[bytes], after: list[bytes]) -> None:
    old, new = (b"".join(line + b"\n" for line in lines) for lines in (before, after))
    if not old or not new:
        return
    told = change(old, new)
    assert before_change(old, told) == old
    late = before_change(new, told)
    if told.removed or b"\n".join(after) not in old:
        assert late in (old, new)


def test_an_edit_that_was_made_already() -> None:
    told = change(b"one\ntwo\nthree\n", b"one\nTWO\nthree\n")
    assert before_change(b"one\ntwo\nthree\n", told) == b"one\ntwo\nthree\n"
    assert before_change(b"one\nTWO\nthree\n", told) == b"one\ntwo\nthree\n"


def test_a_new_file_that_was_made_already() -> None:
    told = FileChange("/f", "@@ -1,1 +1,2 @@\n-\n+hello\n+world", 2, 0)
    assert before_change(None, told) is None
    assert before_change(b"hello\nworld", told) is None
    assert before_change(b"hello\nworld\n", told) is None


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends_stay(ending: bytes, last: bool) -> None:
    def content(*lines: bytes) -> bytes:
        return ending.join(lines) + (ending if last else b"")

    told = change(b"one\ntwo\nthree\n", b"one\nTWO\nthree\n")
    assert before_change(content(b"one", b"TWO", b"three"), told) == content(
        b"one", b"two", b"three"
    )


def test_bytes_that_are_no_text_stay() -> None:
    told = FileChange("/f", "@@ -2,1 +2,1 @@\n-two\n+TWO", 1, 1)
    assert before_change(b"\xff\xfe\nTWO\n\x80", told) == b"\xff\xfe\ntwo\n\x80"


@pytest.mark.parametrize("diff", ["", "no diff at all", "@@ -7,1 +7,1 @@\n-x\n+y"])
def test_what_cannot_be_told_stays(diff: str) -> None:
    assert before_change(b"one\n", FileChange("/f", diff, 1, 1)) == b"one\n"
    assert before_change(None, FileChange("/f", diff, 1, 1)) is None

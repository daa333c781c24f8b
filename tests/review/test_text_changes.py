"""Changes: found between texts, and reverted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from eca_nvim.review.text_changes import Change, changes, lines_of, text_of

LINES = st.sampled_from(["a", "b", "c", "", "  x", "a\r", "é", "\x0b", "\u2028"])
TEXTS = st.builds(
    lambda lines, ends: "\n".join(lines) + ("\n" if ends and lines else ""),
    st.lists(LINES, max_size=12),
    st.booleans(),
)


def reverted(text: str, found: list[Change]) -> str:
    """Take changes back, the last one first."""
    lines = lines_of(text)
    for change in reversed(found):
        assert tuple(lines[change.start : change.end]) == change.added
        lines[change.start : change.end] = change.removed
    return "".join(lines)


@given(TEXTS)
def test_lines_are_the_text(text: str) -> None:
    lines = lines_of(text)
    assert "".join(lines) == text
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in lines[:-1])


@given(TEXTS, TEXTS)
def test_all_changes_taken_back_give_the_text_before(before: str, after: str) -> None:
    found = changes(lines_of(before), lines_of(after))
    assert reverted(after, found) == before
    assert bool(found) == (before != after)


def numbered(count: int) -> list[str]:
    return [f"{number}\n" for number in range(count)]


def test_a_missing_line_feed_is_a_change() -> None:
    (change,) = changes(lines_of("a\nb"), lines_of("a\nb\n"))
    assert change == Change(1, ("b",), ("b\n",))


def test_huge_files_that_have_nothing_in_common_are_one_change() -> None:
    old, new = numbered(100_000), [f"x{line}" for line in numbered(100_000)]
    (change,) = changes(["same\n", *old], ["same\n", *new])
    assert (change.start, len(change.removed), len(change.added)) == (1, 100_000, 100_000)


def test_one_line_of_a_huge_file() -> None:
    old = numbered(200_000)
    new = [*old[:150_000], "here\n", *old[150_001:]]
    assert changes(old, new) == [Change(150_000, ("150000\n",), ("here\n",))]


def test_bytes_are_read_as_the_editor_reads_them() -> None:
    assert text_of("é\r\n".encode()) == "é\r\n"
    assert text_of(b"\xef\xbb\xbfa") == "a"
    assert text_of(b"caf\xe9\n") == "café\n"
    assert text_of(b"a\0b") is None

"""Changes: found between texts, reverted, and found again in later texts."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from eca_nvim.chat.text.text_differences import spans
from eca_nvim.review.text_changes import Change, ChangePlace, changes, lines_of, locate, text_of

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


@given(TEXTS, TEXTS, st.data())
def test_one_change_taken_back_is_not_found_any_more(
    before: str, after: str, data: st.DataObject
) -> None:
    old, new = lines_of(before), lines_of(after)
    found = changes(old, new)
    assume(found)
    gone = data.draw(st.sampled_from(found))
    now = lines_of(reverted(after, [gone]))
    for lines in (new, now):  # it is unknown which of two equal lines has gone or come back
        assume(len(set(lines)) == len(lines))
    left = [locate(change, spans(new, now), now) for change in found]
    assert left[found.index(gone)] is None or now == new


@given(TEXTS, TEXTS, TEXTS)
def test_what_is_found_is_there(before: str, after: str, now: str) -> None:
    new, present = lines_of(after), lines_of(now)
    for change in changes(lines_of(before), new):
        place = locate(change, spans(new, present), present)
        if place is not None and not place.is_lost:
            end = place.start + len(change.added)
            assert tuple(present[place.start : end]) == change.added
        elif place is not None:
            assert 0 <= place.start <= len(present)


def numbered(count: int) -> list[str]:
    return [f"{number}\n" for number in range(count)]


def test_a_change_moves_with_lines_put_in_above() -> None:
    old = numbered(20)
    new = [*old[:10], "ten\n", *old[11:]]
    (change,) = changes(old, new)
    now = ["first\n", *new]
    assert locate(change, spans(new, now), now) == ChangePlace(11)
    assert locate(change, spans(new, new), new) == ChangePlace(10)


def test_a_change_whose_lines_changed_again_is_lost() -> None:
    old = numbered(5)
    new = [*old[:2], "two\n", *old[3:]]
    (change,) = changes(old, new)
    now = [*old[:2], "zwei\n", *old[3:]]
    assert locate(change, spans(new, now), now) == ChangePlace(2, is_lost=True)
    assert locate(change, spans(new, []), []) == ChangePlace(0, is_lost=True)


def test_lines_taken_out_are_found_between_their_neighbours() -> None:
    old = numbered(6)
    new = [*old[:2], *old[4:]]
    (change,) = changes(old, new)
    assert (change.removed, change.added) == (("2\n", "3\n"), ())
    now = ["x\n", *new]
    assert locate(change, spans(new, now), now) == ChangePlace(3)
    assert locate(change, spans(new, old), old) is None


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

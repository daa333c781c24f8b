"""What files hold when the user takes some hunks of a change, or edits it: what was shown."""

from collections.abc import Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from eca_nvim.chat.model.hunk_choice import (
    MOST_TOLD,
    NotInParts,
    Sides,
    choose,
    edited,
    left_out_of,
    lines_of_parts,
    part_at,
    standing_text,
    stands,
    taken_back,
    told,
)
from eca_nvim.chat.render.diff import changes_body
from eca_nvim.chat.text.text_differences import hunks_between, parts_of
from eca_nvim.chat.vocabulary.call_details import FileChange, HunkChoice, PartialWrite

LINES = st.lists(st.sampled_from(["a", "b", "", "x y", "+", "-", "\\", "@@ -1 +1 @@"]), max_size=25)
NO_LIMIT = 10_000


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, str]:
    """Draw a file before and after a change, with one kind of line end."""
    end = draw(st.sampled_from(["\n", "\r\n"]))
    before, after = draw(LINES), draw(LINES)
    if draw(st.booleans()):  # most changes keep most lines
        at = draw(st.integers(0, len(before)))
        after = [*before[:at], *after[:3], *before[at + draw(st.integers(0, 2)) :]]
    return _text(draw, before, end), _text(draw, after, end)


def _text(draw: st.DrawFn, lines: list[str], end: str) -> str:
    return end.join(lines) + (draw(st.sampled_from([end, ""])) if lines else "")


def change_of(path: str, before: str, after: str) -> FileChange:
    return FileChange(path, *hunks_between(before, after), new=after)


def drawn(before: str, changes: Sequence[FileChange], out: frozenset[int], path: str) -> str:
    """Return a file as the rows of a request make it, with plain line ends, without the last."""
    body = changes_body(tuple(changes), out, NO_LIMIT)
    lines: list[str | None] = [*_lines(before)]
    added: dict[int, list[str]] = {}
    places = {row: line for row, of, line, _ in body.places if of == path}
    for number, first, last in body.parts:
        rows = [*range(first + (len(body.parts) > 1), last + 1)]
        only_adds = all(body.lines[row].startswith("+") for row in rows)
        for row in rows if number not in out else ():
            text, line = body.lines[row], places.get(row, 0)
            if row in places and text.startswith("+"):
                added.setdefault(line + only_adds, []).append(text[1:])
            elif row in places and text.startswith("-"):
                lines[line - 1] = None
    made: list[str] = []
    for number, kept in enumerate([*lines, None], 1):
        made += added.get(number, [])
        made += [] if kept is None else [kept]
    return "\n".join(made)


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []


@given(st.lists(texts(), min_size=1, max_size=3), st.data())
def test_what_stands_in_a_file_is_what_was_shown(
    files: Sequence[tuple[str, str]], data: st.DataObject
) -> None:
    asked = tuple(change_of(f"/w/{n}", *both) for n, both in enumerate(files))
    sides = {f"/w/{n}": Sides(f"/w/{n}", *both, on_disk=True) for n, both in enumerate(files)}
    numbers = [it.number for it in parts_of(asked)]
    assert numbers == [*range(1, len(numbers) + 1)]
    out = frozenset(data.draw(st.sets(st.sampled_from(numbers))) if numbers else ())
    try:
        chosen = choose(asked, asked, out, sides)
    except NotInParts:
        assert out == {*numbers} or any("\r\n" in it for both in files for it in both)
        return
    assert (chosen is None) == (not out)
    written = {it.path: it for it in chosen.writes} if chosen else {}
    for number, (path, (_, before, after, _)) in enumerate(sides.items()):
        allowed = written[path].allowed if path in written else after
        shown = drawn(before or "", asked, out, path)
        assert "\n".join(_lines(allowed or "")) == shown or allowed == after
        own = {it.place for it in parts_of(asked) if it.change == number and it.number in out}
        assert _read_again(asked[number], sides[path], allowed or "") == (allowed or "")
        places = lines_of_parts(before, asked[number], own)
        for place, (first, count) in enumerate(places):
            assert not count or part_at(places, first) == place


def _read_again(change: FileChange, sides: Sides, text: str) -> str | None:
    """Return what stands there if the hunks are left out that the text lacks."""
    out = left_out_of(text, sides.before, change)
    assert out is not None
    return standing_text(sides, change, out)


TYPED = st.text(alphabet="ab\n", max_size=12)


@given(texts(), TYPED, TYPED)
def test_what_the_user_has_typed_stands_there(both: tuple[str, str], head: str, tail: str) -> None:
    before, after = both
    assume(_lines(before) != [""])  # a diff of it is read as one of a new file
    text = head + after + tail
    asked = change_of("/w/a", before, after)
    sides = {"/w/a": Sides("/w/a", before or None, after, on_disk=True)}
    try:
        chosen = choose((asked,), (edited(asked, before, text),), (), sides)
    except NotInParts:
        return
    if chosen is None:
        return
    (write,) = chosen.writes
    assert (write.before, write.proposed) == (before or None, after)
    assert write.allowed == (text or (None if not before else ""))
    assert stands(chosen) == "as edited"
    shown = drawn(before, chosen.changes, frozenset(), "/w/a")
    assert shown.replace("␍", "") == "\n".join(_lines(text))


@pytest.mark.parametrize(
    ("out", "words"),
    [
        ({2}, "all 4 are written, hunk 2 is taken back at once"),
        ({2, 4}, "all 4 are written, hunks 2 and 4 are taken back at once"),
        ({1, 2, 4}, "all 4 are written, hunks 1, 2 and 4 are taken back at once"),
    ],
)
def test_what_a_tool_writes_all_the_same_is_said(out: set[int], words: str) -> None:
    changes = tuple(FileChange(f"/w/{n}", "@@ -1 +1 @@\n-a\n+b", 1, 1) for n in range(4))
    assert taken_back(HunkChoice(changes, changes, frozenset(out))) == words
    ours = tuple(FileChange(it.path, it.diff, 1, 1, by_us=True) for it in changes)
    assert taken_back(HunkChoice(ours, ours, frozenset(out))) is None


def test_the_agent_is_told_so_much() -> None:
    long = "".join(f"{number}\n" for number in range(1000))
    text = told([PartialWrite("/w/a", "/w/a", None, long, None)], str.upper)
    lines = text.split("\n")
    assert "+++ /W/A as it is now (there is no such file)" in lines
    assert len(lines) == MOST_TOLD + 4
    assert lines[-2].endswith("more lines: read the files")
    fenced = told([PartialWrite("/w/a", "/w/a", "", "~~~~\n", "")], str)
    assert fenced.endswith("\n~~~~~")

"""What is not reviewed: hunks over turns, beside the edits of the user."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.review.desk import Desk

from eca_nvim.chat.text.text_differences import spans
from eca_nvim.chat.vocabulary.events import ToolFinished
from eca_nvim.review.text_changes import changes
from eca_nvim.review.unreviewed import ReviewedText, unreviewed

Lines = Sequence[str]

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n"]), max_size=8)


def put_back(text: ReviewedText) -> Lines:
    """Revert all hunks of a text."""
    lines = [*text.now]
    for hunk in reversed(text.hunks):
        lines[hunk.new : hunk.new_end] = text.lines[hunk.old : hunk.old_end]
    return lines


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[Lines, Sequence[str | None]]]:
    """Draw texts, and for each the keys of the changes that lead to it; none if it is the user's.

    Some of a tool's changes are kept.
    """
    steps: list[tuple[Lines, Sequence[str | None]]] = [(draw(TEXTS), ())]
    for number in range(draw(st.integers(0, 4))):
        later = draw(TEXTS)
        keys: Sequence[str | None] = ()
        if draw(st.booleans()):
            made = range(len(spans(steps[-1][0], later)))
            keys = [draw(st.sampled_from([None, f"{number} {place}"])) for place in made]
        steps.append((later, keys))
    return steps


def followed(history: Sequence[tuple[Lines, Sequence[str | None]]]) -> ReviewedText:
    text = ReviewedText(history[0][0])
    for later, keys in history[1:]:
        text.follow(later, [*zip(changes(text.now, later), keys, strict=False)])
    return text


@given(histories())
def test_what_is_reverted_is_the_reviewed_text(
    history: list[tuple[Lines, Sequence[str | None]]],
) -> None:
    text = followed(history)
    assert put_back(text) == text.lines
    assert text.now == history[-1][0]
    for hunk in text.hunks:
        assert text.lines[hunk.old : hunk.old_end] != text.now[hunk.new : hunk.new_end]


@given(histories())
def test_each_change_is_in_one_hunk(history: list[tuple[Lines, Sequence[str | None]]]) -> None:
    text = followed(history)
    keys = [key for hunk in text.hunks for key in hunk.keys]
    told = {key for _, keys in history for key in keys if key is not None}
    assert len(keys) == len({*keys})
    assert {*keys} <= told
    assert all(hunk.keys for hunk in text.hunks)


@given(histories())
def test_who_has_kept_everything_has_nothing_to_review(
    history: list[tuple[Lines, Sequence[str | None]]],
) -> None:
    text = followed([(later, [None] * len(keys)) for later, keys in history])
    assert (text.hunks, text.lines) == ([], text.now) if len(history) > 1 else not text.hunks


@given(TEXTS, TEXTS, st.data())
def test_of_one_turn_what_was_kept_is_kept_and_nothing_else(
    before: Lines, after: Lines, data: st.DataObject
) -> None:
    keys = [str(at) for at in range(len(spans(before, after)))]
    kept = data.draw(st.sets(st.sampled_from(keys))) if keys else set()
    text = followed([(before, ()), (after, [None if key in kept else key for key in keys])])
    left = [key for hunk in text.hunks for key in hunk.keys]
    assert left == [key for key in keys if key not in kept]


# --- files ----------------------------------------------------------------------------------------


def hunks(desk: Desk, name: str) -> list[dict[str, Any]]:
    path = str(desk.folder / name)
    return [dict(it) for it in unreviewed(path, desk.turns(), desk.present()[path])]


def told(desk: Desk, name: str) -> list[tuple[Any, ...]]:
    """Return the kind, the line, and the lines before and after of each change."""
    return [(it["kind"], it["line"], it.get("before"), it.get("after")) for it in hunks(desk, name)]


def keep(desk: Desk, *changes: dict[str, Any]) -> None:
    for turn in desk.turns():
        turn.kept.update(key for change in changes for key in change["keys"])


def test_a_later_turn_grows_the_hunk_it_touches(desk: Desk) -> None:
    desk.write("a", b"1\nB\n3\n")
    assert told(desk, "a") == [("lines", 2, ["2"], ["B"])]
    desk.turn("again")
    desk.write("a", b"1\nX\n3\nend\n")
    assert told(desk, "a") == [("lines", 2, ["2"], ["X"]), ("lines", 4, [], ["end"])]
    first, second = hunks(desk, "a")
    assert (len(first["keys"]), len(second["keys"])) == (2, 1)
    assert (first["turn"], first["prompt"]) == (2, "again")
    keep(desk, first)
    assert told(desk, "a") == [("lines", 4, [], ["end"])]


def test_a_new_turn_in_kept_lines_is_to_be_reviewed(desk: Desk) -> None:
    desk.write("a", b"1\nB\n3\n")
    keep(desk, *hunks(desk, "a"))
    assert told(desk, "a") == []
    desk.turn()
    desk.write("a", b"1\nX\n3\n")
    assert told(desk, "a") == [("lines", 2, ["B"], ["X"])]


def test_edits_of_the_user_move_hunks_and_those_inside_are_part_of_them(desk: Desk) -> None:
    path = desk.folder / "a"
    desk.write("a", b"1\nB\nC\n3\n")
    path.write_bytes(b"mine\n1\nB\nC\nmine\n3\n")
    assert told(desk, "a") == [("lines", 3, ["2"], ["B", "C"])]
    path.write_bytes(b"mine\n1\nB\nmine\nC\n3\n")
    assert told(desk, "a") == [("lines", 3, ["2"], ["B", "mine", "C"])]
    desk.edited[str(path)] = "1\n2\n3\n"
    assert told(desk, "a") == []  # reverted, in a buffer that is not written


def test_what_was_undone_is_not_to_be_reviewed_and_again_if_it_is_redone(desk: Desk) -> None:
    desk.write("a", b"1\nB\n3\n")
    desk.undo()
    assert told(desk, "a") == []
    desk.undo()
    assert told(desk, "a") == [("lines", 2, ["2"], ["B"])]


def test_changed_words_are_told_in_bytes(desk: Desk) -> None:
    desk.write("a", "1\n2 für alle\n3\n".encode())
    desk.turn()
    keep(desk, *hunks(desk, "a"))
    desk.write("a", "1\n2 für uns\n3\n".encode())
    (hunk,) = hunks(desk, "a")
    assert (hunk["old_parts"], hunk["new_parts"]) == ([(0, 7, 11)], [(0, 7, 10)])


def test_a_new_file_is_one_change_however_often_it_was_written(desk: Desk) -> None:
    desk.write("new", b"one\n")
    desk.turn()
    desk.write("new", b"one\ntwo\n")
    (change,) = hunks(desk, "new")
    assert (change["kind"], len(change["keys"])) == ("new", 2)
    keep(desk, change)
    assert told(desk, "new") == []
    desk.turn()
    desk.write("new", b"ONE\ntwo\n")
    assert told(desk, "new") == [("lines", 1, ["one"], ["ONE"])]


def test_a_file_without_lines_and_one_that_is_gone_are_one_change(desk: Desk) -> None:
    desk.write("b", b"\xff\0other")
    desk.write("a", None)
    assert [it[0] for it in told(desk, "b") + told(desk, "a")] == ["other", "deleted"]
    keep(desk, *hunks(desk, "b"), *hunks(desk, "a"))
    assert told(desk, "b") + told(desk, "a") == []


def test_a_moved_file_is_a_change_beside_its_lines(desk: Desk, tmp_path: Path) -> None:
    arguments = {"source": str(tmp_path / "a"), "destination": str(tmp_path / "z")}
    call = desk.request("move_file", arguments=arguments)
    (tmp_path / "a").rename(tmp_path / "z")
    desk.hear(ToolFinished(call))
    desk.write("z", b"1\n2\n3\n4\n")
    assert told(desk, "z") == [("moved", 1, None, None), ("lines", 4, [], ["4"])]

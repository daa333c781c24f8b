"""Where comments stand when files have changed, what has become of them, and how they are sent."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from eca_nvim.chat.model.comments import (
    MOST_QUOTED,
    MOST_WATCHED,
    Comment,
    CommentState,
    Texts,
    present,
    prompt,
    sent,
    to_send,
    written,
)
from eca_nvim.chat.vocabulary.query_intents import PutComment

Value: TypeAlias = Any
PATH = "/project/a.py"
FILE = [f"line {number}" for number in range(1, 21)]
LINES = st.lists(st.sampled_from(["a", "b", "", "}", "x\r"]), max_size=12)


def texts(lines: list[str], path: str = PATH) -> Texts:
    return Texts({path: "".join(f"{it}\n" for it in lines)})


def made(**fields: Value) -> Comment:
    put = PutComment(**{"chat": "c", "id": "1", "text": "why?", "paths": [PATH], **fields})
    comment = written(put, None, 7, 1.0)
    assert comment is not None
    return comment


def settled(comment: Comment, now: Texts) -> Comment:
    return present(comment, now, is_running=False)


@given(LINES, LINES, LINES, LINES, LINES, st.data())
def test_a_comment_follows_its_lines(
    above: list[str],
    own: list[str],
    below: list[str],
    new: list[str],
    end: list[str],
    data: st.DataObject,
) -> None:
    """Whatever is written above and below: its lines are open, and it knows where they are."""
    lines = [*above, "mine", *own, "last", *below]
    comment = made(line=len(above) + 1, count=len(own) + 2)
    comment = sent(settled(comment, texts(lines)), texts(lines))
    at = data.draw(st.integers(0, len(above)))
    now = [*above[:at], *new, *above[at:], "mine", *own, "last", *below, *end]
    found = settled(comment, texts(now))
    assert (found.state, found.line) == (CommentState.OPEN, len(above) + len(new) + 1)
    assert now[found.line - 1 :][: found.count] == ["mine", *own, "last"]


@given(LINES, LINES, LINES, st.integers(0, 20))
def test_lines_that_changed_are_addressed(
    above: list[str], own: list[str], below: list[str], at: int
) -> None:
    own = ["mine", *own]
    comment = made(line=len(above) + 1, count=len(own))
    comment = sent(comment, texts([*above, *own, *below]))
    own[at % len(own)] = "another"
    found = settled(comment, texts([*above, *own, *below]))
    assert found.state is CommentState.ADDRESSED


@given(LINES, LINES, LINES)
def test_lines_that_are_gone_are_open_while_they_are(
    above: list[str], below: list[str], back: list[str]
) -> None:
    around = [*above, "over", "under", *below]
    comment = made(line=len(above) + 2, count=0, before=["gone"])
    comment = sent(comment, texts(around))
    assert settled(comment, texts(["new", *around])).line == len(above) + 3
    assert settled(comment, texts(["new", *around])).state is CommentState.OPEN
    now = [*above, "over", "gone", *back, "under", *below]
    assert settled(comment, texts(now)).state is CommentState.ADDRESSED


def test_what_becomes_of_a_comment() -> None:
    comment = settled(made(line=5, count=1), texts(FILE))
    assert comment.state is CommentState.UNSENT
    edited = [*FILE[:4], "mine", *FILE[5:]]
    comment = sent(settled(comment, texts(edited)), texts(edited))  # the user has edited it
    assert (comment.state, comment.line, comment.lines) == (CommentState.SENT, 5, ["mine"])
    assert present(comment, texts(FILE), is_running=True).state is CommentState.SENT
    assert settled(comment, texts(edited)).state is CommentState.OPEN
    assert settled(comment, texts(FILE)).state is CommentState.ADDRESSED
    assert settled(settled(comment, texts(FILE)), texts(edited)).state is CommentState.OPEN
    again = written(PutComment("d", "1", "so?"), settled(comment, texts(edited)), 8, 2.0)
    assert again is not None
    assert (again.text, again.chat, again.owner, again.line) == ("so?", "d", 8, 5)
    assert again.state is CommentState.UNSENT
    assert written(PutComment("c", "1", " \n"), comment, 7, 1.0) is None


def test_a_whole_file_and_a_turn_are_addressed_when_a_file_has_changed() -> None:
    before: Mapping[str, str | None] = {PATH: "a", "/project/b": None}
    comment = made(paths=[*before], subject="all changes of the turn “x”")
    comment = sent(comment, Texts(before))
    assert settled(comment, Texts(before)).state is CommentState.OPEN
    for now in ({PATH: "b"}, {"/project/b": "new"}, {PATH: None}):
        assert settled(comment, Texts({**before, **now})).state is CommentState.ADDRESSED


def test_a_file_that_is_shorter_or_gone() -> None:
    comment = made(line=30, count=2)
    assert sent(comment, texts(FILE)).line == 19
    assert sent(comment, Texts({PATH: None})).line == 1
    gone = sent(comment, texts(FILE))
    assert settled(gone, Texts({PATH: None})).state is CommentState.ADDRESSED
    assert settled(sent(comment, texts([])), texts([])).state is CommentState.OPEN


def test_of_very_many_lines_the_first_are_watched() -> None:
    many = [f"{number}" for number in range(3 * MOST_WATCHED)]
    comment = sent(made(line=2, count=2 * MOST_WATCHED), texts(many))
    assert len(comment.sums) < MOST_WATCHED + 9
    for changed, state in ((MOST_WATCHED + 9, CommentState.OPEN), (9, CommentState.ADDRESSED)):
        now = [*many[:changed], "other", *many[changed + 1 :]]
        assert settled(comment, texts(now)).state is state


def test_unsent_ones_are_sent_first_then_those_that_are_open() -> None:
    states = [CommentState.OPEN, CommentState.UNSENT, CommentState.ADDRESSED, CommentState.SENT]
    kept = [replace(made(id=str(place)), state=it) for place, it in enumerate(states)]
    assert [it.id for it in to_send(kept)] == ["1"]
    assert [it.id for it in to_send([kept[0], *kept[2:]])] == ["0"]
    assert to_send(kept[2:]) == ()
    three = [made(id="1", turn=2), made(id="2", turn=1, line=9), made(id="3", turn=1, line=2)]
    assert [it.id for it in to_send(three)] == ["3", "2", "1"]


def shown(path: str) -> str:
    return path.removeprefix("/project/")


def test_the_prompt_has_place_hunk_and_words() -> None:
    hunk = settled(made(line=5, count=1, before=["```"]), texts(FILE))
    added = settled(made(line=5, count=2, before=[]), texts([*FILE[:5], "````", *FILE[6:]]))
    plain = settled(made(line=1, count=1), texts(FILE))
    gone = settled(made(line=5, before=["x"]), texts(FILE))
    whole = made(paths=[PATH, "/b\n"], subject="all changes\nof it")
    assert prompt([hunk, added, plain, gone, whole, made()], shown) == (
        "a.py:5\n\n````diff\n-```\n+line 5\n````\n\nwhy?\n\n"
        "a.py:5-6\n\n`````diff\n+line 5\n+````\n`````\n\nwhy?\n\n"
        "a.py:1\n\n```\nline 1\n```\n\nwhy?\n\n"
        "a.py:5\n\n```diff\n-x\n```\n\nwhy?\n\n"
        "all changes of it: a.py, /b␤\n\nwhy?\n\n"
        "a.py:1\n\nwhy?"
    )


def test_a_long_hunk_is_cut_in_the_prompt() -> None:
    long = [f"{number}{'x' * 500}\r" for number in range(50)]
    comment = settled(made(line=1, count=50, before=long), texts(long))
    lines = prompt([comment], shown).splitlines()
    assert len(lines) == 2 * MOST_QUOTED + len(["place", "", "```", "…", "```", "", "why?"])
    assert max(map(len, lines)) < 410
    assert lines[-4] == "… 10 more lines"
    changed = [*long[:49], "other"]
    assert settled(sent(comment, texts(long)), texts(changed)).state is CommentState.ADDRESSED

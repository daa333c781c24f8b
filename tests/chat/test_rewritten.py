"""What an answer puts in the place of lines: fences, chatter and lost indentation do not count."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eca_nvim.chat.text.rewritten import Hunk, hunks, rewritten

OLD = ["def f():", "    return 1"]
NEW = ["def f():", "    return 2"]
TEXT = "\n".join(NEW)
MARKDOWN = ["# Title", "```sh", "ls", "```"]


@pytest.mark.parametrize(
    "answer",
    [
        TEXT,
        f"{TEXT}\n",
        f"\n\n{TEXT}\n\n",
        f"```python\n{TEXT}\n```",
        f"Here is it:\n\n```python\n{TEXT}\n```\nIt returns 2 now.",
        f"~~~~\n{TEXT}\n~~~~",
        f"```\nx\n```\nor better\n```python\n{TEXT}\n```",
        f"```python\n{TEXT}",
        f"Sure, here it is:\n{TEXT}",
        TEXT.replace("\n", "\r\n"),
        f"\0{TEXT}",
    ],
)
def test_only_the_code_of_an_answer_counts(answer: str) -> None:
    assert rewritten(answer, OLD) == NEW


@pytest.mark.parametrize(
    ("answer", "old", "new"),
    [
        ("a\nb", ["\tx", "", "\ty"], ["\ta", "\tb"]),
        ("x\ny", ["    x", "    y"], ["x", "y"]),  # it was the indentation that had to go
        ("  a", ["    x"], ["  a"]),
        ("", ["x"], []),
        ("```\n```", ["x"], []),
        ("# New\n```sh\nls\n```", MARKDOWN, ["# New", "```sh", "ls", "```"]),
        ("````markdown\n# New\n```sh\nls\n```\n````", MARKDOWN, ["# New", "```sh", "ls", "```"]),
        ("```sh\npwd\n```", ["```sh", "ls", "```"], ["```sh", "pwd", "```"]),
        ("a\r\nb\r", ["a\r", "c\r"], ["a\r", "b\r"]),
        ("\na", ["", "x"], ["", "a"]),
        ("here:", ["here:"], ["here:"]),
    ],
)
def test_what_the_old_lines_have_stays(answer: str, old: list[str], new: list[str]) -> None:
    assert rewritten(answer, old) == new


LINES = st.lists(st.sampled_from(["", "}", "  a", "b = 1", "ü", "\tc", "👍 d"]), max_size=8)


def applied(old: Sequence[str], found: Sequence[Hunk]) -> list[str]:
    lines = list(old)
    for hunk in reversed(found):
        lines[hunk.first : hunk.last] = hunk.lines
    return lines


@given(LINES, LINES)
def test_the_hunks_of_an_answer_make_it(old: list[str], new: list[str]) -> None:
    found = hunks(old, new)
    assert applied(old, found) == new
    for hunk in found:
        for parts, lines in (
            (hunk.old_parts, old[hunk.first : hunk.last]),
            (hunk.new_parts, hunk.lines),
        ):
            for at, start, end in parts:
                assert 0 <= start <= end <= len(lines[at].encode())
                lines[at].encode()[start:end].decode()  # no character is cut


@given(LINES, LINES, st.integers(0, 40))
def test_an_unfinished_answer_takes_nothing_away_that_may_still_come(
    old: list[str], new: list[str], length: int
) -> None:
    so_far = rewritten("\n".join(new)[:length], old, is_whole=False)
    found = hunks(old, so_far, is_whole=False)
    lines = applied(old, found)
    assert lines[: len(so_far)] == so_far
    assert len(old) - len(lines) <= max(0, len(old) - len(so_far))
    if not so_far:
        assert found == []


def test_changed_words_are_marked() -> None:
    [hunk] = hunks(["local x = 1"], ["local x = 42"])
    assert hunk == Hunk(0, 1, ["local x = 42"], [(0, 10, 11)], [(0, 10, 12)])
    [other] = hunks(["local x = 1"], ["something else"])
    assert not other.old_parts

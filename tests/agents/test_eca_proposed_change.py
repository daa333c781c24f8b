"""Changes of a file, as the first draft proposes them, applied to its text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eca_nvim.agents.eca.older.draft import DoesNotFit, changed_text
from eca_nvim.chat.text.diffs import apply_hunks, parse_hunks
from eca_nvim.chat.text.text_differences import hunks_between
from eca_nvim.protocol.eca.draft import LineSpan, ProposedChange

TEXT = "one\ntwo\nthree\n"


def change(
    kind: str, content: str | None = None, lines: tuple[int, int] | None = None
) -> ProposedChange:
    """Make a change."""
    span = None if lines is None else LineSpan(start_line=lines[0], end_line=lines[1])
    return ProposedChange(kind=kind, content=content, range=span)


@pytest.mark.parametrize(
    ("changes", "after"),
    [
        ([change("change", "2", (2, 2))], "one\n2\nthree\n"),
        ([change("change", "2\n2b\n", (2, 2))], "one\n2\n2b\nthree\n"),
        ([change("change", "all", (1, 3))], "all\n"),
        ([change("delete", None, (1, 2))], "three\n"),
        ([change("delete", None, (1, 3))], ""),
        ([change("change", "new", (4, 3))], "one\ntwo\nthree\nnew\n"),
        ([change("change", "1", (1, 1)), change("delete", None, (3, 3))], "1\ntwo\n"),
        ([change("change", "whole")], "whole"),
        ([change("create", "new\n", (1, 1))], "new\n"),
        ([change("delete")], None),
        ([], TEXT),
    ],
)
def test_what_a_file_becomes(changes: list[ProposedChange], after: str | None) -> None:
    assert changed_text(TEXT, changes) == after


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ([change("change", "x", (2, 4))], "lines 2 to 4 do not exist"),
        ([change("change", "x", (0, 1))], "lines 0 to 1 do not exist"),
        ([change("change", "x", (3, 1))], "lines 3 to 1 do not exist"),
        ([change("change", "x", (1, 2)), change("change", "x", (2, 3))], "or are changed twice"),
        ([change("rename", "x", (1, 2))], "'rename' is not a kind"),
        ([change("rename", "x")], "'rename' is not a kind"),
        ([change("create", "x"), change("delete", None, (1, 1))], "cannot be combined"),
    ],
)
def test_what_does_not_fit(changes: list[ProposedChange], complaint: str) -> None:
    with pytest.raises(DoesNotFit, match=complaint):
        changed_text(TEXT, changes)


def test_a_part_of_no_file() -> None:
    with pytest.raises(DoesNotFit, match="no such file"):
        changed_text(None, [change("change", "x", (1, 1))])


def test_a_new_file() -> None:
    assert changed_text(None, [change("create", "x\n")]) == "x\n"
    assert hunks_between("", "x\n") == ("@@ -0,0 +1 @@\n+x", 1, 0)


LINES = st.lists(st.sampled_from(["a", "b", "", "\u00e9", "-x", "@@"]), max_size=8)
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n"]))


@given(TEXTS, TEXTS)
def test_the_hunks_lead_from_one_text_to_the_other(before: str, after: str) -> None:
    diff, added, removed = hunks_between(before, after)
    hunks = parse_hunks(diff)
    assert apply_hunks(before, hunks) == after
    assert sum(len(hunk.after) - len(hunk.before) for hunk in hunks) == added - removed


def test_line_ends_of_the_file_are_kept() -> None:
    before = TEXT.replace("\n", "\r\n")
    after = changed_text(before, [change("change", "2", (2, 2))])
    assert after is not None
    diff, added, removed = hunks_between(before, after)
    assert (added, removed) == (1, 1)
    assert apply_hunks(before, parse_hunks(diff)) == "one\r\n2\r\nthree\r\n"

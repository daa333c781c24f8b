"""Raw output as a body: colours, and where it is cut."""

import pytest

from eca_nvim.chat.text.output import (
    MOST_MARKS,
    Body,
    cut,
    cut_characters,
    indented,
    table,
    text_body,
)


def test_a_long_text_is_cut_with_a_note() -> None:
    assert text_body("\na\nb\nc\n", 2) == Body(
        ["a", "b", "… 1 more line"], [(2, 0, -1, "EcaMore")], "", is_cut=True
    )
    assert text_body("a\nb", 2).lines == ["a", "b"]
    assert text_body("a\nb\nc\nd", 2).lines[-1] == "… 2 more lines"
    assert text_body("", 2) == Body((), language="")


def test_a_wide_line_is_cut_unless_all_is_wanted() -> None:
    assert cut(["x" * 3000], 5).lines == ["x" * 2000 + "… 1000 more characters"]
    assert cut(["x" * 3000], None).lines == ["x" * 3000]
    assert text_body("\x1b[31m" + "é" * 3000, 5).marks == []


def test_a_bounded_body_says_what_is_left_out() -> None:
    body = Body(["aaa", "bbb", "ccc"], [(0, 0, 1, "A"), (1, 0, 1, "B")], "")
    assert cut_characters(body, 9) is body
    assert cut_characters(body, 8).lines == ["aaa", "bbb", "cc… 1 more characters"]
    assert cut_characters(body, 3) == Body(
        ["aaa", "… 2 more lines"], [(0, 0, 1, "A"), (1, 0, -1, "EcaMore")], "", is_cut=True
    )
    assert cut_characters(Body([""] * 9), 4).lines == ["", "", "", "", "… 5 more lines"]
    assert cut_characters(Body(["x" * 100]), 10).lines == ["x" * 10 + "… 90 more characters"]


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("\x1b[31mred\x1b[0m plain", [(0, 0, 3, "EcaAnsiRed")]),
        ("é\x1b[92mgreen", [(0, 2, 7, "EcaAnsiGreen")]),
        ("\x1b[1mbold\x1b[22m \x1b[1;34mblue", [(0, 0, 4, "EcaBold"), (0, 5, 9, "EcaAnsiBlue")]),
        ("\x1b[33mone\ntwo\x1b[39m", [(0, 0, 3, "EcaAnsiYellow"), (1, 0, 3, "EcaAnsiYellow")]),
        ("\x1b[38;5;196mred", [(0, 0, 3, "EcaAnsiRed")]),
        ("\x1b[38;5;12mblue", [(0, 0, 4, "EcaAnsiBlue")]),
        ("\x1b[38;2;0;200;180mcyan", [(0, 0, 4, "EcaAnsiCyan")]),
        ("\x1b[38;2;90;90;90mgrey", [(0, 0, 4, "EcaAnsiBlack")]),
        ("\x1b[48;5;196mplain", []),
        ("\x1b[38;5mplain", []),
        ("\x1b[999999mplain\x1b[m", []),
        ("\x1b[4:3;31mred", [(0, 0, 3, "EcaAnsiRed")]),
    ],
)
def test_colours_become_groups(text: str, marks: list[tuple[int, int, int, str]]) -> None:
    body = text_body(text, 10)
    assert list(body.marks) == marks
    assert "\x1b" not in "".join(body.lines)


def test_other_escapes_are_taken_out_of_coloured_text() -> None:
    text = "\x1b]0;title\x07\x1b[2J\x1b[31mred\x1b[0m\r\n\x1b[Kdone\x08\n\n"
    assert text_body(text, 10).lines == ["red", "done␈"]


def test_colours_are_bounded() -> None:
    body = text_body("\x1b[31mx\x1b[0my" * (MOST_MARKS * 2), None)
    assert len(body.marks) == MOST_MARKS


def test_a_table_puts_values_beside_their_names() -> None:
    values = [("out", text_body("\x1b[31mred\x1b[0m\ntwo", 5)), ("error", text_body("no", 5))]
    assert table(values) == Body(
        ["out    red", "       two", "error  no"],
        [(0, 0, 3, "EcaMuted"), (0, 7, 10, "EcaAnsiRed"), (2, 0, 5, "EcaMuted")],
        "",
    )


@pytest.mark.parametrize(
    ("document", "shown"),
    [
        ('{"a": [1], "b": "é"}', '{\n  "a": [\n    1\n  ],\n  "b": "é"\n}'),
        ('{\n "a": 1}', '{\n "a": 1}'),
        ("no json", "no json"),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_json_in_one_line_is_given_lines(document: str, shown: str) -> None:
    assert indented(document) == shown

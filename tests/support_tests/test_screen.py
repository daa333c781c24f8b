"""The screen model on canned redraw events."""

import pytest
from tests.support.screen import Position, ScreenModel, Value


def model(*batches: list[Value], width: int = 10, height: int = 4) -> ScreenModel:
    """Make a model that has seen these events and a flush."""
    made = ScreenModel()
    made.apply([["grid_resize", [1, width, height]], *batches, ["flush", []]])
    return made


def line(row: int, column: int, *cells: list[Value]) -> list[Value]:
    return ["grid_line", [1, row, column, list(cells), False]]


def letters(text: str) -> list[list[Value]]:
    return [[letter] for letter in text]


def column_of_letters() -> list[list[Value]]:
    return [line(row, 0, [letter, 0, 10]) for row, letter in enumerate("abcd")]


def test_text_is_placed_and_repeated() -> None:
    shown = model(line(1, 2, ["x", 0], ["-", 0, 3], ["y"])).screen
    assert shown.lines() == ["", "  x---y", "", ""]


def test_a_highlight_holds_until_the_next_in_the_same_line() -> None:
    define = ["hl_attr_define", [5, {"bold": True}, {}, [{"hi_name": "Title", "kind": "syntax"}]]]
    colors = ["default_colors_set", [1, 2, 3, 0, 0]]
    shown = model(colors, define, line(0, 0, ["a", 5], ["b"], ["c", 0])).screen
    plain = {"foreground": 1, "background": 2, "special": 3}
    assert shown.highlight_at(0, 1) == {**plain, "bold": True}
    assert shown.groups_at(0, 1) == ("Title",)
    assert shown.highlight_at(0, 2) == plain


def test_a_wide_character_takes_two_cells() -> None:
    shown = model(line(0, 0, ["日"], [""], ["x"])).screen
    assert shown.lines()[0] == "日x"
    assert shown.find("x") == Position(0, 2)
    assert shown.rows[0][1].text == ""
    assert "│日x       │" in shown.bordered()


@pytest.mark.parametrize(
    ("top", "bottom", "rows", "expected"),
    [(0, 4, 1, "bcdd"), (0, 4, -1, "aabc"), (1, 3, 1, "accd"), (1, 4, -2, "abcb")],
)
def test_a_region_scrolls(top: int, bottom: int, rows: int, expected: str) -> None:
    scroll = ["grid_scroll", [1, top, bottom, 0, 10, rows, 0]]
    shown = model(*column_of_letters(), scroll).screen
    assert "".join(text[0] for text in shown.lines()) == expected


def test_a_scroll_keeps_to_its_columns() -> None:
    shown = model(*column_of_letters(), ["grid_scroll", [1, 0, 4, 2, 5, 1, 0]]).screen
    assert shown.lines()[0] == "aabbbaaaaa"
    assert shown.lines()[3] == "dddddddddd"


def test_clear_and_resize() -> None:
    shown = model(*column_of_letters(), ["grid_resize", [1, 4, 2]]).screen
    assert shown.lines() == ["aaaa", "bbbb"]
    grown = model(line(0, 0, *letters("hi")), ["grid_resize", [1, 12, 5]]).screen
    assert (grown.width, grown.height) == (12, 5)
    assert grown.lines()[0] == "hi"
    assert model(*column_of_letters(), ["grid_clear", [1]]).screen.text().strip() == ""


def test_cursor_and_mode() -> None:
    shown = model(["grid_cursor_goto", [1, 2, 3]], ["mode_change", ["insert", 1]]).screen
    assert shown.cursor == (2, 3)
    assert shown.mode == "insert"


def test_a_picture_changes_at_the_flush_only() -> None:
    seen = model(line(0, 0, *letters("old")))
    before = seen.screen
    seen.apply([line(0, 0, *letters("new"))])
    assert seen.screen is before
    seen.apply([["flush", []]])
    assert before.lines()[0] == "old"
    assert seen.screen.lines()[0] == "new"


def test_several_calls_of_one_event_and_unknown_events() -> None:
    calls = ["grid_line", [1, 0, 0, [["a"]], False], [1, 1, 0, [["b"]], False]]
    shown = model(["win_viewport", [2, 1]], calls).screen
    assert shown.lines()[:2] == ["a", "b"]


def test_text_that_is_not_shown_is_told_with_the_screen() -> None:
    with pytest.raises(AssertionError, match="│hello     │"):
        model(line(0, 0, *letters("hello"))).screen.find("absent")

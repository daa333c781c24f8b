"""A character counts as seen at the flush after it was drawn, and only when it was awaited."""

from bench.screen import ScreenWatch, Value


def line(*texts: str) -> list[Value]:
    return ["grid_line", [1, 0, 0, [[text, 0] for text in texts], False]]


def test_a_character_is_seen_with_the_flush_after_it() -> None:
    screen = ScreenWatch()
    screen.expect("x")
    screen.apply([line("a", "x")])
    assert screen.seen("x") is None
    screen.apply([["flush", []]])
    assert screen.seen("x") is not None
    assert screen.flushes == 1


def test_what_was_drawn_before_it_was_awaited_does_not_count() -> None:
    screen = ScreenWatch()
    screen.apply([line("x")])
    screen.expect("x")
    screen.apply([["flush", []]])
    assert screen.seen("x") is None


def test_a_character_can_be_awaited_again() -> None:
    screen = ScreenWatch()
    screen.expect("x")
    screen.apply([line("x"), ["flush", []]])
    first = screen.seen("x")
    screen.expect("x")
    assert screen.seen("x") is None
    screen.apply([line("x"), ["flush", []]])
    again = screen.seen("x")
    assert first is not None
    assert again is not None
    assert again >= first

"""Output of a call while it runs: the last line, the end of it, and what both cost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.chat.driver import Driver, call

from eca_nvim.chat.handlers import reducer
from eca_nvim.chat.text.ansi import Line, coloured_lines
from eca_nvim.chat.text.output import TAIL_LINES, LiveOutput
from eca_nvim.chat.vocabulary.events import (
    ToolFinished,
    ToolOutput,
    ToolRejected,
    ToolRequested,
    ToolRunning,
)
from eca_nvim.chat.vocabulary.ops import SetBody, SetHeader, ViewOp

SHELL = call("t", "shell_command", arguments={"command": "make"})
STARTED = "hello", "● $ make"


def running() -> Driver:
    driver = Driver()
    driver.run()
    driver.hear(ToolRequested(SHELL), ToolRunning(SHELL))
    return driver


def numbered(first: int, end: int) -> str:
    return "".join(f"line {number}\n" for number in range(first, end))


def test_the_header_of_a_call_shows_the_last_line_that_is_not_blank() -> None:
    driver = running()
    assert driver.view.lines == [*STARTED]
    driver.hear(ToolOutput("t", "compiling\n"), ToolOutput("t", "\n  lin"))
    assert driver.view.lines == ["hello", "● $ make · lin"]
    driver.hear(ToolOutput("t", "king\n"))
    assert driver.view.lines == ["hello", "● $ make · linking"]
    driver.hear(ToolOutput("t", "10%\r"), ToolOutput("t", "20%\r"))
    assert driver.view.lines == ["hello", "● $ make · 20%"]


def test_an_open_call_shows_the_end_of_its_output() -> None:
    driver = running()
    driver.toggle(2)
    driver.hear(ToolOutput("t", numbered(0, 3)))
    assert driver.view.lines[1:] == [
        "● $ make · line 2",
        *("  $ make", "  line 0", "  line 1", "  line 2"),
    ]
    driver.hear(ToolOutput("t", numbered(3, 200)))
    lines = driver.view.lines[3:]
    assert lines[0] == f"  … {200 - TAIL_LINES} lines before"
    assert lines[1:] == [f"  line {number}" for number in range(200 - TAIL_LINES, 200)]


def test_output_that_replaces_is_all_there_is() -> None:
    driver = running()
    driver.toggle(2)
    driver.hear(ToolOutput("t", "one\ntwo\n"), ToolOutput("t", "three", replaces=True))
    assert driver.view.lines[1:] == ["● $ make · three", "  $ make", "  three"]


def test_the_whole_output_replaces_what_was_printed() -> None:
    driver = running()
    driver.toggle(2)
    driver.hear(ToolOutput("t", "one\n"), ToolFinished(SHELL, ("one\ntwo",)))
    assert driver.view.lines[1:] == ["✓ $ make", "  $ make", "  one", "  two"]


def test_what_was_printed_stays_if_the_end_brings_no_output() -> None:
    driver = running()
    driver.toggle(2)
    driver.hear(ToolOutput("t", "one\n"), ToolFinished(SHELL))
    assert driver.view.lines[1:] == ["✓ $ make", "  $ make", "  one"]
    driver.hear(ToolOutput("t", "too late\n"))
    assert driver.view.lines[1:] == ["✓ $ make", "  $ make", "  one"]


def test_a_call_that_failed_shows_the_last_lines_that_it_printed() -> None:
    driver = running()
    driver.hear(ToolOutput("t", numbered(0, 30)), ToolFinished(SHELL, failed=True))
    assert driver.view.lines[2:4] == ["  … 20 lines before", "  line 20"]
    assert driver.view.lines[-1] == "  line 29"


def test_a_call_that_was_stopped_keeps_its_output_and_loses_its_last_line() -> None:
    driver = running()
    driver.toggle(2)
    driver.hear(ToolOutput("t", "one\n"))
    driver.stop()
    driver.hear(ToolRejected(SHELL))
    assert driver.view.lines[1:] == ["⊘ $ make stopped", "  $ make", "  one"]


def test_output_may_come_before_all_else_of_a_call() -> None:
    driver = Driver()
    driver.run()
    driver.hear(ToolOutput("t", "one\n"), ToolRunning(SHELL))
    assert driver.view.lines == ["hello", "● $ make · one"]


def test_output_is_no_part_of_what_is_approved() -> None:
    driver = Driver()
    driver.run()
    driver.hear(ToolRequested(SHELL, needs_approval=True))
    before = driver.items
    driver.hear(ToolOutput("t", "you may trust this\n"))
    assert driver.items == before
    assert "  you may trust this" not in driver.view.lines


def test_colours_go_on_from_line_to_line_and_never_reach_the_header() -> None:
    driver = running()
    driver.toggle(2)
    driver.hear(ToolOutput("t", "\x1b[3"), ToolOutput("t", "1mred\nalso"), ToolOutput("t", " red"))
    assert driver.view.lines[1:] == ["● $ make · also red", "  $ make", "  red", "  also red"]
    [*_, body] = [op for op in _ops(driver, ToolOutput("t", "\x1b[0m\n")) if type(op) is SetBody]
    marks = [(row, group) for row, _, _, group in body.marks]
    assert marks == [(1, "EcaAnsiRed"), (2, "EcaAnsiRed"), (2, "EcaAnsiRed")]


def _ops(driver: Driver, *events: ToolOutput) -> list[ViewOp]:
    found: list[ViewOp] = []
    for event in events:
        found += reducer.apply(driver.chat, event, driver.now).ops
    return found


WORDS = st.sampled_from(
    [
        *("a", "é", "\ud83d\ude00", "\t", "\n", "\r\n", "\x00", "\x1b[31m", "\x1b[0m"),
        *("\r", "\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[2A", "\x1b[?1049h"),
    ]
)


def characters(line: Line) -> list[tuple[str, str]]:
    return [(character, group) for text, group in line for character in text]


@given(st.lists(WORDS).map("".join), st.data())
def test_pieces_read_as_the_whole_text_does(text: str, data: st.DataObject) -> None:
    live, rest = LiveOutput(), text + "\n."  # an end that may be an unfinished escape waits
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        live.feed(rest[:size])
        rest = rest[size:]
    _, lines = live.tail(None)
    whole = [*map(characters, coloured_lines(text + "\n."))]
    assert [*map(characters, lines)] == whole[-len(lines) :]


def drawn(lines: int) -> tuple[float, int]:
    """Return the characters drawn for a line of output of an open call, and those that are kept."""
    driver = running()
    driver.toggle(2)
    pieces = (ToolOutput("t", numbered(1000, 1010)) for _ in range(lines // 10))
    ops = _ops(driver, *pieces)
    bodies = [op for op in ops if isinstance(op, SetBody)]
    headers = [op for op in ops if isinstance(op, SetHeader)]
    assert len(bodies) + len(headers) <= lines // 10 * 2
    written = sum(len(line) for op in bodies for line in op.lines)
    written += sum(len(text) for op in headers for text, _ in op.header)
    [block] = driver.chat.root.calls.values()
    assert block.live is not None
    return written / lines, sum(len(text) for line in block.live.tail(None)[1] for text, _ in line)


def test_a_line_costs_the_same_after_a_hundred_thousand_lines() -> None:
    few, many = drawn(100), drawn(100_000)
    assert many[0] <= few[0] * 2
    assert many[1] == few[1]


def test_a_line_that_never_ends_is_cut_and_so_are_colours_without_text() -> None:
    live = LiveOutput()
    for _ in range(100):
        live.feed("x" * 1000)
        live.feed("\x1b[31m" * 1000)
    [line] = live.tail(None)[1]
    assert "".join(text for text, _ in line) == "x" * 2000 + "…"
    assert len(line) <= 3


def overwritten(text: str) -> list[str]:
    live = LiveOutput()
    live.feed(text)
    return [*map(_text, live.tail(None)[1])]


def test_a_carriage_return_overwrites() -> None:
    assert overwritten("abcdef\rXY") == ["XYcdef"]
    assert overwritten("abc\r\nabc\r\n") == ["abc", "abc"]
    assert overwritten("10%\r20%\r100%\ndone\n") == ["100%", "done"]
    assert overwritten("loading files\r\x1b[Kdone\n") == ["done"]
    assert overwritten("abcdef\rXY\x1b[K") == ["XY"]
    assert overwritten("one two\x1b[2K\rend") == ["end"]
    assert overwritten("one two\x1b[2Kend\x1b[K") == ["end"]
    assert overwritten("kept\r\n\r\nnext") == ["kept", "", "next"]
    assert overwritten("x" * 3000 + "\ry") == ["y" + "x" * 1999 + "…"]
    live = LiveOutput()
    live.feed("\x1b[31mred line\x1b[0m\rB")
    assert live.tail(None)[1] == [[("B", ""), ("ed line", "EcaAnsiRed")]]


def test_the_whole_output_is_overwritten_too() -> None:
    driver = running()
    driver.toggle(2)
    driver.hear(ToolFinished(SHELL, ("10%\r20%\r100%\r\nend",)))
    assert driver.view.lines[2:] == ["  $ make", "  100%", "  end"]


def test_of_a_flood_the_first_lines_are_only_counted() -> None:
    live, whole = LiveOutput(), LiveOutput()
    flood = "\x1b[31mhalf a line" + numbered(0, 100_000) + "the end"
    live.feed(flood)
    for start in range(0, len(flood), 1000):
        whole.feed(flood[start : start + 1000])
    assert [*map(_text, live.tail(None)[1])] == [*map(_text, whole.tail(None)[1])]
    assert live.tail(None)[0] == whole.tail(None)[0]
    assert live.last_line == "the end"


def _text(line: Line) -> str:
    return "".join(piece for piece, _ in line)

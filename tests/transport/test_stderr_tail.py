"""Only the last lines of standard error are kept."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eca_nvim.redaction import without_keys
from eca_nvim.transport.process import (
    MAX_BYTES,
    MAX_LINE_BYTES,
    MAX_LINES,
    StderrTail,
    telling_line,
)


def fed(*pieces: bytes) -> tuple[StderrTail, list[str]]:
    told: list[str] = []
    tail = StderrTail(told.append)
    for piece in pieces:
        tail.feed(piece)
    tail.finish()
    return tail, told


@settings(deadline=None)
@given(st.lists(st.binary(max_size=12)))
def test_lines_are_the_same_wherever_they_are_cut(pieces: list[bytes]) -> None:
    whole, told_at_once = fed(b"".join(pieces))
    cut, told = fed(*pieces)
    assert cut.lines == whole.lines == tuple(told) == tuple(told_at_once)


def test_what_is_not_utf8_is_shown_as_such() -> None:
    assert fed("ž\n".encode()[:1], b"\xbe\r\n\xff\n")[0].lines == ("ž", "\ufffd")


def test_only_the_last_lines_are_kept_but_all_are_told() -> None:
    tail, told = fed(*(b"line %d\n" % number for number in range(MAX_LINES * 3)))
    assert len(told) == MAX_LINES * 3
    assert tail.lines == tuple(told[-MAX_LINES:])


def test_long_lines_are_told_in_pieces_and_bounded() -> None:
    tail, told = fed(b"x" * 1_000_000, b"\nend\n")
    assert sum(map(len, told)) == 1_000_003
    assert max(map(len, told)) <= MAX_LINE_BYTES
    assert sum(map(len, tail.lines)) <= MAX_BYTES
    assert tail.lines[-1] == "end"


def test_long_lines_that_come_whole_are_bounded_too() -> None:
    tail, told = fed(b"x" * 1_000_000 + b"\nend\n")
    assert sum(map(len, told)) == 1_000_003
    assert tail.lines[-1] == "end"
    assert sum(map(len, tail.lines)) <= MAX_BYTES


def test_a_long_line_is_not_cut_within_a_name_and_its_value() -> None:
    pair = b'"apiKey": "sk-0123456789", '
    _, told = fed(pair * 1000, b"\n")
    assert len(told) > 1
    assert not any(set("0123456789") & set(without_keys(line)) for line in told)


def test_a_long_line_is_cut_between_words() -> None:
    """A key that is cut in two does not look like one, and is not hidden in the log."""
    _, told = fed(b"x" * (MAX_LINE_BYTES - 10) + b" API_KEY=0123456789abcdef " + b"y" * 100, b"\n")
    assert "API_KEY=0123456789abcdef" in told[1]


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        # As gemini 0.61, copilot 1.0.102, Python and Node.js print it.
        ("Unknown argument: acpp\nUsage: gemini\n  -d  Show errors\n  -h  Show help", "Unknown"),
        ("error: unexpected argument '--acpp' found\n\n  tip: '--acp'\n\nUsage: x", "error: un"),
        ("Traceback:\n  raise ValueError('x')\nValueError: x", "ValueError"),
        ("  throw err;\n\nError: Cannot find it\n    at Error.x (y)\n\nNode.js v24", "Error: C"),
        ("an error of before\nthe error that ends it\n", "the error"),
        ("one\nlog in first\n \n", "log in first"),
        # As fast-agent 0.10.48 without a model prints it.
        ("Model Error:\n\n  no model is set", "Model Error: no model is set"),
        (" \n", ""),
        ("", ""),
    ],
)
def test_the_line_that_names_the_fault_is_told(printed: str, told: str) -> None:
    line = telling_line(printed.split("\n"))
    assert line.startswith(told)
    assert bool(line) == bool(told)

"""One message a line."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eca_nvim.jsonrpc import FaultReason, Framed, FramingFault, LineFraming


def feed(framing: LineFraming, stream: bytes, size: int) -> list[Framed]:
    pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
    return [item for piece in pieces for item in framing.feed(piece)]


@settings(deadline=None)
@given(texts=st.lists(st.text(), max_size=5), size=st.integers(1, 100))
def test_messages_come_whole_wherever_the_stream_is_cut(texts: list[str], size: int) -> None:
    framing = LineFraming()
    bodies = [json.dumps({"text": text}).encode() for text in texts]
    stream = b"".join(map(framing.encode, bodies))
    assert feed(framing, stream, size) == bodies


def test_empty_lines_and_carriage_returns_are_skipped() -> None:
    assert LineFraming().feed(b"\n{}\r\n  \n{}\n") == [b"{}", b"{}"]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_line_over_the_limit_is_told_and_the_next_one_comes(size: int) -> None:
    fault, message = feed(LineFraming(limit=10), b"x" * 25 + b"\n{}\n", size)
    assert isinstance(fault, FramingFault)
    assert (fault.reason, fault.size, fault.excerpt[:11]) == (FaultReason.TOO_LONG, 25, b"x" * 11)
    assert message == b"{}"


def test_a_line_is_told_only_when_it_has_ended() -> None:
    framing = LineFraming()
    assert framing.feed(b'{"a":') == []
    assert framing.feed(b"1}\n") == [b'{"a":1}']

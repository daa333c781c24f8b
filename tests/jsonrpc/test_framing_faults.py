"""Framing errors of servers: returned as values, and over at the next header."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eca_nvim.jsonrpc import ContentLengthFraming, FaultReason, Framed, FramingFault
from eca_nvim.jsonrpc.framing import EXCERPT_BYTES

GOOD = b'Content-Length: 8\r\n\r\n{"id":1}'
MESSAGE = b'{"id":1}'


def feed(stream: bytes, size: int | None = None) -> list[Framed]:
    framing = ContentLengthFraming()
    step = size or len(stream)
    pieces = [stream[start : start + step] for start in range(0, len(stream), step)]
    return [item for piece in pieces for item in framing.feed(piece)]


def messages(items: list[Framed]) -> list[bytes]:
    return [item for item in items if isinstance(item, bytes)]


def reasons(items: list[Framed]) -> list[FaultReason]:
    return [item.reason for item in items if isinstance(item, FramingFault)]


@pytest.mark.parametrize(
    "junk",
    [
        b"Picked up JAVA_TOOL_OPTIONS: -Xmx1g\n",
        b"INFO: starting\r\nINFO: started\r\n",
        b"no line end at all",
        b"{}",
        b"\xff\xfe\x00\n",
        b"Content-Length\n",
        b"Content-Length: twelve\r\n\r\n",
        b"sent Content-Length: 99\n",
        b"x" * 200_000,
        b"y" * 200_000 + b"\n",
    ],
)
@pytest.mark.parametrize("size", [None, 1, 4096])
def test_junk_is_told_and_the_messages_around_it_come(junk: bytes, size: int | None) -> None:
    items = feed(GOOD + junk + GOOD + GOOD, size)
    assert messages(items) == [MESSAGE] * 3
    assert reasons(items)


def test_junk_is_told_with_its_beginning_and_its_size() -> None:
    assert feed(b"a log line\nanother\n" + GOOD) == [
        FramingFault(FaultReason.JUNK, b"a log line\nanother\n", 19),
        MESSAGE,
    ]


def test_junk_is_told_before_any_header_follows() -> None:
    assert feed(b"usage: server [options]\n") == [
        FramingFault(FaultReason.JUNK, b"usage: server [options]\n", 24)
    ]


def test_the_excerpt_of_a_fault_is_short() -> None:
    fault = feed(b"line\n" * 1000 + GOOD)[0]
    assert isinstance(fault, FramingFault)
    assert (len(fault.excerpt), fault.size) == (EXCERPT_BYTES, 5000)


def test_endless_junk_is_not_kept() -> None:
    framing = ContentLengthFraming()
    told = 0
    for _ in range(64):
        for item in framing.feed(b"z" * 64 * 1024):
            assert isinstance(item, FramingFault)
            told += item.size
    assert told > 63 * 64 * 1024 - 1024


@pytest.mark.parametrize(
    "value", [b"-5", b"abc", b"", b"1.5", b"1_0", b"0x10", b"9" * 30, b"99999"]
)
@pytest.mark.parametrize("size", [None, 1])
def test_a_length_that_is_no_size_costs_one_message(value: bytes, size: int | None) -> None:
    framing = ContentLengthFraming(limit=10_000)
    stream = GOOD + b"Content-Length: %b\r\n\r\n{}" % value + GOOD + GOOD
    step = size or len(stream)
    items = [
        item
        for start in range(0, len(stream), step)
        for item in framing.feed(stream[start : start + step])
    ]
    assert messages(items) == [MESSAGE] * 3
    assert reasons(items)[0] is FaultReason.BAD_LENGTH


def test_the_limit_itself_is_allowed() -> None:
    assert ContentLengthFraming(limit=8).feed(GOOD) == [MESSAGE]
    assert messages(ContentLengthFraming(limit=7).feed(GOOD)) == []


@pytest.mark.parametrize("excess", [1, 2, 10, 17, 20, 21, 22, 25, 29, 35, 60, 500])
@pytest.mark.parametrize("size", [None, 1])
def test_a_length_that_is_too_long_costs_no_other_message(excess: int, size: int | None) -> None:
    stream = GOOD + b'Content-Length: %d\r\n\r\n{"id":2}' % (8 + excess) + GOOD * 30
    items = feed(stream, size)
    assert messages(items) == [MESSAGE] * 31
    assert FaultReason.WRONG_LENGTH in reasons(items)


@pytest.mark.parametrize("length", range(8))
@pytest.mark.parametrize("size", [None, 1])
def test_a_length_that_is_too_short_costs_no_other_message(length: int, size: int | None) -> None:
    stream = GOOD + b'Content-Length: %d\r\n\r\n{"id":2}' % length + GOOD * 2
    items = feed(stream, size)
    assert messages(items) == [MESSAGE] * 3
    assert reasons(items)


@settings(deadline=None)
@given(junk=st.lists(st.binary(max_size=30), max_size=4), size=st.integers(1, 50))
def test_no_junk_costs_a_message(junk: list[bytes], size: int) -> None:
    stream = b"".join(piece.replace(b":", b"") + GOOD for piece in junk)
    assert messages(feed(stream, size)) == [MESSAGE] * len(junk)


@settings(deadline=None)
@given(stream=st.binary(max_size=300), size=st.integers(1, 50))
def test_no_bytes_raise(stream: bytes, size: int) -> None:
    assert messages(feed(stream + b"\n" + GOOD, size))[-1:] == [MESSAGE]


def test_a_fault_reads_as_one_line() -> None:
    fault = FramingFault(FaultReason.JUNK, b"a\nb\x1b[0m", 7)
    assert str(fault) == "unexpected data outside of any message, 7 bytes: b'a\\nb\\x1b[0m'"


@pytest.mark.parametrize("size", [None, 1])
@pytest.mark.parametrize("order", [1, -1])
def test_a_message_in_another_charset_is_no_message(size: int | None, order: int) -> None:
    kind = b"Content-Type: application/vscode-jsonrpc; charset=%b\r\n"
    for charset, is_read in ((b"latin-1", False), (b"UTF-8", True), (b"utf8", True)):
        header = b"".join([b"Content-Length: 8\r\n", kind % charset][::order])
        items = feed(header + b'\r\n{"id":2}' + GOOD, size)
        assert messages(items) == [*[b'{"id":2}'] * is_read, MESSAGE]
        assert reasons(items) == [FaultReason.CHARSET] * (not is_read)

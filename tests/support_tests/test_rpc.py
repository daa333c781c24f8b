"""The msgpack-rpc channel, over plain pipes."""

import os
import time
from collections.abc import Iterator

import msgpack
import pytest
from tests.support.rpc import Channel, ChannelClosed, Response
from tests.support.screen import Value


class Line:
    """A channel and the far ends of its pipes."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, list[Value]]] = []
        reader, self.writer = os.pipe()
        self.reader, writer = os.pipe()
        self.near = (reader, writer)
        self.channel = Channel(reader, writer, lambda *message: self.heard.append(message))

    def say(self, *messages: Value) -> None:
        """Let the far end send messages."""
        os.write(self.writer, b"".join(map(msgpack.packb, messages)))

    def said(self) -> list[Value]:
        """Return the next messages that reached the far end."""
        unpacker = msgpack.Unpacker()
        unpacker.feed(os.read(self.reader, 1 << 16))
        return list(unpacker)


@pytest.fixture
def line() -> Iterator[Line]:
    made = Line()
    yield made
    for end in (*made.near, made.reader, made.writer):
        os.close(end)


def soon() -> float:
    return time.monotonic() + 5


def test_a_request_gets_its_own_answer(line: Line) -> None:
    line.say([1, 2, None, "second"], [2, "note", [1]], [1, 1, [0, "bad"], None])
    first, second = line.channel.send("one", 1), line.channel.send("two")
    line.channel.pump(5)
    assert line.channel.take(second) == Response(None, "second")
    assert line.channel.take(first) == Response([0, "bad"], None)
    assert line.said() == [[0, 1, "one", [1]], [0, 2, "two", []]]
    assert line.heard == [("note", [1])]


def test_an_answer_may_come_in_pieces_or_not_at_all(line: Line) -> None:
    number = line.channel.send("one")
    data = msgpack.packb([1, number, None, ["x"] * 10])
    for index in range(len(data)):
        assert line.channel.take(number) is None
        os.write(line.writer, data[index : index + 1])
        line.channel.pump(5)
    assert line.channel.take(number) == Response(None, ["x"] * 10)
    assert line.channel.request("two", deadline=time.monotonic()) is None
    line.say([1, 2, None, "too late"], [1, 3, None, "in time"])
    assert line.channel.request("three", deadline=soon()) == Response(None, "in time")


def test_buffers_and_windows_are_numbers(line: Line) -> None:
    line.say([2, "here", [msgpack.ExtType(1, msgpack.packb(1000))]])
    line.channel.pump(5)
    assert line.heard == [("here", [1000])]


def test_requests_of_the_far_end_are_refused(line: Line) -> None:
    line.say([0, 9, "please", []])
    line.channel.pump(5)
    assert line.said() == [[1, 9, "a test answers no please", None]]


def test_what_the_far_end_does_not_take_yet_waits(line: Line) -> None:
    line.channel.notify("big", "x" * 500_000)
    message = msgpack.packb([2, "big", ["x" * 500_000]])
    received = b""
    while len(received) < len(message):
        received += os.read(line.reader, 1 << 16)
        line.channel.pump(0)
    assert received == message


def test_the_end_of_the_far_end_is_told(line: Line) -> None:
    os.close(line.writer)
    with pytest.raises(ChannelClosed):
        line.channel.pump(5)
    line.writer = os.dup(line.reader)

"""Content-Length framing of correct messages, cut at any place."""

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eca_nvim.jsonrpc import ContentLengthFraming, Framed

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
BODIES = st.builds(
    lambda value, indent, ascii_only: json.dumps(
        {"params": value}, indent=indent, ensure_ascii=ascii_only
    ).encode("utf-8", "replace"),
    JSON,
    st.none() | st.just(2),
    st.booleans(),
)


def feed_pieces(framing: ContentLengthFraming, pieces: list[bytes]) -> list[Framed]:
    return [item for piece in pieces for item in framing.feed(piece)]


def cut(stream: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(stream), *(place % (len(stream) + 1) for place in places)})
    return [stream[start:end] for start, end in pairwise(edges)]


@settings(deadline=None)
@given(bodies=st.lists(BODIES, min_size=1, max_size=5), places=st.lists(st.integers(0, 10_000)))
def test_messages_come_whole_wherever_the_stream_is_cut(
    bodies: list[bytes], places: list[int]
) -> None:
    framing = ContentLengthFraming()
    stream = b"".join(framing.encode(body) for body in bodies)
    assert feed_pieces(framing, cut(stream, places)) == bodies


@settings(deadline=None)
@given(bodies=st.lists(BODIES, min_size=1, max_size=3))
def test_messages_come_whole_byte_by_byte(bodies: list[bytes]) -> None:
    framing = ContentLengthFraming()
    stream = b"".join(framing.encode(body) for body in bodies)
    assert feed_pieces(framing, [bytes([byte]) for byte in stream]) == bodies


def test_the_length_counts_bytes_not_characters() -> None:
    framing = ContentLengthFraming()
    body = '{"text":"žluťoučký 🐎"}'.encode()
    assert framing.encode(body).startswith(b"Content-Length: %d\r\n\r\n" % len(body))
    assert framing.feed(framing.encode(body) + framing.encode(b"{}")) == [body, b"{}"]


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: 2\r\n\r\n",
        b"content-length: 2\r\n\r\n",
        b"CONTENT-LENGTH:2\r\n\r\n",
        b"Content-Length :\t2 \r\n\r\n",
        b"Content-Length: 2\n\n",
        b"Content-Length: 2\r\n\n",
        b"Content-Length: 0002\r\n\r\n",
        b"Content-Length: 2\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2\r\n\r\n",
        b"content-type:x\ncontent-length:2\n\n",
        b"\r\n\r\nContent-Length: 2\r\n\r\n",
    ],
)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_headers_are_read_as_servers_write_them(header: bytes, size: int) -> None:
    stream = (header + b"{}") * 2
    pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
    assert feed_pieces(ContentLengthFraming(), pieces) == [b"{}", b"{}"]


def test_a_header_spelt_inside_a_string_is_text() -> None:
    body = json.dumps({"text": "\r\nContent-Length: 5\r\n\r\n{}"}, indent=1).encode()
    framing = ContentLengthFraming()
    assert framing.feed(framing.encode(body) * 2) == [body, body]


@pytest.mark.parametrize("size", [1, 64 * 1024])
def test_a_large_message_is_put_together_in_linear_time(size: int) -> None:
    """At one byte a call, work that grew with what is held already would not end in a minute."""
    body = b'{"text":"' + b"x" * (5_000_000 if size > 1 else 300_000) + b'"}'
    framing = ContentLengthFraming()
    stream = framing.encode(body)
    pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
    assert feed_pieces(framing, pieces) == [body]


def test_nothing_is_held_back_and_nothing_is_told_early() -> None:
    framing = ContentLengthFraming()
    stream = framing.encode(b"{}")
    assert framing.feed(stream[:-1]) == []
    assert framing.feed(stream[-1:]) == [b"{}"]
    assert framing.feed(b"") == []

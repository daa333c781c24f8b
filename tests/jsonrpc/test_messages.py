"""Which message an object is, even if servers leave out or add fields."""

import pytest

from eca_nvim.jsonrpc import (
    ErrorResponse,
    LineFraming,
    Message,
    NotAMessage,
    Notification,
    Peer,
    Request,
    Response,
    decode_json,
)
from eca_nvim.jsonrpc.peer import read_message


def read(text: str) -> Message:
    return read_message(decode_json(text.encode()))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id":1,"method":"m","params":{"a":1}}', Request(1, "m", {"a": 1})),
        ('{"id":"x","method":"m"}', Request("x", "m", None)),
        ('{"id":0,"method":"m"}', Request(0, "m", None)),
        ('{"method":"m","params":[1]}', Notification("m", [1])),
        ('{"id":null,"method":"m"}', Notification("m", None)),
        ('{"id":1,"result":{"a":null}}', Response(1, {"a": None})),
        ('{"id":1,"result":null}', Response(1, None)),
        ('{"id":1}', Response(1, None)),
        ('{"id":1,"result":2,"error":null}', Response(1, 2)),
        (
            '{"id":1,"error":{"code":-32601,"message":"Method not found","data":{"m":1}}}',
            ErrorResponse(1, -32601, "Method not found", {"m": 1}),
        ),
        (
            '{"id":1,"error":{"code":"cursor_expired","message":"old"}}',
            ErrorResponse(1, "cursor_expired", "old", None),
        ),
        ('{"id":1,"error":{}}', ErrorResponse(1, None, "", None)),
        ('{"id":1,"error":{"code":1.5,"message":7}}', ErrorResponse(1, None, "7", None)),
        ('{"id":1,"error":"broken"}', ErrorResponse(1, None, "broken", None)),
        ('{"id":null,"error":{"code":-32700}}', ErrorResponse(None, -32700, "", None)),
        ('{"jsonrpc":"1.0","more":1,"method":"m"}', Notification("m", None)),
    ],
)
def test_messages_are_told_apart(text: str, message: Message) -> None:
    assert read(text) == message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "5",
        '"text"',
        "[]",
        '[{"method":"a"},{"method":"b"}]',
        "{}",
        '{"jsonrpc":"2.0"}',
        '{"result":1}',
        '{"method":5}',
        '{"method":"m","id":1.5}',
        '{"method":"m","id":true}',
        '{"method":"m","id":[1]}',
        '{"id":{},"result":1}',
        '{"id":false,"error":{}}',
        "[" * 100_000,
        '{"method":"\udcff"}',
    ],
)
def test_what_is_no_message_says_why(text: str) -> None:
    with pytest.raises(NotAMessage, match=r".+"):
        read_message(decode_json(text.encode("utf-8", "surrogateescape")))


@pytest.fixture
def peer() -> Peer:
    """Return a peer that was asked `1`."""
    peer = Peer(framing=LineFraming())
    peer.receive_bytes(b'{"id":1,"method":"m"}\n')
    return peer


@pytest.mark.parametrize("params", [None, [], {"a": "é\n"}])
def test_what_is_called_reads_the_same(peer: Peer, params: object) -> None:
    number, request = peer.send_request("m", params)
    assert read(request.decode()) == Request(number, "m", params)
    assert read(peer.send_notification("m", params).decode()) == Notification("m", params)


def test_what_is_answered_reads_the_same(peer: Peer) -> None:
    answer = peer.respond_error(1, -1, "no", {"d": 1})
    assert read(answer.decode()) == ErrorResponse(1, -1, "no", {"d": 1})


def test_a_message_has_only_what_is_there(peer: Peer) -> None:
    assert peer.send_notification("exit") == b'{"jsonrpc":"2.0","method":"exit"}\n'
    assert peer.respond(1, None) == b'{"jsonrpc":"2.0","id":1,"result":null}\n'


def test_odd_text_is_written_as_plain_ascii_on_one_line(peer: Peer) -> None:
    encoded = peer.send_notification("m", "lone \udc80 surrogate\r\n\u2028")
    assert b'"lone \\udc80 surrogate\\r\\n\\u2028"' in encoded

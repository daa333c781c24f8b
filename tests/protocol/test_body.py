"""The outermost object of a message, and texts whose encoding is broken."""

import pytest

from eca_nvim.agents.eca.older.forms import read_notification
from eca_nvim.protocol.base.codec import NOTHING, decode_body
from eca_nvim.protocol.eca import Unknown
from eca_nvim.protocol.eca.content import ContentReceived, TextContent
from eca_nvim.protocol.eca.tools import JobsUpdated


def text_of(body: bytes) -> str:
    message = decode_body(body)
    received = read_notification(message.method, message.params)
    assert isinstance(received, ContentReceived)
    assert isinstance(received.content, TextContent)
    return received.content.text


def text_message(escaped: bytes) -> bytes:
    content = b'{"type":"text","text":"' + escaped + b'"}'
    return b'{"method":"chat/contentReceived","params":{"content":' + content + b"}}"


def test_a_request() -> None:
    body = decode_body(b'{"jsonrpc":"2.0","id":7,"method":"a/b","params":{"x":1}}')
    assert (body.id, body.method, bytes(body.params)) == (7, "a/b", b'{"x":1}')
    assert (body.result, body.error) == (NOTHING, None)


def test_an_answer() -> None:
    body = decode_body(b'{"id":"s","result":null}')
    assert (body.id, body.method, bytes(body.result)) == ("s", None, b"null")
    assert decode_body(b'{"id":1,"error":{"code":"x"}}').error == {"code": "x"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'[{"id":1}]',
        b"5",
        b'{"params":' + b"[" * 100_000,
        b"\xff",
        b'{"id":NaN}',
        b'["\\ud83d"]',
    ],
)
def test_what_is_no_message_is_a_value_error(body: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        decode_body(body)


@pytest.mark.parametrize(
    ("escaped", "text"),
    [
        (b"caf\xc3\xa9", "café"),
        (b"\\ud83d\\ude00", "😀"),
        (b"cut \\ud83d", "cut �"),
        (b"\\ude00 cut", "� cut"),
        (b"latin \xe9 1", "latin � 1"),
        (b"raw \t tab", "raw \t tab"),
        (b"\\u0000", "\0"),
        (b'half \\ud83d","size":' + b"9" * 40 + b',"a":"', "half �"),
        (b"\xe2\x80\xa8", "\u2028"),
    ],
)
def test_no_text_is_lost_for_its_encoding(escaped: bytes, text: str) -> None:
    assert text_of(text_message(escaped)) == text


def test_a_message_without_params_has_empty_ones() -> None:
    message = decode_body(b'{"method":"jobs/updated"}')
    assert read_notification(message.method, message.params) == JobsUpdated(jobs=())
    assert read_notification("chat/danced", message.params) == Unknown("chat/danced", None)

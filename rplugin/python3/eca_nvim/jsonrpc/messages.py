"""Messages: the types of JSON-RPC 2.0 messages, from bytes and back; frozen values.

A layer that passes its own reader of bytes may leave `params` and `result` as raw bytes, to decode
each message once, directly into its types. Arrays of messages (batches) are not supported.
"""

import json
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias, TypeGuard, assert_never

EXCERPT_BYTES: Final = 160
"""Most bytes of a malformed message that are quoted."""

PARSE_ERROR: Final = -32700
"""Error code for a message that cannot be read."""

INVALID_REQUEST: Final = -32600
"""Error code for JSON that is not a message."""

METHOD_NOT_FOUND: Final = -32601
"""Error code for a request with an unknown method."""

INTERNAL_ERROR: Final = -32603
"""Error code for a request whose handler failed."""

REQUEST_CANCELLED: Final = -32800
"""Error code for a cancelled request, as in the language server protocol."""

MOST_ID: Final = 2**63 - 1
"""Largest number, positive or negative, that is accepted as an id."""

MessageId: TypeAlias = int | str


class Request(NamedTuple):
    """A message that needs a response with the same id."""

    id: MessageId
    method: str
    params: object


class Notification(NamedTuple):
    """A message without a response."""

    method: str
    params: object


class Response(NamedTuple):
    """The successful response to a request."""

    id: MessageId
    result: object


class ErrorResponse(NamedTuple):
    """The error response to a request; without an id, the other side could not read our message.

    By the standard the code is a number; some servers send a word or none.
    """

    id: MessageId | None
    code: int | str | None
    message: str
    data: object


Message: TypeAlias = Request | Notification | Response | ErrorResponse


class MalformedMessage(NamedTuple):
    """A framed message that cannot be read; `excerpt` is its beginning."""

    reason: str
    excerpt: bytes

    def __str__(self) -> str:
        return f"{self.reason}: {self.excerpt!r}"


class NotAMessage(ValueError):
    """Raised when bytes or an object cannot be read as a message; the text says why."""


class Envelope(NamedTuple):
    """The outermost object of a message; absent parts are None.

    params, result: in the form that the reader of bytes chooses. error: decoded JSON.
    """

    id: object
    method: object
    params: object
    result: object
    error: object


def read_message(envelope: Envelope) -> Message:
    """Return the message in an envelope. Raises NotAMessage.

    A null id, an error without a code, and an answer with neither result nor error are accepted.
    """
    method, message_id = envelope.method, envelope.id
    if isinstance(method, str):
        if message_id is None:
            return Notification(method, envelope.params)
        return Request(_read_id(message_id), method, envelope.params)
    if method is None:
        return _read_answer(envelope)
    raise NotAMessage("its method is not a string")


def wire_form(message: Message) -> dict[str, object]:
    """Return the JSON object of a message; params that are None are omitted."""
    match message:
        case Request(message_id, method, params):
            body: dict[str, object] = {"id": message_id, "method": method}
        case Notification(method, params):
            body = {"method": method}
        case Response(message_id, result):
            return {"jsonrpc": "2.0", "id": message_id, "result": result}
        case ErrorResponse():
            return {"jsonrpc": "2.0", "id": message.id, "error": _wire_error(message)}
        case _:
            assert_never(message)
    return {"jsonrpc": "2.0", **body, **({} if params is None else {"params": params})}


def _read_answer(envelope: Envelope) -> Response | ErrorResponse:
    message_id, error = envelope.id, envelope.error
    if error is None:
        if message_id is None:
            raise NotAMessage("it has neither a method nor an id")
        return Response(_read_id(message_id), envelope.result)
    answered = None if message_id is None else _read_id(message_id)
    if not isinstance(error, Mapping):
        return ErrorResponse(answered, None, str(error), None)
    code = error.get("code")
    known_code = code if _is_id(code) else None
    return ErrorResponse(answered, known_code, str(error.get("message", "")), error.get("data"))


def _read_id(value: object) -> MessageId:
    if _is_id(value):
        return value
    raise NotAMessage("its id is neither a string nor an integer")


def _is_id(value: object) -> TypeGuard[MessageId]:
    if isinstance(value, int) and not isinstance(value, bool):
        return abs(value) <= MOST_ID
    return isinstance(value, str)


def _wire_error(message: ErrorResponse) -> dict[str, object]:
    error: dict[str, object] = {"code": message.code, "message": message.message}
    return error if message.data is None else {**error, "data": message.data}


Decode: TypeAlias = Callable[[bytes], Envelope]
"""Reads bytes. Raises NotAMessage, and nothing else, if they are not a JSON object."""


def decode_json(body: bytes) -> Envelope:
    """Read a message with the standard library's JSON. Raises NotAMessage."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise NotAMessage(f"not JSON: {error}") from error
    if not isinstance(message, dict):
        raise NotAMessage("not a JSON object")
    return Envelope(*map(message.get, Envelope._fields))


def encode_json(message: Mapping[str, object]) -> bytes:
    """Write a JSON object as ASCII, which can encode any text, without raw line feeds."""
    return json.dumps(message, separators=(",", ":")).encode()

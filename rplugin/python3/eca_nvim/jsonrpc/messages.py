"""Messages: the types of JSON-RPC 2.0 messages, from bytes and back.

A layer with types of its own passes its own codec. If that leaves `params` and `result` as raw
bytes, the layer can decode each message once, directly into its types.

Rules kept here:
- Messages are frozen values. The codec decides what `params` and `result` are: decoded JSON, or raw
  bytes for a layer that decodes them once into its own types.
- Reading is tolerant: a null id, an error without a code, and a response with neither result nor
  error are accepted. Anything else becomes a `MalformedMessage`, which is a value, too.
- An id is a string or an integer of 64 bits. Arrays of messages (batches) are not supported.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, NamedTuple, Protocol, TypeAlias, TypeGuard, assert_never

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


class Envelope(Protocol):
    """The outermost object of a message, as a codec returns it; absent parts are None."""

    @property
    def id(self) -> object:
        """The id of a request or a response."""

    @property
    def method(self) -> object:
        """The method of a request or notification."""

    @property
    def params(self) -> object:
        """The parameters, in the form that the codec chooses."""

    @property
    def result(self) -> object:
        """The result, in the form that the codec chooses."""

    @property
    def error(self) -> object:
        """The error, as decoded JSON."""


def read_message(envelope: Envelope) -> Message:
    """Return the message in an envelope. Raises NotAMessage."""
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


class Codec(Protocol):
    """Reads and writes JSON."""

    def decode(self, body: bytes) -> Envelope:
        """Read the outermost object of a message.

        Raises NotAMessage, and nothing else, for bytes that are not a JSON object.
        """

    def encode(self, message: Mapping[str, object]) -> bytes:
        """Write a JSON object as UTF-8 without raw line feeds."""


class JsonEnvelope(NamedTuple):
    """The outermost object of a message, with decoded parts."""

    id: object
    method: object
    params: object
    result: object
    error: object


class JsonCodec:
    """A codec with the standard library's JSON."""

    def decode(self, body: bytes) -> JsonEnvelope:
        """Read the outermost object of a message. Raises NotAMessage."""
        try:
            message = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise NotAMessage(f"not JSON: {error}") from error
        if not isinstance(message, dict):
            raise NotAMessage("not a JSON object")
        get = message.get
        return JsonEnvelope(get("id"), get("method"), get("params"), get("result"), get("error"))

    def encode(self, message: Mapping[str, object]) -> bytes:
        """Write a JSON object as ASCII."""
        return json.dumps(message, separators=(",", ":")).encode()

"""The messages of JSON-RPC 2.0, and how one is told from another.

Rules this file keeps:

- Messages are frozen values. `params` and `result` are what the codec made of them: decoded
  JSON, or raw bytes for a layer that decodes them once into its own types.
- Reading is tolerant of what servers do: a null id, an error without a code, an answer with
  neither result nor error. What cannot be placed at all is a `MalformedMessage`, a value too.
- An id is a string or an integer of 64 bits. Arrays of messages (batches) are not taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, Protocol, TypeAlias, TypeGuard, assert_never

EXCERPT_BYTES: Final = 160
"""How much of its bytes a malformed message carries."""

METHOD_NOT_FOUND: Final = -32601
PARSE_ERROR: Final = -32700
"""The error code for a request whose method is not known."""

INTERNAL_ERROR: Final = -32603
"""The error code for a request whose handling failed."""

REQUEST_CANCELLED: Final = -32800
"""The error code for a request that was cancelled, as the language server protocol has it."""

MOST_ID: Final = 2**63 - 1
"""The largest number that is an id, and without its sign the smallest."""

MessageId: TypeAlias = int | str


class Request(NamedTuple):
    """A question that wants an answer with the same id."""

    id: MessageId
    method: str
    params: object


class Notification(NamedTuple):
    """News that wants no answer."""

    method: str
    params: object


class Response(NamedTuple):
    """The good answer to a request."""

    id: MessageId
    result: object


class ErrorResponse(NamedTuple):
    """The bad answer to a request; without an id, the other side could not read ours.

    The code is a number by the standard, a word or absent with some servers.
    """

    id: MessageId | None
    code: int | str | None
    message: str
    data: object


Message: TypeAlias = Request | Notification | Response | ErrorResponse


class MalformedMessage(NamedTuple):
    """Bytes that came framed as a message and are none; `excerpt` is how they begin."""

    reason: str
    excerpt: bytes

    def __str__(self) -> str:
        return f"{self.reason}: {self.excerpt!r}"


class NotAMessage(ValueError):
    """Raised when bytes or an object cannot be read as a message; it says why."""


class Envelope(Protocol):
    """The outermost object of a message, as a codec returns it; None for what is absent."""

    @property
    def id(self) -> object:
        """The id of a request, or of the request that is answered."""

    @property
    def method(self) -> object:
        """The method of a request or notification."""

    @property
    def params(self) -> object:
        """The parameters, in the form that the layer above wants."""

    @property
    def result(self) -> object:
        """The result, in the form that the layer above wants."""

    @property
    def error(self) -> object:
        """The error, as decoded JSON."""


def read_message(envelope: Envelope) -> Message:
    """Tell which message an envelope holds; raise `NotAMessage` when none."""
    method, message_id = envelope.method, envelope.id
    if isinstance(method, str):
        if message_id is None:
            return Notification(method, envelope.params)
        return Request(_read_id(message_id), method, envelope.params)
    if method is None:
        return _read_answer(envelope)
    raise NotAMessage("its method is no string")


def wire_form(message: Message) -> dict[str, object]:
    """Return the JSON object of a message; parameters that are None are left out."""
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

"""Peer: one side of a JSON-RPC 2.0 connection: bytes in, events out; messages in, bytes out.

Messages are frozen values. A layer that passes its own reader of bytes may leave `params` and
`result` as raw bytes, to decode each message once, directly into its types. Arrays of messages
(batches) are not supported. No input raises an exception; misuse by our own side does.
"""

import json
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, Protocol, TypeAlias, TypeGuard

from eca_nvim.jsonrpc.framing import ContentLengthFraming, Framing, FramingFault

EXCERPT_BYTES: Final = 160
"""Most bytes of a malformed message that are quoted."""

PARSE_ERROR: Final = -32700
"""Error code for a message that cannot be read."""

INVALID_REQUEST: Final = -32600
"""Error code for JSON that is not a message."""

METHOD_NOT_FOUND: Final = -32601
"""Error code for a request with an unknown method."""

INVALID_PARAMS: Final = -32602
"""Error code for a request with malformed parameters."""

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
    """The outermost object of a message; absent parts are None."""

    @property
    def id(self) -> object:
        """Decoded JSON; a notification has none."""

    @property
    def method(self) -> object:
        """Decoded JSON; a response has none."""

    @property
    def params(self) -> object:
        """In the form that the reader of bytes chooses."""

    @property
    def result(self) -> object:
        """In the form that the reader of bytes chooses."""

    @property
    def error(self) -> object:
        """Decoded JSON."""


class _Decoded(NamedTuple):
    """An envelope of which everything is decoded."""

    id: object
    method: object
    params: object
    result: object
    error: object


def read_message(envelope: Envelope) -> Message:
    """Return the message in an envelope. Raises NotAMessage.

    A null id, an error without a code, and an answer with neither result nor error are accepted.
    """
    method, error, message_id = envelope.method, envelope.error, None
    if envelope.id is not None:
        if not _is_id(envelope.id):
            raise NotAMessage("its id is neither a string nor an integer")
        message_id = envelope.id
    if isinstance(method, str):
        if message_id is None:
            return Notification(method, envelope.params)
        return Request(message_id, method, envelope.params)
    if method is not None:
        raise NotAMessage("its method is not a string")
    if error is None:
        if message_id is None:
            raise NotAMessage("it has neither a method nor an id")
        return Response(message_id, envelope.result)
    if not isinstance(error, Mapping):
        return ErrorResponse(message_id, None, str(error), None)
    code = error.get("code")
    known_code = code if _is_id(code) else None
    return ErrorResponse(message_id, known_code, str(error.get("message", "")), error.get("data"))


def _is_id(value: object) -> TypeGuard[MessageId]:
    if isinstance(value, int) and not isinstance(value, bool):
        return abs(value) <= MOST_ID
    return isinstance(value, str)


Decode: TypeAlias = Callable[[bytes], Envelope]
"""Reads bytes. Raises ValueError, and nothing else, if they are not a JSON object."""


def decode_json(body: bytes) -> Envelope:
    """Read a message with the standard library's JSON. Raises NotAMessage."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise NotAMessage(f"not JSON: {error}") from error
    if not isinstance(message, dict):
        raise NotAMessage("not a JSON object")
    return _Decoded(*map(message.get, _Decoded._fields))


class CancelForm(NamedTuple):
    """How a protocol cancels a request: the notification, and its member with the request's id."""

    method: str
    member: str


LANGUAGE_SERVER_CANCEL: Final = CancelForm("$/cancelRequest", "id")
"""The form of language servers and ECA."""
SAME_ID: Final = "a request with the id of another one that is open"


class UnexpectedAnswer(NamedTuple):
    """A response without an open request, for example a second one."""

    answer: Response | ErrorResponse

    def __str__(self) -> str:
        return f"no open request for this answer: {self.answer}"


Event: TypeAlias = Message | UnexpectedAnswer | MalformedMessage | FramingFault


class NotOpen(Exception):
    """Raised when we respond to a request that does not exist or was answered already."""

    def __init__(self, request_id: MessageId) -> None:
        super().__init__(f"no open request has the id {request_id!r}")


class Peer:
    """Our side of a connection: tracks the ids of open requests, reads and writes bytes."""

    def __init__(
        self,
        decode: Decode = decode_json,
        framing: Framing | None = None,
        cancel: CancelForm = LANGUAGE_SERVER_CANCEL,
    ) -> None:
        self._decode = decode
        self._framing = framing or ContentLengthFraming()
        self._cancel = cancel
        self._last_id = 0
        self._ours: set[MessageId] = set()
        self._theirs: set[MessageId] = set()

    @property
    def open_requests(self) -> frozenset[MessageId]:
        """The ids of our requests without a response."""
        return frozenset(self._ours)

    def receive_bytes(self, data: bytes) -> list[Event]:
        """Add the next bytes of the stream; return the events they complete, in order."""
        return [
            item if isinstance(item, FramingFault) else self._receive(item)
            for item in self._framing.feed(data)
        ]

    def send_request(self, method: str, params: object = None) -> tuple[int, bytes]:
        """Return a new id, and the bytes of a request with it."""
        request_id = self._last_id + 1  # from 1, as some servers never answer other ids
        encoded = self._write({"id": request_id, "method": method}, params=params)
        self._last_id = request_id
        self._ours.add(request_id)
        return request_id, encoded

    def send_notification(self, method: str, params: object = None) -> bytes:
        """Return the bytes of a notification."""
        return self._write({"method": method}, params=params)

    def send_cancel(self, request_id: int) -> bytes:
        """Return the bytes that cancel a request of ours. Raises NotOpen."""
        if request_id not in self._ours:
            raise NotOpen(request_id)
        return self.send_notification(self._cancel.method, {self._cancel.member: request_id})

    def respond(self, request_id: MessageId, result: object) -> bytes:
        """Return the bytes of the successful response to a request. Raises NotOpen."""
        _close(self._theirs, request_id)
        return self._write({"id": request_id, "result": result})

    def respond_error(
        self, request_id: MessageId, code: int, message: str, data: object = None
    ) -> bytes:
        """Return the bytes of the error response to a request. Raises NotOpen."""
        _close(self._theirs, request_id)
        return self._write_error(request_id, code, message, data)

    def drop(self, request_id: MessageId) -> None:
        """Leave a request without a response: the other side has cancelled it. Raises NotOpen."""
        _close(self._theirs, request_id)

    def refuse(self, fault: FramingFault | MalformedMessage) -> bytes:
        """Return the bytes of an error response without an id, to a message that cannot be read."""
        if isinstance(fault, MalformedMessage):
            return self._write_error(None, INVALID_REQUEST, fault.reason)
        return self._write_error(None, PARSE_ERROR, fault.reason.value)

    def _receive(self, body: bytes) -> Event:
        try:
            message = read_message(self._decode(body))
        except ValueError as fault:
            return MalformedMessage(str(fault), body[:EXCERPT_BYTES])
        match message:
            case Notification():  # first, because every token is one
                pass
            case Request():
                if message.id in self._theirs:  # an answer would fit both
                    return MalformedMessage(SAME_ID, body[:EXCERPT_BYTES])
                self._theirs.add(message.id)
            case Response() | ErrorResponse():
                if message.id not in self._ours:  # a cancelled request still gets its answer
                    return UnexpectedAnswer(message)
                self._ours.remove(message.id)
        return message

    def _write(self, message: Mapping[str, object], params: object = None) -> bytes:
        """Write a message as ASCII, which can encode any text, without raw line feeds."""
        given = {} if params is None else {"params": params}
        text = json.dumps({"jsonrpc": "2.0", **message, **given}, separators=(",", ":"))
        return self._framing.encode(text.encode())

    def _write_error(
        self, request_id: MessageId | None, code: int, message: str, data: object = None
    ) -> bytes:
        error = {"code": code, "message": message, **({} if data is None else {"data": data})}
        return self._write({"id": request_id, "error": error})


def _close(open_ids: set[MessageId], request_id: MessageId) -> None:
    if request_id not in open_ids:
        raise NotOpen(request_id)
    open_ids.remove(request_id)

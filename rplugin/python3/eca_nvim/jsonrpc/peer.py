"""Peer: one side of a JSON-RPC connection: bytes in, events out; messages in, bytes out.

Its state is the ids of open requests, ours and theirs. No input raises an exception; misuse by our
own side does.
"""

from typing import Final, NamedTuple, TypeAlias

from eca_nvim.jsonrpc.framing import ContentLengthFraming, Framing, FramingFault
from eca_nvim.jsonrpc.messages import (
    EXCERPT_BYTES,
    INVALID_REQUEST,
    PARSE_ERROR,
    Decode,
    ErrorResponse,
    MalformedMessage,
    Message,
    MessageId,
    NotAMessage,
    Notification,
    Request,
    Response,
    decode_json,
    encode_json,
    read_message,
    wire_form,
)


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
    """Our side of a connection: tracks ids, reads and writes bytes."""

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
        encoded = self._encode(Request(request_id, method, params))
        self._last_id = request_id
        self._ours.add(request_id)
        return request_id, encoded

    def send_notification(self, method: str, params: object = None) -> bytes:
        """Return the bytes of a notification."""
        return self._encode(Notification(method, params))

    def send_cancel(self, request_id: int) -> bytes:
        """Return the bytes that cancel a request of ours. Raises NotOpen."""
        if request_id not in self._ours:
            raise NotOpen(request_id)
        return self.send_notification(self._cancel.method, {self._cancel.member: request_id})

    def respond(self, request_id: MessageId, result: object) -> bytes:
        """Return the bytes of the successful response to a request. Raises NotOpen."""
        _close(self._theirs, request_id)
        return self._encode(Response(request_id, result))

    def respond_error(
        self, request_id: MessageId, code: int, message: str, data: object = None
    ) -> bytes:
        """Return the bytes of the error response to a request. Raises NotOpen."""
        _close(self._theirs, request_id)
        return self._encode(ErrorResponse(request_id, code, message, data))

    def drop(self, request_id: MessageId) -> None:
        """Leave a request without a response: the other side has cancelled it. Raises NotOpen."""
        _close(self._theirs, request_id)

    def refuse(self, fault: FramingFault | MalformedMessage) -> bytes:
        """Return the bytes of an error response without an id, to a message that cannot be read."""
        if isinstance(fault, MalformedMessage):
            return self._encode(ErrorResponse(None, INVALID_REQUEST, fault.reason, None))
        return self._encode(ErrorResponse(None, PARSE_ERROR, fault.reason.value, None))

    def _receive(self, body: bytes) -> Event:
        try:
            message = read_message(self._decode(body))
        except NotAMessage as fault:
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

    def _encode(self, message: Message) -> bytes:
        return self._framing.encode(encode_json(wire_form(message)))


def _close(open_ids: set[MessageId], request_id: MessageId) -> None:
    if request_id not in open_ids:
        raise NotOpen(request_id)
    open_ids.remove(request_id)

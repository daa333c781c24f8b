"""One side of a JSON-RPC conversation: bytes in, events out; messages in, bytes out.

Rules this file keeps:

- It does no I/O and holds no callbacks. What it remembers are the ids of requests without an
  answer, ours and theirs.
- Our ids are positive integers from 1: there are servers that never answer others.
- Answers may come in any order. One that nothing waits for, or a second one to the same
  request, is an `UnexpectedAnswer`. A request that was cancelled still gets its answer.
- Nothing that arrives raises. Misuse by our own side does.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from eca_nvim.jsonrpc.codec import Codec, JsonCodec
from eca_nvim.jsonrpc.framing import ContentLengthFraming, Framing, FramingFault
from eca_nvim.jsonrpc.messages import (
    EXCERPT_BYTES,
    PARSE_ERROR,
    ErrorResponse,
    MalformedMessage,
    Message,
    MessageId,
    NotAMessage,
    Notification,
    Request,
    Response,
    read_message,
    wire_form,
)


class UnexpectedAnswer(NamedTuple):
    """An answer to no request of ours, or a second one to the same."""

    answer: Response | ErrorResponse

    def __str__(self) -> str:
        return f"answer to no open request: {self.answer}"


Event: TypeAlias = Message | UnexpectedAnswer | MalformedMessage | FramingFault


class NotOpen(Exception):
    """Raised when we answer a request that was never made or already has its answer."""

    def __init__(self, request_id: MessageId) -> None:
        super().__init__(f"no open request has the id {request_id!r}")


class Peer:
    """The ids and the bytes of one conversation, from our side."""

    def __init__(self, codec: Codec | None = None, framing: Framing | None = None) -> None:
        self._codec = codec or JsonCodec()
        self._framing = framing or ContentLengthFraming()
        self._last_id = 0
        self._ours: set[MessageId] = set()
        self._theirs: set[MessageId] = set()

    @property
    def open_requests(self) -> frozenset[MessageId]:
        """The ids of our requests that have no answer yet."""
        return frozenset(self._ours)

    def receive_bytes(self, data: bytes) -> list[Event]:
        """Take the next bytes of the stream; return what they complete, in order."""
        return [
            item if isinstance(item, FramingFault) else self._receive(item)
            for item in self._framing.feed(data)
        ]

    def send_request(self, method: str, params: object = None) -> tuple[int, bytes]:
        """Return a new id and the bytes of a request that has it."""
        request_id = self._last_id + 1
        encoded = self._encode(Request(request_id, method, params))
        self._last_id = request_id
        self._ours.add(request_id)
        return request_id, encoded

    def send_notification(self, method: str, params: object = None) -> bytes:
        """Return the bytes of a notification."""
        return self._encode(Notification(method, params))

    def send_cancel(self, request_id: int) -> bytes:
        """Return the bytes that ask to cancel a request of ours; raise `NotOpen`.

        The protocol's name is `$/cancelRequest`.
        """
        if request_id not in self._ours:
            raise NotOpen(request_id)
        return self.send_notification("$/cancelRequest", {"id": request_id})

    def respond(self, request_id: MessageId, result: object) -> bytes:
        """Return the bytes of the good answer to their request; raise `NotOpen`."""
        _close(self._theirs, request_id)
        return self._encode(Response(request_id, result))

    def respond_error(
        self, request_id: MessageId, code: int, message: str, data: object = None
    ) -> bytes:
        """Return the bytes of the bad answer to their request; raise `NotOpen`."""
        _close(self._theirs, request_id)
        return self._encode(ErrorResponse(request_id, code, message, data))

    def refuse(self, fault: FramingFault) -> bytes:
        """Return the bytes that say that a message could not be read, whichever it was."""
        return self._encode(ErrorResponse(None, PARSE_ERROR, fault.reason.value, None))

    def _receive(self, body: bytes) -> Event:
        try:
            message = read_message(self._codec.decode(body))
        except NotAMessage as fault:
            return MalformedMessage(str(fault), body[:EXCERPT_BYTES])
        match message:
            case Notification():  # first: a token is one
                pass
            case Request():
                self._theirs.add(message.id)
            case Response() | ErrorResponse():
                if message.id not in self._ours:
                    return UnexpectedAnswer(message)
                self._ours.remove(message.id)
        return message

    def _encode(self, message: Message) -> bytes:
        return self._framing.encode(self._codec.encode(wire_form(message)))


def _close(open_ids: set[MessageId], request_id: MessageId) -> None:
    if request_id not in open_ids:
        raise NotOpen(request_id)
    open_ids.remove(request_id)

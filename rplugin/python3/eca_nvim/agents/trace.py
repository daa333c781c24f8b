"""Trace: what went over an agent's connection, as messages: requests with their answers.

Rules kept here:
- Nothing is decoded before somebody reads. A reader reads each piece of the tape once.
- What is not kept, or is no message, is said; nothing that follows it is lost by that.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from enum import Enum, auto
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from eca_nvim.jsonrpc import (
    ErrorResponse,
    Framing,
    FramingFault,
    MessageId,
    NotAMessage,
    Notification,
    Request,
    Response,
    read_message,
)
from eca_nvim.protocol.base.codec import decode_body
from eca_nvim.transport import Tape
from eca_nvim.transport.tape import LIMIT, Piece

LONGEST: Final = 1 << 20
"""Bytes of a message that are kept while it is shown; of a longer one the beginning is."""
EXCERPT: Final = 4 << 10
NOT_KEPT: Final = "what went over the connection here is not kept any more"
_BEGINNING: Final = b'{"jsonrpc":"2.0",'
"""How our own messages begin; of a very long one nothing else is kept."""


_Form = TypeVar("_Form")


class Kind(Enum):
    """What a piece of the connection is; FAULT: no message, GAP: pieces that are not kept."""

    REQUEST = auto()
    NOTIFICATION = auto()
    ANSWER = auto()
    FAULT = auto()
    GAP = auto()


class Traced(msgspec.Struct, eq=False):
    """A message on the wire.

    number: unique, in their order. at: seconds since the agent was made. body: JSON as it was;
    shorter than `size` bytes if that is too long to be kept. name: the method, or what is wrong.
    chat: our id of the chat that it names. is_lost: its answer may be among what is not kept.
    """

    number: int
    kind: Kind
    at: float
    is_sent: bool
    size: int = 0
    body: bytes = b""
    name: str = ""
    id: MessageId | None = None
    chat: str | None = None
    error: str = ""
    answer: "Traced | None" = None
    request: "Traced | None" = None
    is_lost: bool = False

    def read(self, form: Callable[[object], _Form]) -> _Form:
        """Return a form of the whole message. Raises ValueError with the reason why there is none.

        form: makes it of the decoded message, which others have nested as deeply as they want.
        """
        if self.kind in (Kind.FAULT, Kind.GAP) or len(self.body) < self.size:
            raise ValueError("it is too long")
        try:
            return form(json.loads(self.body.decode(errors="replace"), strict=False))
        except RecursionError as fault:
            raise ValueError("it is nested too deeply") from fault
        except json.JSONDecodeError:
            raise
        except ValueError as fault:  # Python reads no number of so many digits
            raise ValueError("it has a number that is too long") from fault


class Dialect(NamedTuple):
    """How a protocol frames its messages, and what recordings call their directions."""

    framing: Callable[[], Framing]
    sent: str
    received: str


class _Named(msgspec.Struct):
    """Params or a result, of which only the chat matters."""

    chat_id: Any = msgspec.field(default=None, name="chatId")
    session_id: Any = msgspec.field(default=None, name="sessionId")


_named = msgspec.json.Decoder(_Named)


class Trace:
    """What went over one connection; `chat_of`: our id of a chat by that on the wire."""

    def __init__(self, tape: Tape, dialect: Dialect, chat_of: Callable[[str], str | None]) -> None:
        self.tape = tape
        self._dialect = dialect
        self._chat_of = chat_of

    def reader(self, longest: int = LONGEST) -> "Reader":
        """Return a reader at the first message; longest: bytes of messages that it keeps whole."""
        return Reader(self.tape, self._dialect.framing, self._chat_of, longest)

    def recording(self, hide: Callable[[object], object]) -> Iterator[str]:
        """Yield the lines of a recording that the tests can play: `{"t", "dir", "msg"}`; blocks.

        hide: returns a decoded message without what must not be in it.
        """
        for it in self.reader(LIMIT).read():
            way = self._dialect.sent if it.is_sent else self._dialect.received
            with suppress(ValueError):  # it is none, or not whole
                body = it.read(lambda said: json.dumps(hide(said), separators=(",", ":")))
                yield f'{{"t":{round(it.at, 3)},"dir":"{way}","msg":{body}}}'


class Reader:
    """Reads a tape, once from its beginning to its end, which may move."""

    def __init__(
        self,
        tape: Tape,
        framing: Callable[[], Framing],
        chat_of: Callable[[str], str | None],
        longest: int,
    ) -> None:
        self._tape = tape
        self._longest = longest
        self._framing = framing
        self._chat_of = chat_of
        self._next = self._count = 0
        self._waiting: dict[tuple[bool, MessageId], Traced] = {}
        self._start()

    @property
    def is_behind(self) -> bool:
        """Whether something was not read yet."""
        return self._next < self._tape.end

    def read(self, most: int | None = None) -> Sequence[Traced]:
        """Return the messages of the next pieces; most: how many pieces, None for all."""
        found: list[Traced] = []
        for piece in islice(self._tape.since(self._next), most):
            if piece.number != self._next:
                self._start()
                self._is_cut = True
                for it in self._waiting.values():
                    it.is_lost = True
                found.append(self._traced(Kind.GAP, piece, name=NOT_KEPT))
            self._next = piece.number + 1
            found += self._read(piece)
        return found

    def _start(self) -> None:
        self._streams = {True: self._framing(), False: self._framing()}
        self._is_cut = False
        """Whether the agent's next message may lack its beginning."""

    def _read(self, piece: Piece) -> Iterator[Traced]:
        if len(piece.data) < piece.size:
            yield self._beginning(piece)
            return
        for framed in self._streams[piece.is_sent].feed(piece.data):
            found = self._message(piece, framed)
            if self._is_cut and not piece.is_sent:
                if found.kind is Kind.FAULT:
                    continue
                self._is_cut = False
            yield found

    def _message(self, piece: Piece, framed: bytes | FramingFault) -> Traced:
        if isinstance(framed, FramingFault):
            it = self._traced(Kind.FAULT, piece, framed.excerpt, framed.reason.value)
            it.size = framed.size
            return it
        try:
            body = decode_body(framed)
            message = read_message(body)
        except (NotAMessage, ValueError) as fault:
            return self._traced(Kind.FAULT, piece, framed, f"not a message: {fault}")
        match message:
            case Notification(method, params):
                found = self._traced(Kind.NOTIFICATION, piece, framed, method)
                found.chat = self._chat(params)
            case Request(request_id, method, params):
                found = self._traced(Kind.REQUEST, piece, framed, method)
                self._ask(found, request_id)
                found.chat = self._chat(params)
            case Response(request_id, result):
                found = self._traced(Kind.ANSWER, piece, framed)
                self._answer(found, request_id, self._chat(result))
            case ErrorResponse():
                found = self._traced(Kind.ANSWER, piece, framed)
                code = "" if message.code is None else f" {message.code}"
                found.error = f"error{code}: {message.message}"
                self._answer(found, message.id)
        return found

    def _beginning(self, piece: Piece) -> Traced:
        """Read what is left of a very long message of ours."""
        _, begins, rest = piece.data.partition(_BEGINNING)
        body = begins + rest if begins else piece.data
        number, rest = _value_of(b'"id":', rest)
        named, _ = _value_of(b'"method":', rest.lstrip(b","))
        method = named if isinstance(named, str) else ""
        kind = Kind.NOTIFICATION if number is None else Kind.REQUEST if method else Kind.ANSWER
        found = self._traced(kind, piece, body, method)
        found.size = piece.size
        if isinstance(number, int | str) and kind is Kind.REQUEST:
            self._ask(found, number)
        else:
            self._answer(found, number)
        return found

    def _ask(self, request: Traced, request_id: MessageId) -> None:
        request.id = request_id
        self._waiting[request.is_sent, request_id] = request

    def _answer(self, answer: Traced, request_id: object, chat: str | None = None) -> None:
        if not isinstance(request_id, int | str):
            return
        answer.id, answer.chat = request_id, chat
        request = self._waiting.pop((not answer.is_sent, request_id), None)
        if request is not None:
            request.answer, answer.request = answer, request
            request.chat = request.chat or chat

    def _traced(self, kind: Kind, piece: Piece, body: bytes = b"", name: str = "") -> Traced:
        self._count += 1
        at, size = piece.at - self._tape.began, len(body)
        body = body if size <= self._longest else body[:EXCERPT]
        return Traced(self._count, kind, at, piece.is_sent, size, body, name)

    def _chat(self, raw: object) -> str | None:
        if not isinstance(raw, msgspec.Raw) or not raw:
            return None
        try:
            named = _named.decode(raw)
        except msgspec.DecodeError:  # not an object
            return None
        wire_id = named.chat_id or named.session_id
        return self._chat_of(wire_id) if isinstance(wire_id, str) else None


def _value_of(key: bytes, data: bytes) -> tuple[object, bytes]:
    """Return the value of a key with which data begins, and what follows it; None without it."""
    if not data.startswith(key):
        return None, data
    text = data[len(key) : len(key) + EXCERPT].decode(errors="replace")
    try:
        value, end = json.JSONDecoder().raw_decode(text)
    except ValueError:
        return None, data
    return value, data[len(key) + len(text[:end].encode()) :]

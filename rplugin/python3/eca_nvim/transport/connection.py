"""Connection: JSON-RPC with a child process, over its pipes.

A server that does not read its input blocks nobody and loses nothing: what is sent is queued, in
the order of the calls. One that closes its standard input or output is closed, as it is not usable
any more; then all waiting requests raise ConnectionClosed.
"""

import logging
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Final, NamedTuple, TypeAlias, assert_never

import anyio

from eca_nvim.guardian import GRACE_S, MARK, PARTING_S, mark_of, marked
from eca_nvim.jsonrpc import (
    LANGUAGE_SERVER_CANCEL,
    REQUEST_CANCELLED,
    CancelForm,
    Decode,
    ErrorResponse,
    FaultReason,
    Framing,
    FramingFault,
    MalformedMessage,
    MessageId,
    Notification,
    Peer,
    Request,
    Response,
    UnexpectedAnswer,
    decode_json,
)
from eca_nvim.spawn import child_environment, spawn
from eca_nvim.transport.process import ChildProcess, Exit
from eca_nvim.transport.tape import Tape

Incoming: TypeAlias = Request | Notification
Handler: TypeAlias = Callable[[list[Incoming]], None]
Guard: TypeAlias = Callable[[int], None]
"""Called with the process and session id of a server that must end when we do, in any case."""

logger = logging.getLogger(__name__)


GIVEN_UP: Final = "there was no answer"
"""Why a request counts as refused that we have given up."""


class RemoteError(Exception):
    """Raised when the server answers a request with an error.

    `code` is a number, a word or None; `data` is any JSON that the server adds.
    """

    def __init__(self, code: int | str | None, message: str, data: object) -> None:
        super().__init__(f"{message} ({code})" if code is not None else message)
        self.code = code
        self.message = message
        self.data = data


class ConnectionClosed(Exception):
    """Raised when a server is used that has ended; `exit` says how."""

    def __init__(self, ending: Exit) -> None:
        super().__init__(f"the server is gone: {ending}")
        self.exit = ending


class PendingRequest:
    """A queued request; its response can be awaited, or handled by a callback.

    on_answer: called with this request when its response is read, before later messages are.
    """

    def __init__(
        self,
        request_id: int,
        cancel: Callable[[int], None],
        on_answer: Callable[["PendingRequest"], None] | None = None,
    ) -> None:
        self.id = request_id
        self._cancel = cancel
        self._on_answer = on_answer
        self._settled = anyio.Event()
        self._answer: Response | ErrorResponse | Exit | None = None

    async def result(self) -> object:
        """Wait for the response; return or raise what `answer` does.

        Cancelling the wait, for example by `anyio.fail_after`, cancels the request.
        """
        try:
            await self._settled.wait()
        finally:
            if self._answer is None:
                self._cancel(self.id)
        return self.answer()

    def give_up(self) -> None:
        """Cancel the request: it counts as refused, unless there is a response."""
        if self._answer is None:
            self._cancel(self.id)
            self.settle(ErrorResponse(self.id, REQUEST_CANCELLED, GIVEN_UP, None))

    async def settled(self) -> None:
        """Wait for the response or the server's exit, without an effect on the request."""
        await self._settled.wait()

    def answer(self) -> object:
        """Return the result of a response that has arrived, as the codec decoded it.

        Raises RemoteError or ConnectionClosed.
        """
        match self._answer:
            case Response(result=result):
                return result
            case ErrorResponse(code=code, message=message, data=data):
                raise RemoteError(code, message, data)
            case ending:
                assert ending is not None
                raise ConnectionClosed(ending)

    def settle(self, answer: Response | ErrorResponse | Exit) -> None:
        """Store the response, or the server's exit, and wake the waiting task."""
        self._answer = answer
        self._settled.set()
        if self._on_answer is not None:
            self._on_answer(self)


class Goodbye(NamedTuple):
    """A message sent just before the end: a request, whose response nobody awaits, or not."""

    method: str
    params: object = None
    is_request: bool = False


class Connection:
    """A connection to a running server; created by `open_connection`."""

    def __init__(self, process: ChildProcess, peer: Peer, handler: Handler, tape: Tape) -> None:
        self.pid = process.pid
        """The id of the server's process, which is also its process group's."""
        self._process = process
        self._peer = peer
        self._handler = handler
        self._tape = tape
        self._waiting: dict[MessageId, PendingRequest] = {}
        self._closed = anyio.Event()
        self.exit: Exit | None = None
        """How the server ended; None while it runs."""

    @property
    def last_stderr(self) -> str:
        """The last line of standard error that is not blank, "" if there is none."""
        return next((line for line in reversed(self._process.stderr_tail) if line.strip()), "")

    @property
    def unread(self) -> int:
        """Bytes that wait for the server to read what was sent before."""
        return self._process.stdin.unwritten

    async def request(self, method: str, params: object = None) -> object:
        """Send a request and wait for its result; see `start_request`, `PendingRequest.result`."""
        return await self.start_request(method, params).result()

    def start_request(
        self,
        method: str,
        params: object = None,
        on_answer: Callable[[PendingRequest], None] | None = None,
    ) -> PendingRequest:
        """Queue a request at once, so that later calls are sent after it.

        `on_answer` is called when the response is read, in order with other messages; at once if
        the server has ended.
        """
        request_id, data = self._peer.send_request(method, params)
        pending = PendingRequest(request_id, self._cancel, on_answer)
        if self.exit is not None:
            pending.settle(self.exit)
        else:
            self._waiting[request_id] = pending
            self._put(data)
        return pending

    def notify(self, method: str, params: object = None) -> None:
        """Queue a notification."""
        self._put(self._peer.send_notification(method, params))

    def respond(self, request_id: MessageId, result: object) -> None:
        """Queue the successful response to a request of the server.

        Raises NotOpen if the request was answered already.
        """
        self._put(self._peer.respond(request_id, result))

    def respond_error(
        self, request_id: MessageId, code: int, message: str, data: object = None
    ) -> None:
        """Queue the error response to a request of the server. Raises NotOpen, too."""
        self._put(self._peer.respond_error(request_id, code, message, data))

    async def wait_closed(self) -> Exit:
        """Wait until the server has ended for any reason."""
        await self._closed.wait()
        assert self.exit is not None
        return self.exit

    async def aclose(self, patience: float = GRACE_S) -> Exit:
        """Send the queued messages and end the server by the ladder of `ChildProcess.close`.

        patience: seconds that the server has after the end of its input. The caller should first
        shut it down by its protocol.
        """
        await self._process.close(patience)
        return await self.wait_closed()

    def send_now(self, messages: Sequence[Goodbye]) -> None:
        """Send last messages without an event loop.

        They are lost if the server has not read the messages before.
        """
        peer = self._peer
        for it in messages:
            if it.is_request:
                _, data = peer.send_request(it.method, it.params)
            else:
                data = peer.send_notification(it.method, it.params)
            self._tape.add(data, is_sent=True)
            self._process.stdin.write_now(data)

    def kill_now(self) -> None:
        """End the server without an event loop, at exit of the interpreter; at most 0.8 s."""
        self._process.kill_now()

    def receive(self, data: bytes) -> None:
        """Read bytes of the server: pass its messages to the handler, and settle our requests.

        Messages of one read come together, in order. A task that awaits a response goes on after
        the whole read; `on_answer` is called in order.
        """
        self._tape.add(data, is_sent=False)
        batch: list[Incoming] = []
        events = self._peer.receive_bytes(data)
        if logger.isEnabledFor(logging.DEBUG):
            for event in events:
                parts = " ".join(map(_logged, event))
                logger.debug("%d -> %s %s", self.pid, type(event).__name__, parts)
        for event in events:
            match event:
                case Notification() | Request():
                    batch.append(event)
                case Response() | ErrorResponse():
                    if batch:
                        self._handler(batch)
                        batch = []
                    self._settle(event)
                case FramingFault(FaultReason.CHARSET):  # the protocol demands an answer
                    logger.warning("refused %s", event)
                    self._put(self._peer.refuse(event))
                case UnexpectedAnswer() | MalformedMessage() | FramingFault():
                    logger.warning("skipped %s", event)
                case _:
                    assert_never(event)
        if batch:
            self._handler(batch)

    async def run(self) -> None:
        """Wait for the end of the server, then settle all waiting requests."""
        with anyio.CancelScope(shield=True):  # the canceller ends the process
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._close_after, self._process.stdin.ended)
                tasks.start_soon(self._close_after, self._process.stdout.ended)
                ending = await self._process.wait()
        self.exit = ending
        self._tape.ended = time.monotonic()
        self._closed.set()
        while self._waiting:
            self._waiting.popitem()[1].settle(ending)

    async def _close_after(self, pipe_ended: anyio.Event) -> None:
        await pipe_ended.wait()
        with anyio.move_on_after(PARTING_S):
            await self._process.wait()
        await self._process.close()

    def _put(self, data: bytes) -> None:
        if self.exit is not None:  # whoever waits for the end learns it
            return
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug("%d <- %s", self.pid, _logged(data))
        self._tape.add(data, is_sent=True)
        self._process.stdin.put(data)

    def _settle(self, answer: Response | ErrorResponse) -> None:
        if answer.id in self._waiting:
            self._waiting.pop(answer.id).settle(answer)
        else:
            logger.debug("answer to the cancelled request %s", answer.id)

    def _cancel(self, request_id: int) -> None:
        if request_id in self._waiting:
            del self._waiting[request_id]
            self._put(self._peer.send_cancel(request_id))


@asynccontextmanager
async def open_connection(
    command: Sequence[str],
    handler: Handler,
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    process: subprocess.Popen[bytes] | None = None,
    decode: Decode = decode_json,
    framing: Framing | None = None,
    cancel: CancelForm = LANGUAGE_SERVER_CANCEL,
    on_stderr: Callable[[str], None] | None = None,
    guard: Guard | None = None,
    tape: Tape | None = None,
) -> AsyncIterator[Connection]:
    """Start a server and connect to it; leaving the context, also by cancellation, ends it.

    handler: called with the server's requests and notifications; its exceptions end the connection
    and leave the context. env: the whole environment; None for what every child process inherits.
    process: the server if it was spawned before. on_stderr: called with each line of standard
    error; default: the log. guard: called as soon as the server runs. tape: notes all that is read
    and written. Raises StartError.
    """
    if process is None:
        env = marked(child_environment() if env is None else env)
        process, mark = spawn(command, env, cwd), env[MARK]
    else:
        mark = mark_of(process.pid)
    if guard is not None:
        guard(process.pid)
    child = ChildProcess(process, on_stderr or partial(logger.info, "stderr: %s"), mark)
    connection = Connection(child, Peer(decode, framing, cancel), handler, tape or Tape())
    fault: BaseException | None = None
    try:
        async with anyio.create_task_group() as tasks:
            child.run_in(tasks, connection.receive)
            tasks.start_soon(connection.run)
            try:
                yield connection
            finally:
                with anyio.CancelScope(shield=True):
                    await child.close()
    except BaseExceptionGroup as group:
        fault = group if len(group.exceptions) > 1 else group.exceptions[0]
    if fault is not None:  # raised here, it keeps its cause and context
        raise fault


def _logged(part: object) -> str:
    """Return a part of a message as text, whole: redaction would not recognise a key that is cut.

    Parts may be bytes, or objects that have bytes.
    """
    if part is None or isinstance(part, str | int | float | dict | list | tuple):
        return str(part)
    try:
        return bytes(memoryview(part)).decode(errors="replace").strip()  # type: ignore[arg-type]
    except TypeError:
        return str(part)

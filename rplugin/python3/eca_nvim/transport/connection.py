"""A conversation with a child process: its bytes pumped through a JSON-RPC peer.

Rules this file keeps:

- What is sent goes out in the order of the calls. `notify`, `respond` and `start_request` queue
  and return: a server that does not read its input blocks nobody and loses nothing.
- Requests and notifications of the server go to one handler, in order, all of one read together.
  An answer is heard in its place among them; whoever awaits one goes on after the whole read.
- A message that cannot be read is logged and skipped; one in another charset is answered with an
  error, as the protocol wants it.
- When the server is gone, whoever waits for it is told how it ended. A server that closes its
  standard output or input, and can no longer hear or be heard, is closed.
"""

from __future__ import annotations

import logging
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final, TypeAlias, assert_never

import anyio

from eca_nvim.environment import child_environment
from eca_nvim.jsonrpc import (
    Codec,
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
)
from eca_nvim.spawn import spawn
from eca_nvim.transport.pending import ConnectionClosed, PendingRequest
from eca_nvim.transport.process import ChildProcess, Exit

PARTING_S: Final = 1.0
"""Seconds a server that closed a pipe has to exit by itself."""

Incoming: TypeAlias = Request | Notification
Handler: TypeAlias = Callable[[list[Incoming]], None]
Guard: TypeAlias = Callable[[int], None]
"""Takes the id of a process, and of its session, that must end when we do, however that happens."""

logger = logging.getLogger(__name__)


class Connection:
    """A server that runs, and what is said to it; made by `open_connection`."""

    def __init__(self, process: ChildProcess, peer: Peer, handler: Handler) -> None:
        self._process = process
        self._peer = peer
        self._handler = handler
        self._waiting: dict[MessageId, PendingRequest] = {}
        self._closed = anyio.Event()
        self._exit: Exit | None = None

    @property
    def pid(self) -> int:
        """The id of the server's process, and of its process group."""
        return self._process.pid

    @property
    def exit(self) -> Exit | None:
        """How the server ended; None while it runs."""
        return self._exit

    async def request(self, method: str, params: object = None) -> object:
        """Ask the server and wait for its answer; see `start_request`, `PendingRequest.result`."""
        return await self.start_request(method, params).result()

    def start_request(
        self,
        method: str,
        params: object = None,
        on_answer: Callable[[PendingRequest], None] | None = None,
    ) -> PendingRequest:
        """Queue a request at once, so that what is called next is sent after it.

        `on_answer` hears the answer in its place among the messages. Raise `ConnectionClosed`.
        """
        self._require_open()
        request_id, data = self._peer.send_request(method, params)
        pending = PendingRequest(request_id, self._withdraw, on_answer)
        self._waiting[request_id] = pending
        self._process.stdin.put(data)
        return pending

    def notify(self, method: str, params: object = None) -> None:
        """Queue a notification; raise `ConnectionClosed`."""
        self._require_open()
        self._process.stdin.put(self._peer.send_notification(method, params))

    def respond(self, request_id: MessageId, result: object) -> None:
        """Queue the good answer to a request of the server.

        Raise `ConnectionClosed`, or `NotOpen` when it has its answer already.
        """
        self._require_open()
        self._process.stdin.put(self._peer.respond(request_id, result))

    def respond_error(
        self, request_id: MessageId, code: int, message: str, data: object = None
    ) -> None:
        """Queue the bad answer to a request of the server; raises what `respond` does."""
        self._require_open()
        self._process.stdin.put(self._peer.respond_error(request_id, code, message, data))

    async def wait_closed(self) -> Exit:
        """Wait until the server is gone, however that comes about."""
        await self._closed.wait()
        assert self._exit is not None
        return self._exit

    async def aclose(self) -> Exit:
        """Send what is queued and end the server by the ladder of `ChildProcess.close`.

        Shutting it down politely, in its own protocol, comes before.
        """
        await self._process.close()
        return await self.wait_closed()

    def say_now(self, request: str, notification: str) -> None:
        """Say last words without an event loop: nobody will wait for the answer.

        They are lost when the server does not read what was said before.
        """
        _, asked = self._peer.send_request(request)
        self._process.stdin.write_now(asked + self._peer.send_notification(notification))

    def kill_now(self) -> None:
        """End the server without an event loop, as the interpreter exits; at most 0.8 s."""
        self._process.kill_now()

    def receive(self, data: bytes) -> None:
        """Take bytes of the server: hand on its messages and the answers to ours, in order."""
        batch: list[Incoming] = []
        for event in self._peer.receive_bytes(data):
            match event:
                case Notification() | Request():
                    batch.append(event)
                case Response() | ErrorResponse():
                    if batch:
                        self._handler(batch)
                        batch = []
                    self._settle(event)
                case FramingFault(FaultReason.CHARSET):
                    logger.warning("refused %s", event)
                    self._process.stdin.put(self._peer.refuse(event))
                case UnexpectedAnswer() | MalformedMessage() | FramingFault():
                    logger.warning("skipped %s", event)
                case _:
                    assert_never(event)
        if batch:
            self._handler(batch)

    async def run(self) -> None:
        """Wait for the end of the server and tell it to all who wait."""
        with anyio.CancelScope(shield=True):  # the process is ended by whoever cancels us
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._close_after, self._process.stdin.ended)
                tasks.start_soon(self._close_after, self._process.stdout.ended)
                ending = await self._process.wait()
        self._exit = ending
        self._closed.set()
        while self._waiting:
            self._waiting.popitem()[1].settle(ending)

    async def _close_after(self, pipe_ended: anyio.Event) -> None:
        await pipe_ended.wait()
        with anyio.move_on_after(PARTING_S):
            await self._process.wait()
        await self._process.close()

    def _settle(self, answer: Response | ErrorResponse) -> None:
        if answer.id in self._waiting:
            self._waiting.pop(answer.id).settle(answer)
        else:
            logger.debug("answer to the cancelled request %s", answer.id)

    def _withdraw(self, request_id: int) -> None:
        if request_id in self._waiting:
            del self._waiting[request_id]
            self._process.stdin.put(self._peer.send_cancel(request_id))

    def _require_open(self) -> None:
        if self._exit is not None:
            raise ConnectionClosed(self._exit)


@asynccontextmanager
async def open_connection(
    command: Sequence[str],
    handler: Handler,
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    process: subprocess.Popen[bytes] | None = None,
    codec: Codec | None = None,
    framing: Framing | None = None,
    on_stderr: Callable[[str], None] | None = None,
    guard: Guard | None = None,
) -> AsyncIterator[Connection]:
    """Start a server and talk to it; leaving the context ends it, by cancellation too.

    `handler` is called with the server's requests and notifications; an exception of it ends
    the connection and comes out of the context. `env` is the whole environment, None for what
    every child process inherits. `process` is the server if it was spawned before. `on_stderr` gets
    each line of standard error; without it, lines go to the log. `guard` is called as soon as the
    server runs. Raise a `StartError`.
    """
    if process is None:
        process = spawn(command, child_environment() if env is None else env, cwd)
    if guard is not None:
        guard(process.pid)
    child = ChildProcess(process, on_stderr or _log_stderr)
    connection = Connection(child, Peer(codec, framing), handler)
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
    if fault is not None:  # raised here, it keeps its own cause and context
        raise fault


def _log_stderr(line: str) -> None:
    logger.info("stderr: %s", line)

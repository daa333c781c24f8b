"""Stdin and stdout as a JSON-RPC peer that serves one client; work of ours that crashes ends it."""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Mapping
from functools import partial

from eca_nvim.jsonrpc import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    ErrorResponse,
    Framing,
    MessageId,
    Notification,
    Peer,
    Request,
    Response,
)

READ_BYTES = 1 << 16
CRASHED = 3

Table = Mapping[str, object]
Handler = Callable[[Table], object]
"""Handles a message; returns the answer, or a future of it. Raises Refused."""


class Refused(Exception):
    """Raised for a request, ours or the client's, that is answered with an error; it says why."""

    def __init__(self, text: str, code: int = INVALID_PARAMS) -> None:
        super().__init__(text)
        self.code = code


class Wire:
    """The connection to one client, over two pipes."""

    def __init__(self, framing: Framing | None = None) -> None:
        self._peer = Peer(framing=framing)
        self._waiting: dict[MessageId | None, asyncio.Future[object]] = {}
        self._tasks = set[asyncio.Task[object]]()
        self._exit_code: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def serve(self, handlers: Mapping[str, Handler]) -> int:
        """Handle messages until the client disconnects or work crashes; return the exit code."""
        loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        pipe = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, sys.stdout)
        self._writer = asyncio.StreamWriter(*pipe, None, loop)
        self.start(self._listen(reader, handlers))
        exit_code = await self._exit_code
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        return exit_code

    def leave(self, exit_code: int = 0) -> None:
        """End `serve`."""
        if not self._exit_code.done():
            self._exit_code.set_result(exit_code)

    def start(self, work: Coroutine[object, None, object]) -> asyncio.Task[object]:
        """Start work that goes on while messages are handled; its crash ends the agent."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._end)
        return task

    def notify(self, method: str, params: Table) -> None:
        """Send a notification."""
        self._writer.write(self._peer.send_notification(method, params))

    async def request(self, method: str, params: Table) -> object:
        """Send a request and return its result. Raises Refused on an error answer."""
        request_id, data = self._peer.send_request(method, params)
        answer = self._waiting[request_id] = asyncio.get_running_loop().create_future()
        self._writer.write(data)
        try:
            return await answer
        finally:
            del self._waiting[request_id]

    async def drain(self) -> None:
        """Wait until the client has read most of what was sent, so that our memory stays small."""
        await self._writer.drain()

    def _end(self, task: asyncio.Task[object]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (fault := task.exception()):
            print(f"demo agent: {fault!r}", file=sys.stderr, flush=True)  # noqa: T201
            self.leave(CRASHED)

    async def _listen(self, reader: asyncio.StreamReader, handlers: Mapping[str, Handler]) -> None:
        while data := await reader.read(READ_BYTES):
            for event in self._peer.receive_bytes(data):
                match event:
                    case Request(request_id, method, params):
                        handler = handlers.get(method, _unknown)
                        self._answer(request_id, partial(handler, _table(params)))
                    case Notification(method, params) if method in handlers:
                        handlers[method](_table(params))
                    case Response() | ErrorResponse():
                        self._settle(event)
                    case _:
                        continue
        self.leave()

    def _answer(self, request_id: MessageId, result: Callable[[], object]) -> None:
        try:
            found = result()
        except Refused as fault:
            answer = self._peer.respond_error(request_id, fault.code, str(fault))
        else:
            if isinstance(found, asyncio.Future):
                found.add_done_callback(lambda done: self._answer(request_id, done.result))
                return
            answer = self._peer.respond(request_id, found)
        self._writer.write(answer)

    def _settle(self, answer: Response | ErrorResponse) -> None:
        waiting = self._waiting.get(answer.id)
        if waiting is None or waiting.done():  # nobody waits after a stop
            return
        if isinstance(answer, Response):
            waiting.set_result(answer.result)
        else:
            waiting.set_exception(Refused(answer.message))


def _unknown(_params: Table) -> object:
    raise Refused("no such method", METHOD_NOT_FOUND)


def _table(params: object) -> Table:
    return params if isinstance(params, dict) else {}

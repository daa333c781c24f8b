"""Pending: a request without a response, and its errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import anyio

from eca_nvim.jsonrpc import REQUEST_CANCELLED, ErrorResponse, Response
from eca_nvim.transport.process import Exit

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
        on_answer: Callable[[PendingRequest], None] | None = None,
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

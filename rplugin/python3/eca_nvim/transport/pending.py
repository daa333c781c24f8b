"""A request on its way, and the ways it can fail."""

from __future__ import annotations

from collections.abc import Callable

import anyio

from eca_nvim.jsonrpc import ErrorResponse, Response
from eca_nvim.transport.process import Exit


class RemoteError(Exception):
    """Raised when the server answers a request with an error.

    `code` is a number, a word or None; `data` is whatever JSON the server adds.
    """

    def __init__(self, code: int | str | None, message: str, data: object) -> None:
        super().__init__(f"{message} ({code})" if code is not None else message)
        self.code = code
        self.message = message
        self.data = data


class ConnectionClosed(Exception):
    """Raised when something is wanted of a server that is gone; `exit` says how it ended."""

    def __init__(self, ending: Exit) -> None:
        super().__init__(f"the server is gone: {ending}")
        self.exit = ending


class PendingRequest:
    """A request that was queued; its answer can be waited for, or heard at once.

    `on_answer` is called with this request as its answer is read, before what came after it.
    """

    def __init__(
        self,
        request_id: int,
        withdraw: Callable[[int], None],
        on_answer: Callable[[PendingRequest], None] | None = None,
    ) -> None:
        self.id = request_id
        self._withdraw = withdraw
        self._on_answer = on_answer
        self._settled = anyio.Event()
        self._answer: Response | ErrorResponse | Exit | None = None

    async def result(self) -> object:
        """Wait for the answer, and return what `answer` does.

        To give up waiting, as by `anyio.fail_after`, cancels the request (`$/cancelRequest`).
        """
        try:
            await self._settled.wait()
        finally:
            if self._answer is None:
                self._withdraw(self.id)
        return self.answer()

    def answer(self) -> object:
        """Return what the codec made of the result of an answer that has come.

        Raise `RemoteError` or `ConnectionClosed`.
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
        """Take the answer, or the end of the server; wake whoever waits."""
        self._answer = answer
        self._settled.set()
        if self._on_answer is not None:
            self._on_answer(self)

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
    """A request that was queued; its answer can be waited for."""

    def __init__(self, request_id: int, withdraw: Callable[[int], None]) -> None:
        self.id = request_id
        self._withdraw = withdraw
        self._settled = anyio.Event()
        self._outcome: Response | ErrorResponse | Exit | None = None

    async def result(self) -> object:
        """Wait for the answer; return what the codec made of its result.

        Raise `RemoteError` or `ConnectionClosed`. To give up waiting, as by `anyio.fail_after`,
        cancels the request (`$/cancelRequest`).
        """
        try:
            await self._settled.wait()
        finally:
            if self._outcome is None:
                self._withdraw(self.id)
        match self._outcome:
            case Response(result=result):
                return result
            case ErrorResponse(code=code, message=message, data=data):
                raise RemoteError(code, message, data)
            case ending:
                assert ending is not None
                raise ConnectionClosed(ending)

    def settle(self, outcome: Response | ErrorResponse | Exit) -> None:
        """Wake whoever waits."""
        self._outcome = outcome
        self._settled.set()

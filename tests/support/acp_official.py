"""The official SDK's end of a connection, with the methods of `acp_link.Connection`."""

from acp import RequestError
from acp.connection import Connection
from acp.stdio import stdio_streams
from tests.support.acp_link import MOST, Handler, Refused, Value


class OfficialConnection:
    """A connection that the SDK reads and writes."""

    def __init__(self, handle: Handler) -> None:
        self._handle = handle
        self._connection: Connection

    async def serve(self) -> None:
        """Serve on standard input and output until the client closes."""
        reader, writer = await stdio_streams(limit=MOST)
        self._connection = Connection(self._answer, writer, reader, listening=False)
        await self._connection.main_loop()

    async def send_notification(self, method: str, params: Value) -> None:
        """Send a notification."""
        await self._connection.send_notification(method, params)

    async def send_request(self, method: str, params: Value) -> Value:
        """Send a request; they are numbered from 0. Raises Refused."""
        try:
            return await self._connection.send_request(method, params)
        except RequestError as refused:
            raise Refused(refused.code, str(refused), refused.data) from None

    async def _answer(self, method: str, params: Value, is_notification: bool) -> Value:
        try:
            return await self._handle(method, params, is_notification)
        except Refused as refused:
            raise RequestError(refused.code, str(refused), refused.data) from None

"""The official client of the Model Context Protocol, as an agent uses a server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from mcp import Client

PATIENCE = 60


class McpClient:
    """A connection to a server."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def tools(self) -> list[str]:
        """Return the names of the tools."""
        return [tool.name for tool in (await self._client.list_tools()).tools]

    async def call(self, tool: str, **arguments: object) -> str:
        """Call a tool; returns its text, after `error: ` if it says that it is one."""
        from mcp.types import TextContent

        result = await self._client.call_tool(tool, arguments)
        [content] = result.content
        assert isinstance(content, TextContent)
        return f"error: {content.text}" if result.is_error else content.text


@asynccontextmanager
async def connected(command: Sequence[str]) -> AsyncIterator[McpClient]:
    """Start a server and connect to it."""
    from mcp import Client, StdioServerParameters  # half a second, for each worker that collects

    program, *arguments = command
    with anyio.fail_after(PATIENCE):
        async with Client(StdioServerParameters(command=program, args=arguments)) as client:
            yield McpClient(client)

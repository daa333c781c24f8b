"""The socket of the MCP server `editor`, which bridges of agents connect to.

Rules kept here:
- Only this user can connect: the socket is his (0600), in a private folder (0700), and the user of
  each connection is asked of the system.
- A host has one socket. It begins with the first agent that wants it and goes with the host; what a
  killed host leaves is removed with its private folder (`disk/private`).
- An agent that does not read its answers is not read either.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from eca_nvim.agents.base import EditorServices
from eca_nvim.disk.private import PrivateFolder
from eca_nvim.mcp import bridge
from eca_nvim.mcp.conversation import Conversation
from eca_nvim.mcp.tools import EditorTools

KIND: Final = "eca-mcp-"
"""The prefix of the folder's name."""
NAME: Final = "editor"
MOST_OPEN: Final = 100
"""Connections at a time: each takes a file descriptor of the host."""

logger = logging.getLogger(__name__)


class EditorSocket:
    """Listens for bridges; `folders`: the workspace, absolute."""

    def __init__(self, services: EditorServices, folders: Sequence[str]) -> None:
        self._tools = EditorTools(services, folders)
        self._folder = PrivateFolder(KIND)
        self._listener: asyncio.Task[asyncio.Server] | None = None
        self._open: set[asyncio.Transport] = set()

    def command(self) -> Sequence[str]:
        """Listen if that has not begun; returns the command of a bridge.

        Needs a running loop. Raises OSError.
        """
        path = self._folder.path / NAME
        if self._listener is None or not path.is_socket():
            self._stop_listening()
            self._listener = self._listen(path)
        return (sys.executable, "-I", "-S", bridge.__file__, str(path))

    def close(self) -> None:
        """End all connections, and remove the socket."""
        self._stop_listening()
        for transport in self._open:
            transport.abort()
        self._folder.remove()

    def _listen(self, path: Path) -> asyncio.Task[asyncio.Server]:
        """Listen now, so that a bridge that starts at once can connect."""
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.bind(str(path))
            path.chmod(0o600)
            listener.listen()
        except OSError:
            listener.close()
            raise
        loop = asyncio.get_running_loop()
        return loop.create_task(loop.create_unix_server(self._connection, sock=listener))

    def _stop_listening(self) -> None:
        if self._listener is not None:
            self._listener.add_done_callback(lambda done: done.result().close())

    def _connection(self) -> _Connection:
        return _Connection(self._tools, self._open)


class _Connection(asyncio.Protocol):
    """The connection to one bridge; it is among `all_open` as long as it is open."""

    def __init__(self, tools: EditorTools, all_open: set[asyncio.Transport]) -> None:
        self._tools = tools
        self._all_open = all_open
        self._transport: asyncio.Transport
        self._conversation: Conversation | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._all_open.add(transport)
        connected = transport.get_extra_info("socket")
        if bridge.peer_user(connected) != os.geteuid():
            logger.warning("refused a connection of another user")
            transport.abort()
            return
        if len(self._all_open) > MOST_OPEN:
            logger.warning("refused a connection: %s are open", MOST_OPEN)
            transport.abort()
            return
        self._conversation = Conversation(self._tools, transport.write)

    def data_received(self, data: bytes) -> None:
        if self._conversation is not None:
            self._conversation.receive(data)

    def pause_writing(self) -> None:
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - of the protocol
        self._all_open.discard(self._transport)
        if self._conversation is not None:
            self._conversation.close()

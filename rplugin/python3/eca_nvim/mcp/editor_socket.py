"""Editor socket: the MCP server `editor`, which bridges of agents connect to, and its protocol.

A host has one socket. It begins with the first agent that wants it and goes with the host; what a
killed host leaves is removed with its private folder (`disk/private`).
"""

import asyncio
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias, assert_never

from eca_nvim.agents.base import EditorServices
from eca_nvim.disk.private import PrivateFolder, listen
from eca_nvim.jsonrpc import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    ErrorResponse,
    Event,
    FramingFault,
    LineFraming,
    MalformedMessage,
    MessageId,
    Notification,
    Peer,
    Request,
    Response,
    UnexpectedAnswer,
)
from eca_nvim.mcp.tools import EditorTools, ToolFault, UnknownTool
from eca_nvim.system import peer_user

KIND: Final = "eca-mcp-"
"""The prefix of the folder's name."""
NAME: Final = "editor"
_BRIDGE: Final = Path(__file__).with_name("bridge.py")
MOST_OPEN: Final = 100
"""Connections at a time: each takes a file descriptor of the host."""
VERSIONS: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Versions of the protocol that are spoken, the latest first."""
LONGEST_REQUEST: Final = 1 << 20
"""Bytes."""
MOST_CALLS: Final = 32
"""Calls of an agent that are answered at a time."""
NO_ANSWER: Final = "the editor does not answer now: try again later"
BUSY: Final = "too many calls at a time: wait for some answers"
SERVER: Final = {"name": "editor", "title": "The user's Neovim", "version": "1"}
INSTRUCTIONS: Final = (
    "What the user's editor knows of the code, with unsaved changes, which are not on disk. "
    "Lines and columns count from 1."
)

Params: TypeAlias = Mapping[str, Any]

logger = logging.getLogger(__name__)


class Conversation(asyncio.Protocol):
    """The connection to one bridge; it is among `all_open` as long as it is open."""

    def __init__(self, tools: EditorTools, all_open: set[asyncio.Transport]) -> None:
        self._tools = tools
        self._all_open = all_open
        self._transport: asyncio.Transport
        self._peer = Peer(framing=LineFraming(LONGEST_REQUEST))
        self._calls: dict[MessageId, asyncio.Task[None]] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Refuse another user, and one connection too many."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._all_open.add(transport)
        if peer_user(transport.get_extra_info("socket").getsockopt) != os.geteuid():
            logger.warning("refused a connection of another user")
            transport.abort()
        elif len(self._all_open) > MOST_OPEN:
            logger.warning("refused a connection: %s are open", MOST_OPEN)
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """Read bytes of the agent; answer at once, or in a task of the running loop."""
        if not self._transport.is_closing():  # else it was refused
            for event in self._peer.receive_bytes(data):
                self._read(event)

    def pause_writing(self) -> None:
        """Do not read an agent that does not read its answers."""
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        """Read it again."""
        self._transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - of the protocol
        """Stop all calls, because nobody waits for them."""
        self._all_open.discard(self._transport)
        for call in self._calls.values():
            call.cancel()
        self._calls.clear()

    def _read(self, event: Event) -> None:
        match event:
            case Request(request_id, "tools/call", params):
                self._call(request_id, _table(params))
            case Request(request_id, method, params):
                self._answer(request_id, method, _table(params))
            case Notification("notifications/cancelled", params):
                self._cancel(_table(params).get("requestId"))
            case MalformedMessage() | FramingFault():  # an array (a batch), too
                logger.warning("refused %s", event)
                self._transport.write(self._peer.refuse(event))
            case Notification() | Response() | ErrorResponse() | UnexpectedAnswer():
                logger.debug("skipped %s", event)
            case _:
                assert_never(event)

    def _answer(self, request_id: MessageId, method: str, params: Params) -> None:
        match method:
            case "initialize":
                self._respond(request_id, _introduction(params))
            case "ping":
                self._respond(request_id, {})
            case "tools/list":
                self._respond(request_id, {"tools": self._tools.listed})
            case _:
                self._refuse(request_id, METHOD_NOT_FOUND, f"{method} is not known here")

    def _call(self, request_id: MessageId, params: Params) -> None:
        if len(self._calls) >= MOST_CALLS:
            self._respond(request_id, _result(BUSY, is_error=True))
            return
        call = asyncio.get_running_loop().create_task(self._run(request_id, params))
        self._calls[request_id] = call

    async def _run(self, request_id: MessageId, params: Params) -> None:
        try:
            text = await self._tools.call(params.get("name"), params.get("arguments"))
        except UnknownTool as fault:
            self._refuse(request_id, INVALID_PARAMS, str(fault))
        except ToolFault as fault:  # not an error of the protocol, so that the model reads it
            self._respond(request_id, _result(str(fault), is_error=True))
        except Exception:  # Neovim waits for the user, or a bug
            logger.exception("a tool failed")
            self._respond(request_id, _result(NO_ANSWER, is_error=True))
        else:
            self._respond(request_id, _result(text))
        self._calls.pop(request_id, None)

    def _cancel(self, request_id: object) -> None:
        """Stop a call, which gets no response then."""
        call = self._calls.pop(request_id, None) if isinstance(request_id, int | str) else None
        if call is not None and isinstance(request_id, int | str):
            call.cancel()
            self._peer.drop(request_id)

    def _respond(self, request_id: MessageId, result: Params) -> None:
        self._transport.write(self._peer.respond(request_id, result))

    def _refuse(self, request_id: MessageId, code: int, message: str) -> None:
        self._transport.write(self._peer.respond_error(request_id, code, message))


def _introduction(params: Params) -> Params:
    """Answer initialize: with the agent's version of the protocol if we speak it, else our latest.

    An agent that does not speak that one ends the connection.
    """
    wanted = params.get("protocolVersion")
    return {
        "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[0],
        "capabilities": {"tools": {}},
        "serverInfo": SERVER,
        "instructions": INSTRUCTIONS,
    }


def _result(text: str, *, is_error: bool = False) -> Params:
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def _table(params: object) -> Params:
    return params if isinstance(params, Mapping) else {}


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
        return (sys.executable, "-I", "-S", str(_BRIDGE), str(path))

    def close(self) -> None:
        """End all connections, and remove the socket."""
        self._stop_listening()
        for transport in self._open:
            transport.abort()
        self._folder.remove()

    def _listen(self, path: Path) -> asyncio.Task[asyncio.Server]:
        """Listen now, so that a bridge that starts at once can connect."""
        listener = listen(path)
        conversation = partial(Conversation, self._tools, self._open)
        loop = asyncio.get_running_loop()
        return loop.create_task(loop.create_unix_server(conversation, sock=listener))

    def _stop_listening(self) -> None:
        if self._listener is not None:
            self._listener.add_done_callback(lambda done: done.result().close())

"""Link socket: takes the web addresses that a server, or what it has started, lets a browser open.

Programs of ours (`openers/`) are the first in the server's PATH; `bridge` connects them to this
socket. What arrives are two lines: the name of the server, and an address, both as others say.
"""

import asyncio
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

from eca_nvim.disk.private import PrivateFolder, listen
from eca_nvim.system import peer_user

KIND: Final = "eca-links-"
"""The prefix of the folder's name."""
MOST_OPEN: Final = 20
"""Connections at a time; each takes a file descriptor of the host."""
MOST_BYTES: Final = 1 << 14
"""Bytes that are read of one connection: more than any address that is shown."""

Wanted: TypeAlias = Callable[[str, str], None]
"""Called with the name of a server, and an address that is to be opened; nothing is checked."""

logger = logging.getLogger(__name__)


class _Connection(asyncio.Protocol):
    """One address; it is read to its end, but not beyond what is shown."""

    def __init__(self, wanted: Wanted, all_open: set[asyncio.BaseTransport]) -> None:
        self._wanted = wanted
        self._all_open = all_open
        self._read = b""
        self._transport: asyncio.BaseTransport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Refuse another user, and one connection too many."""
        self._transport = transport
        is_ours = peer_user(transport.get_extra_info("socket").getsockopt) == os.geteuid()
        if not is_ours or len(self._all_open) >= MOST_OPEN:
            logger.warning("refused a connection: %s", "too many" if is_ours else "another user's")
            self._wanted = lambda *_: None
            transport.close()
        else:
            self._all_open.add(transport)

    def data_received(self, data: bytes) -> None:
        """Read on, within bounds."""
        self._read = (self._read + data)[:MOST_BYTES]

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - of the protocol
        """Pass on what has arrived."""
        self._all_open.discard(self._transport)
        server, _, address = self._read.decode(errors="replace").partition("\n")
        if address:
            self._wanted(server, address)


class LinkSocket:
    """Listens at a path that others know already; its folder goes with the process."""

    def __init__(self, place: Path, wanted: Wanted, loop: asyncio.AbstractEventLoop) -> None:
        """Listen now. Raises OSError."""
        self._folder = PrivateFolder(KIND, place.parent)
        listener, all_open = listen(self._folder.path / place.name), set[asyncio.BaseTransport]()
        serving = loop.create_unix_server(lambda: _Connection(wanted, all_open), sock=listener)
        self._serving = loop.create_task(serving)

    def close(self) -> None:
        """Listen no more."""
        self._serving.add_done_callback(lambda done: done.result().close())
        self._folder.remove()

"""Web pages: what servers, or the commands of their agents, let a browser open.

Rules kept here:
- None is opened but by the user: an address is shown and copied. It is data of others: it must be
  a plain web address that can be shown whole.
- A command may ask a thousand times: some a minute are shown, each address once.
"""

import logging
import time
from collections import deque
from typing import Final

from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.text.safe_text import host_of, one_line, truncate
from eca_nvim.chat.vocabulary import events, ops
from eca_nvim.session.chats import Chats
from eca_nvim.session.servers import Servers
from eca_nvim.session.view import View, isolated

LONGEST: Final = 8000
"""Characters of an address that is shown."""
MOST: Final = 5
"""Addresses that are shown in `SECONDS`."""
SECONDS: Final = 60.0
NAME_CELLS: Final = 40
REFUSED: Final = "wants to open a page by an address that cannot be shown whole: it is not opened"
MORE: Final = f"wants to open further pages: {MOST} a minute are shown, the others are not opened"

log = logging.getLogger(__name__)


class WebPages:
    """The pages that were to be opened lately."""

    def __init__(self, chats: Chats, servers: Servers, view: View) -> None:
        self._chats = chats
        self._servers = servers
        self._view = view
        self._shown = deque[tuple[float, str]]()  # when, and which; the oldest first

    def wanted(self, server: str, address: str) -> None:
        """Show an address that was to be opened for a server, by its name if it is one."""
        with isolated(self._view, "show an address", address):
            self._show(server, address)

    def _show(self, server: str, address: str) -> None:
        now = time.monotonic()
        while self._shown and self._shown[0][0] < now - SECONDS:
            self._shown.popleft()
        is_known = any(address == it for _, it in self._shown)
        if is_known or len(self._shown) > MOST:
            return
        host = host_of(address) if len(address) <= LONGEST else None
        log.info("%r wants to open a page of %s", server, host)
        self._shown.append((now, address))
        chat = self._chat(server)
        name = truncate(one_line(chat.server_name if chat else server), NAME_CELLS) or "a server"
        if len(self._shown) > MOST:
            self._tell(chat, f"{name} {MORE}")
        elif host is None:
            self._tell(chat, f"{name} {REFUSED}")
        else:
            if chat is not None:
                line = f"{name} wants to open a page of {host}; `gx` on it opens it:\n{address}"
                self._chats.apply(chat, [events.NoticeReceived(line)])
            self._view.push([ops.CopyLink(address, host, name)])

    def _tell(self, chat: Chat | None, line: str) -> None:
        if chat is None:
            self._view.push([ops.Notify("warn", line)])
        else:
            self._chats.apply(chat, [events.NoticeReceived(line, is_error=True)])

    def _chat(self, name: str) -> Chat | None:
        """Return the chat of a server that was used last, or any of its chats."""
        server = next((it for it in self._servers if it.name == name), None)
        if server is None:
            return None
        ours = self._chats.of(name)
        used = server.incoming.last_used_chat
        return next((it for it in ours if it.id == used), next(iter(ours), None))

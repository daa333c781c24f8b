"""Logins: handles what the user asks about the login of a server."""

from __future__ import annotations

from eca_nvim.agents.archive import AgentRefused
from eca_nvim.agents.base import AgentFault
from eca_nvim.agents.login import LoginWay
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.text.safe_text import one_line, truncate
from eca_nvim.chat.vocabulary.login import ListLogins, LogIn, LoginIntent, LogOut
from eca_nvim.chat.vocabulary.ops import Answer, Notify
from eca_nvim.session.chats import Chats
from eca_nvim.session.login_dialog import LONGEST_TEXT
from eca_nvim.session.servers import Servers
from eca_nvim.session.view import View, isolated


class LoginRequests:
    """Handles the intents of `vocabulary.login`; a refusal is shown as a warning."""

    def __init__(self, chats: Chats, servers: Servers, view: View) -> None:
        self._chats = chats
        self._servers = servers
        self._view = view

    async def handle(self, intent: LoginIntent) -> None:
        """Handle an intent."""
        with isolated(self._view, intent.name.replace("_", " "), intent):
            try:
                await self._do(intent, self._chats.get(intent.chat))
            except (AgentRefused, AgentFault) as fault:
                self._view.push([Notify("warn", one_line(str(fault)))])
                if isinstance(intent, ListLogins):
                    self._view.push([Answer(intent.request, None)])

    async def _do(self, intent: LoginIntent, chat: Chat) -> None:
        server = self._servers.of(chat)
        match intent:
            case ListLogins(request=request):
                ways = await (await server.process.ready()).login_ways()
                self._view.push([Answer(request, [_row(way) for way in ways])])
            case LogIn(way=way):
                server.login.log_in(chat, way)
            case LogOut(way=way):
                await server.login.log_out(chat, way)


def _row(way: LoginWay) -> dict[str, object]:
    return {
        "id": way.id,
        "name": truncate(one_line(way.name), LONGEST_TEXT),
        "about": truncate(one_line(way.about), LONGEST_TEXT),
        "logged_in": way.logged_in,
    }

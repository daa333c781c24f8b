"""Handlers: who handles each request of the user; loaded with the first one. Logins."""

from __future__ import annotations

from eca_nvim.agents.archive import AgentRefused
from eca_nvim.agents.base import AgentFault
from eca_nvim.agents.login import LoginWay
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.text.safe_text import one_line, truncate
from eca_nvim.chat.vocabulary import completion, intents, login, ops, query_intents
from eca_nvim.review.ledger import Ledger
from eca_nvim.session.chats import Chats
from eca_nvim.session.completion.completion import Completion
from eca_nvim.session.files.diff_tab import EditorFiles
from eca_nvim.session.files.surveys import Surveyor
from eca_nvim.session.login_dialog import LONGEST_TEXT
from eca_nvim.session.requests.contexts import Contexts
from eca_nvim.session.requests.images import Images, paste_image
from eca_nvim.session.requests.review import ReviewRequests
from eca_nvim.session.requests.saved_chats import SavedChats
from eca_nvim.session.requests.search import answer_from_chat, search
from eca_nvim.session.requests.templates import Templates
from eca_nvim.session.servers import Servers
from eca_nvim.session.view import View, isolated


class LoginRequests:
    """Handles the intents of `vocabulary.login`; a refusal is shown as a warning."""

    def __init__(self, chats: Chats, servers: Servers, view: View) -> None:
        self._chats = chats
        self._servers = servers
        self._view = view

    async def handle(self, intent: login.LoginIntent) -> None:
        """Handle an intent."""
        with isolated(self._view, intent.name.replace("_", " "), intent):
            try:
                await self._do(intent, self._chats.get(intent.chat))
            except (AgentRefused, AgentFault) as fault:
                self._view.push([ops.Notify("warn", one_line(str(fault)))])
                if isinstance(intent, login.ListLogins):
                    self._view.push([ops.Answer(intent.request, None)])

    async def _do(self, intent: login.LoginIntent, chat: Chat) -> None:
        server = self._servers.of(chat)
        match intent:
            case login.ListLogins(request=request):
                ways = await (await server.process.ready()).login_ways()
                self._view.push([ops.Answer(request, [_row(way) for way in ways])])
            case login.LogIn(way=way):
                server.login.log_in(chat, way)
            case login.LogOut(way=way):
                await server.login.log_out(chat, way)


def _row(way: LoginWay) -> dict[str, object]:
    return {
        "id": way.id,
        "name": truncate(one_line(way.name), LONGEST_TEXT),
        "about": truncate(one_line(way.about), LONGEST_TEXT),
        "logged_in": way.logged_in,
    }


class RequestHandlers:
    """The handlers of all requests."""

    def __init__(
        self,
        chats: Chats,
        servers: Servers,
        view: View,
        ledger: Ledger,
        surveyor: Surveyor,
        files: EditorFiles,
        images: Images,
        contexts: Contexts,
        templates: Templates,
    ) -> None:
        self._chats = chats
        self._view = view
        self._images = images
        self._contexts = contexts
        self._completion = Completion(chats, servers, view, templates.items)
        self._templates = templates
        self._saved_chats = SavedChats(chats, servers, view)
        self._logins = LoginRequests(chats, servers, view)
        self._review = ReviewRequests(ledger, surveyor, chats, files, view)

    def answer(self, intent: query_intents.ContentRequest) -> None:
        """Answer at once from what the chat contains."""
        answer_from_chat(intent, self._chats, self._images, self._view)

    async def handle(self, intent: intents.SlowIntent) -> None:
        """Handle a request that takes a while."""
        if isinstance(intent, query_intents.CheckContext):
            await self._contexts.check(intent)
        elif isinstance(intent, completion.Complete):
            await self._completion.handle(intent)
        elif isinstance(intent, query_intents.ReadDiff):
            await self._contexts.read_diff(intent)
        elif isinstance(intent, query_intents.PasteImage):
            await paste_image(intent, self._images, self._view)
        elif isinstance(intent, query_intents.Grep):
            await search(intent, self._chats, self._view)
        elif isinstance(intent, completion.TemplateIntent):
            await self._templates.handle(intent)
        elif isinstance(intent, login.LoginIntent):
            await self._logins.handle(intent)
        elif isinstance(intent, query_intents.HistoryIntent):
            await self._saved_chats.handle(intent)
        else:
            await self._review.handle(intent)

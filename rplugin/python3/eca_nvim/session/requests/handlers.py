"""The handler of each request; the session loads this file with the first request."""

from __future__ import annotations

from eca_nvim.chat.vocabulary.completion import Complete, TemplateIntent
from eca_nvim.chat.vocabulary.intents import SlowIntent
from eca_nvim.chat.vocabulary.login import LoginIntent
from eca_nvim.chat.vocabulary.query_intents import (
    CheckContext,
    ContentRequest,
    Grep,
    HistoryIntent,
    PasteImage,
    ReadDiff,
)
from eca_nvim.review.ledger import Ledger
from eca_nvim.session.chats import Chats
from eca_nvim.session.completion.completion import Completion
from eca_nvim.session.files.diff_tab import EditorFiles
from eca_nvim.session.files.surveys import Surveyor
from eca_nvim.session.requests.contexts import Contexts
from eca_nvim.session.requests.images import Images, paste_image
from eca_nvim.session.requests.logins import LoginRequests
from eca_nvim.session.requests.review import ReviewRequests
from eca_nvim.session.requests.saved_chats import SavedChats
from eca_nvim.session.requests.search import answer_from_chat, search
from eca_nvim.session.requests.templates import Templates
from eca_nvim.session.servers import Servers
from eca_nvim.session.view import View


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

    def answer(self, intent: ContentRequest) -> None:
        """Answer at once from what the chat contains."""
        answer_from_chat(intent, self._chats, self._images, self._view)

    async def handle(self, intent: SlowIntent) -> None:
        """Handle a request that takes a while."""
        if isinstance(intent, CheckContext):
            await self._contexts.check(intent)
        elif isinstance(intent, Complete):
            await self._completion.handle(intent)
        elif isinstance(intent, ReadDiff):
            await self._contexts.read_diff(intent)
        elif isinstance(intent, PasteImage):
            await paste_image(intent, self._images, self._view)
        elif isinstance(intent, Grep):
            await search(intent, self._chats, self._view)
        elif isinstance(intent, TemplateIntent):
            await self._templates.handle(intent)
        elif isinstance(intent, LoginIntent):
            await self._logins.handle(intent)
        elif isinstance(intent, HistoryIntent):
            await self._saved_chats.handle(intent)
        else:
            await self._review.handle(intent)

"""Trust: which chats work without asking, and the question that a server's wish for it leads to.

Rules kept here:
- Only the user switches trust on: for one chat, or by the answer to a question that a server's
  configuration leads to. Until then such a server asks like any other.
- There is one question for a server and a project, and its answer is kept. It holds for chats that
  begin here, as long as the server wants it; a chat that comes back or is a copy asks.
- What the user says of a chat comes first. If he switches off there what the answer switched on,
  the answer is no from then on.
"""

from __future__ import annotations

from collections.abc import Mapping
from uuid import uuid4

from eca_nvim.chat.handlers.questions import withdraw_question
from eca_nvim.chat.model.blocks import open_question
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.user_actions.trust import set_trust
from eca_nvim.chat.vocabulary.events import QuestionAsked
from eca_nvim.session.chats import Chats, now
from eca_nvim.session.persistence import Keeper

QUESTION = (
    "This server's configuration wants tools to run\n"
    "WITHOUT ASKING you. Allow that in this project?"
)
NO = ("No", "it asks you, unless you say :Eca trust")
YES = ("Yes", "in new chats; :Eca trust off takes it back")
_ANSWERS: Mapping[str | None, bool] = {NO[0]: False, YES[0]: True}


class Trust:
    """The user's word on trust, for the chats of a session."""

    def __init__(self, chats: Chats, keeper: Keeper) -> None:
        self._chats = chats
        self._keeper = keeper
        self._server = ""
        self._wanted = False
        self._began: set[str] = set()  # chats that began here, of which the user said nothing
        self._question = str(uuid4())  # nothing an agent can guess
        self._was_asked = False  # in the life of this server

    def begin(self, server: str) -> None:
        """Take that a server starts: what another one wanted, or was answered, does not count."""
        for chat in self._chats:
            self._chats.show(withdraw_question(chat, self._question, now()))
        self._server, self._wanted, self._was_asked = server, False, False
        self._settle()

    def wanted(self, chat_id: str | None, *, wanted: bool) -> None:
        """Take whether the server wants trust; the user is asked in a chat, once there is one."""
        self._wanted = wanted
        self._settle()
        chat = self._chats.table.get(chat_id or "", next(iter(self._chats), None))
        if chat is not None and not self._was_asked:
            self._ask(chat)

    def introduce(self, chat: Chat) -> None:
        """Take that a chat begins."""
        self._began.add(chat.id)
        self._settle()
        self._ask(chat)

    def choose(self, chat: Chat, *, trusted: bool) -> None:
        """Take the user's word on a chat."""
        takes_back = self._allowed and not trusted and chat.id in self._began
        self._began.discard(chat.id)
        self._chats.show(set_trust(chat, now(), trusted=trusted))
        if takes_back:
            self._answer(trusted=False)

    def hears(self, question: str, text: str | None) -> bool:
        """Take an answer; say whether it is to our question.

        Without a yes or no, as when the turn ended meanwhile, it is no for now: the next chat asks
        again.
        """
        if question != self._question:
            return False
        if text in _ANSWERS:
            self._answer(trusted=_ANSWERS[text])
        return True

    @property
    def _allowed(self) -> bool:
        return self._wanted and self._keeper.trusts(self._server) is True

    def _answer(self, *, trusted: bool) -> None:
        self._keeper.trust(self._server, trusted=trusted)
        self._settle()

    def _settle(self) -> None:
        for chat in self._chats:
            if chat.id in self._began:
                self._chats.show(set_trust(chat, now(), trusted=self._allowed))

    def _ask(self, chat: Chat) -> None:
        """Ask, unless the question waits or was answered."""
        if self._wanted and not self._waits() and self._keeper.trusts(self._server) is None:
            self._was_asked = True
            asked = QuestionAsked(
                self._question, QUESTION, (NO, YES), allow_freeform=False, by_agent=False
            )
            self._chats.apply(chat, [asked])

    def _waits(self) -> bool:
        live = (open_question(block) for chat in self._chats for block, _ in chat.live.values())
        return any(question and question.asked.id == self._question for question in live)

"""Trust: which chats run tools without asking, and the question asked when a server wants it."""

from collections.abc import Mapping

from eca_nvim.chat.handlers.questions import withdraw_question
from eca_nvim.chat.model.blocks import open_question
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.user_actions.approvals import set_trust
from eca_nvim.chat.vocabulary.events import QuestionAsked
from eca_nvim.digests import new_id
from eca_nvim.session.chats import Chats, now
from eca_nvim.session.persistence import Persistence

QUESTION = (
    "This server's configuration wants tools to run\n"
    "WITHOUT ASKING you. Allow that in this project?"
)
NO = ("No", "tools ask first; :Eca trust turns trust on")
YES = ("Yes", "in new chats; :Eca trust off turns it off")
_ANSWERS: Mapping[str | None, bool] = {NO[0]: False, YES[0]: True}


class Trust:
    """The trust of the chats of a server, by its name. Only the user switches it on."""

    def __init__(self, name: str, chats: Chats, persistence: Persistence) -> None:
        self._name = name
        self._chats = chats
        self._persistence = persistence
        self._server = ""
        self._wanted = False
        self._undecided: set[str] = set()  # begun here, not set by the user: a resumed chat asks
        self._question = new_id()  # an id that no agent can guess
        self._was_asked = False  # since this server started

    def server_starts(self, server: str) -> None:
        """Prepare for another server: withdraw the question of the one before."""
        for chat in self._chats.of(self._name):
            self._withdraw(chat)
        self._server, self._wanted, self._was_asked = server, False, False
        self._apply_answer()

    def server_wants(self, chat_id: str | None, *, wanted: bool) -> None:
        """Note whether the server wants trust; if so, ask the user in this or any other chat."""
        self._wanted = wanted
        self._apply_answer()
        chat = self._chats.table.get(chat_id or "", next(iter(self._chats.of(self._name)), None))
        if chat is not None and not self._was_asked:
            self._ask(chat)

    def forget(self, chat: Chat) -> None:
        """Forget a chat that is gone, or goes to another server."""
        self._undecided.discard(chat.id)
        self._withdraw(chat)

    def _withdraw(self, chat: Chat) -> None:
        self._chats.show(withdraw_question(chat, self._question, now()))

    def chat_created(self, chat: Chat) -> None:
        """Apply the saved answer to a chat that the user has begun, or ask there."""
        self._undecided.add(chat.id)
        self._apply_answer()
        self._ask(chat)

    def choose(self, chat: Chat, *, trusted: bool) -> None:
        """Set the trust of a chat as the user chose."""
        # Who switches it off where the answer gave it means the answer.
        revokes_answer = self._is_allowed and not trusted and chat.id in self._undecided
        self._undecided.discard(chat.id)
        self._chats.show(set_trust(chat, now(), trusted=trusted))
        if revokes_answer:
            self._save_answer(trusted=False)

    def handle_answer(self, question: str, text: str | None) -> bool:
        """Handle an answer to our question; returns False if it answers another one.

        An answer that is neither yes nor no, as when the turn has ended, counts as no for now: the
        next chat asks again.
        """
        if question != self._question:
            return False
        if text in _ANSWERS:
            self._save_answer(trusted=_ANSWERS[text])
        return True

    @property
    def _is_allowed(self) -> bool:
        return self._wanted and self._persistence.kept("trust", self._server) == "yes"

    def _save_answer(self, *, trusted: bool) -> None:
        self._persistence.keep("trust", self._server, "yes" if trusted else "no")
        self._apply_answer()

    def _apply_answer(self) -> None:
        for chat in self._chats.of(self._name):
            if chat.id in self._undecided:
                self._chats.show(set_trust(chat, now(), trusted=self._is_allowed))

    def _ask(self, chat: Chat) -> None:
        """Ask, unless the question is open or was answered."""
        is_answered = self._persistence.kept("trust", self._server) is not None
        if self._wanted and not is_answered and not self._is_open():
            self._was_asked = True
            asked = QuestionAsked(
                self._question, QUESTION, (NO, YES), allow_freeform=False, by_agent=False
            )
            self._chats.apply(chat, [asked])

    def _is_open(self) -> bool:
        live = (
            open_question(block)
            for chat in self._chats.of(self._name)
            for block in chat.live.values()
        )
        return any(question and question.asked.id == self._question for question in live)

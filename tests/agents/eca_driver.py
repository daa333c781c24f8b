"""A chat under test as an ECA server drives it: in the server's words, through `Turns`."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct
from tests.chat.driver import Driver
from tests.support.told import TellAnswer, TellLogin, TellStop

from eca_nvim.agents.eca.turns import EndKind, EndReported, Turns
from eca_nvim.chat.model.blocks import Changes
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import Addressed, ChatEvent, QuestionAsked

IDLE = EndReported(kind=EndKind.IDLE)
FINISHED = EndReported(kind=EndKind.FINISHED)


class Answer(Struct, frozen=True):
    """The answer to a prompt."""

    accepted: bool = True
    fault: str | None = None


ACCEPTED = Answer()
Word: TypeAlias = ChatEvent | Answer


class EcaDriver(Driver):
    """Drives one chat with the words of a server."""

    def __init__(self, *, is_older: bool = False) -> None:
        super().__init__()
        self.turns = Turns()
        self.is_older = is_older
        self._asked: set[str] = set()  # questions of the server

    def take(self, changes: Changes) -> Changes:
        before = len(self.effects)
        super().take(changes)
        for effect in self.effects[before:]:
            match effect:
                case Prompt(chat):
                    self.turns.prompted(chat)
                case TellStop(chat):
                    self.turns.stopped(chat)
                case TellAnswer(question, None) if question in self._asked:
                    self.turns.login_left(self.chat.id)
                case TellLogin(chat, None) if self.turns.is_leaving(chat):
                    self.effects.remove(effect)
                case TellLogin(chat, text):
                    if text is None:
                        self.turns.login_left(chat)
                    self.turns.login_answered(chat, is_older=self.is_older)
                case _:
                    pass
        return changes

    def hear(self, *events: Word, child: str | None = None) -> None:
        """Have the server say something, one read after the other."""
        for event in events:
            if isinstance(event, QuestionAsked) and event.by_agent:
                self._asked.add(event.id)
            said = self._meaning(event) if isinstance(event, Answer) else [event]
            told = self.turns.read([Addressed(child or self.chat.id, each) for each in said])
            super().hear(*(it.event for it in told if isinstance(it, Addressed)), child=child)

    def _meaning(self, answer: Answer) -> list[ChatEvent]:
        chat = self.chat.id
        return [*self.turns.answered(chat, accepted=answer.accepted, fault=answer.fault)]

"""A chat under test as an ECA server drives it: in the server's words, through `Turns`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Final, TypeAlias

from msgspec import Struct
from tests.chat.driver import Driver
from tests.support.told import TellAnswer, TellLogin, TellStop

from eca_nvim.agents.eca.turns import Turns
from eca_nvim.chat.model.blocks import Changes
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import ChatDeleted, ChatEvent, QuestionAsked
from eca_nvim.chat.vocabulary.turn_events import LoginBegan, TurnBegan, TurnStopping
from eca_nvim.protocol.eca.chat import ChatStatus

STATUSES: Final[Mapping[type, ChatStatus]] = {
    TurnBegan: ChatStatus.RUNNING,
    TurnStopping: ChatStatus.STOPPING,
    LoginBegan: ChatStatus.LOGIN,
}


class End(Enum):
    """The two reports of a turn's end."""

    IDLE = "idle"
    FINISHED = "finished"


IDLE, FINISHED = End


class Answer(Struct, frozen=True):
    """The answer to a prompt."""

    accepted: bool = True
    fault: str | None = None


ACCEPTED = Answer()
Word: TypeAlias = ChatEvent | Answer | End


class EcaDriver(Driver):
    """Drives one chat with the words of a server."""

    def __init__(self) -> None:
        super().__init__()
        self.turns = Turns()
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
                    self.turns.login_answered(chat)
                case _:
                    pass
        return changes

    def hear(self, *events: Word, child: str | None = None) -> None:
        """Have the server say something, one read after the other."""
        for event in events:
            if isinstance(event, QuestionAsked) and event.by_agent:
                self._asked.add(event.id)
            super().hear(*self._meaning(event, child or self.chat.id), child=child)

    def _meaning(self, word: Word, chat: str) -> Sequence[ChatEvent]:
        match word:
            case Answer():
                return self.turns.answered(chat, accepted=word.accepted, fault=word.fault)
            case End.IDLE:
                told = self.turns.status(chat, ChatStatus.IDLE)
            case End.FINISHED:
                told = self.turns.finished(chat)
            case TurnBegan() | TurnStopping() | LoginBegan():
                told = self.turns.status(chat, STATUSES[type(word)])
            case ChatDeleted():
                self.turns.deleted(chat)
                told = word
            case _:
                told = word
        return () if told is None else (told,)

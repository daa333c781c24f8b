"""What a chat has asked of its agent and of the session, as values to compare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from eca_nvim.chat.vocabulary.contexts import Context
from eca_nvim.chat.vocabulary.effects import (
    Decision,
    Effect,
    FindFiles,
    Outside,
    Prompt,
    SilentTurn,
)
from eca_nvim.chat.vocabulary.requests import Value


class TellSteer(Struct, frozen=True):
    """A call of `steer`."""

    chat: str
    text: str
    contexts: tuple[Context, ...] = ()


class TellUnsteer(Struct, frozen=True):
    """A call of `unsteer`."""

    chat: str


class TellStop(Struct, frozen=True):
    """A call of `stop`."""

    chat: str


class TellGiveUp(Struct, frozen=True):
    """A call of `give_up`."""

    chat: str


class TellAnswer(Struct, frozen=True):
    """A call of `answer`."""

    question: str
    text: str | None


class TellForm(Struct, frozen=True):
    """A call of `answer_form`."""

    question: str
    content: Mapping[str, Value] | None


class TellLogin(Struct, frozen=True):
    """A call of `answer_login`."""

    chat: str
    text: str | None


class TellTrust(Struct, frozen=True):
    """A call of `trust_changed`."""

    chat: str


Told: TypeAlias = (
    Prompt
    | Decision
    | SilentTurn
    | FindFiles
    | TellSteer
    | TellUnsteer
    | TellStop
    | TellGiveUp
    | TellAnswer
    | TellForm
    | TellLogin
    | TellTrust
)


class Recorder(Outside):
    """Records all calls, in order."""

    def __init__(self) -> None:
        self.told: list[Told] = []

    def prompt(self, prompt: Prompt) -> None:
        self.told.append(prompt)

    def steer(self, chat_id: str, text: str, contexts: Sequence[Context] = ()) -> None:
        self.told.append(TellSteer(chat_id, text, tuple(contexts)))

    def unsteer(self, chat_id: str) -> None:
        self.told.append(TellUnsteer(chat_id))

    def stop(self, chat_id: str) -> None:
        self.told.append(TellStop(chat_id))

    def give_up(self, chat_id: str) -> None:
        self.told.append(TellGiveUp(chat_id))

    def decide(self, decision: Decision) -> None:
        self.told.append(decision)

    def answer(self, question_id: str, text: str | None) -> None:
        self.told.append(TellAnswer(question_id, text))

    def answer_form(self, question_id: str, content: Mapping[str, Value] | None) -> None:
        self.told.append(TellForm(question_id, content))

    def answer_login(self, chat_id: str, text: str | None) -> None:
        self.told.append(TellLogin(chat_id, text))

    def trust_changed(self, chat_id: str) -> None:
        self.told.append(TellTrust(chat_id))

    def ask_turn(self, turn: SilentTurn) -> None:
        self.told.append(turn)

    def find_files(self, request: FindFiles) -> None:
        self.told.append(request)


def told_by(effects: Iterable[Effect]) -> list[Told]:
    """Make the calls, and return them as values."""
    recorder = Recorder()
    for effect in effects:
        effect(recorder)
    return recorder.told

"""Turns: what the server says of a turn, as one beginning and one end.

Rules kept here:
- The server says the end of a turn twice: idle and then finished, finished and then idle, or
  stopping and then finished. The first word ends the turn. The other is `owed`: it must not end
  the next turn.
- Before the prompt is answered `finished` is no end, because a login may follow. A login ends with
  idle, whatever is answered in it.
- An answer to a prompt concerns the turn only if no newer prompt was sent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from typing import Any, Final

from msgspec import Struct

from eca_nvim.chat.vocabulary.events import (
    Addressed,
    AgentEvent,
    ChatDeleted,
    ChatEvent,
    LoginBegan,
    NoticeReceived,
    TurnBegan,
    TurnEnded,
    TurnStopping,
)
from eca_nvim.chat.vocabulary.states import TurnEnd

REFUSED: Final = "The agent refused the prompt."


class EndWord(Enum):
    """A word that the server ends a turn with: in a status, or in the progress of the turn."""

    IDLE = "idle"
    FINISHED = "finished"


class EndSaid(TurnEnded, frozen=True):
    """One of the two words of an end. It never leaves this package: `Turns.read` replaces it."""

    word: EndWord = EndWord.IDLE


class _State(Enum):
    """What a chat of the server does, as far as its words tell.

    SENT: it was prompted and has neither begun nor answered. CLOSING: it finished before it
    answered. LEAVING: the user cancelled its login.
    """

    OVER = auto()
    SENT = auto()
    RUNNING = auto()
    STOPPING = auto()
    CLOSING = auto()
    LOGIN = auto()
    LEAVING = auto()


_AFTER_STOP: Final = {
    _State.SENT: _State.STOPPING,
    _State.RUNNING: _State.STOPPING,
    _State.CLOSING: _State.STOPPING,
}
_NO_END: Final = {
    _State.SENT: _State.CLOSING,
    _State.CLOSING: _State.CLOSING,
    _State.LOGIN: _State.LOGIN,
    _State.LEAVING: _State.LEAVING,
}
"""States in which `finished` is no end, and what follows."""
_OTHER: Final = {EndWord.IDLE: EndWord.FINISHED, EndWord.FINISHED: EndWord.IDLE}


class _Turn(Struct):
    """`unanswered` counts the prompts that the server has not answered."""

    state: _State = _State.OVER
    owed: EndWord | None = None
    unanswered: int = 0

    def stop(self) -> None:
        after = _AFTER_STOP.get(self.state)
        if after is not None:
            self.state, self.owed = after, None

    def end(self, word: EndWord) -> None:
        in_login = self.state in (_State.LOGIN, _State.LEAVING)  # after which no other word comes
        is_over = self.state is _State.OVER
        self.owed = None if in_login or is_over else _OTHER[word]
        self.state = _State.OVER


class Turns:
    """The turns of one server process, by our ids of chats."""

    def __init__(self) -> None:
        self._turns: defaultdict[str | None, _Turn] = defaultdict(_Turn)
        self._readers: Mapping[type, Callable[[_Turn, Any], ChatEvent | None]] = {
            TurnBegan: _began,
            TurnStopping: _stopping,
            LoginBegan: _logs_in,
            EndSaid: _end_said,
            ChatDeleted: _deleted,
        }

    # --- what we say ----------------------------------------------------------------------------

    def prompted(self, chat_id: str) -> None:
        """Note that a prompt was sent."""
        turn = self._turns[chat_id]
        if turn.state is not _State.OVER:  # it was ended here, without a word of the server
            turn.unanswered, turn.owed = 0, None
        turn.state = _State.SENT
        turn.unanswered += 1

    def stopped(self, chat_id: str) -> None:
        """Note that the user wants the turn to end."""
        self._turns[chat_id].stop()

    def login_answered(self, chat_id: str) -> None:
        """Note that the login got what it asks for: the server answers it as a prompt."""
        self._turns[chat_id].unanswered += 1

    def login_left(self, chat_id: str | None) -> None:
        """Note that the user cancelled the login, or a question of it."""
        turn = self._turns[chat_id]
        if turn.state is _State.LOGIN:
            turn.state = _State.LEAVING

    # --- what the server says -------------------------------------------------------------------

    def is_leaving(self, chat_id: str) -> bool:
        """Return whether a login was cancelled and the server has not answered that."""
        turn = self._turns[chat_id]
        return turn.state is _State.LEAVING and turn.unanswered > 0

    @property
    def unanswered(self) -> Sequence[str]:
        """The chats with a prompt that the server has not answered."""
        return [key for key, turn in self._turns.items() if turn.unanswered and key is not None]

    def answered(
        self, chat_id: str, *, accepted: bool, fault: str | None = None
    ) -> Sequence[ChatEvent]:
        """Return what an answer to a prompt says of its turn, to be read as other events.

        fault: why it was refused.
        """
        turn = self._turns[chat_id]
        turn.unanswered = max(0, turn.unanswered - 1)
        if turn.unanswered or turn.state is _State.OVER:
            return ()
        if accepted:
            return _accepted(turn)
        if turn.state is _State.LOGIN:  # it goes on: the user may try again
            return (NoticeReceived(fault or REFUSED, is_error=True),)
        turn.state = _State.OVER
        return (TurnEnded(TurnEnd.FAILED, fault or REFUSED),)

    def read(self, events: Sequence[AgentEvent]) -> Sequence[AgentEvent]:
        """Put one end in the place of its two words (hot: most events say nothing of a turn)."""
        read = map(self._read, events)
        return [event for event in read if event is not None]

    def _read(self, event: AgentEvent) -> AgentEvent | None:
        if type(event) is not Addressed:
            return event
        reader = self._readers.get(type(event.event))
        if reader is None:
            return event
        read = reader(self._turns[event.chat_id], event.event)
        return None if read is None else Addressed(event.chat_id, read, event.parent_id)


def _accepted(turn: _Turn) -> Sequence[ChatEvent]:
    match turn.state:
        case _State.SENT:
            return (TurnBegan(),)
        case _State.CLOSING:
            turn.state = _State.RUNNING
            return (EndSaid(word=EndWord.FINISHED),)
        case _State.LEAVING:
            return (EndSaid(word=EndWord.IDLE),)
        case _:
            return ()


def _began(turn: _Turn, event: TurnBegan) -> ChatEvent | None:
    was, turn.state, turn.owed = turn.state, _State.RUNNING, None
    return None if was is _State.RUNNING else event


def _stopping(turn: _Turn, event: TurnStopping) -> ChatEvent:
    turn.stop()
    return event


def _logs_in(turn: _Turn, event: LoginBegan) -> ChatEvent:
    turn.state, turn.owed = _State.LOGIN, None
    return event


def _deleted(turn: _Turn, event: ChatDeleted) -> ChatEvent:
    turn.state, turn.owed, turn.unanswered = _State.OVER, None, 0
    return event


def _end_said(turn: _Turn, event: EndSaid) -> ChatEvent | None:
    if turn.owed is event.word:
        turn.owed = None
        return None
    if event.word is EndWord.FINISHED and turn.state in _NO_END:
        turn.state = _NO_END[turn.state]
        return None
    turn.end(event.word)
    return TurnEnded()

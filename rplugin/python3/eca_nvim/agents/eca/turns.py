"""Turns: merges the server's reports about a turn into one beginning and one end."""

from collections import defaultdict
from collections.abc import Sequence
from enum import Enum, auto
from typing import Final

from msgspec import Struct

from eca_nvim.chat.vocabulary import states, turn_events
from eca_nvim.chat.vocabulary.events import ChatEvent, NoticeReceived
from eca_nvim.protocol.eca.chat import ChatStatus

REFUSED: Final = "The server refused the prompt."


class _End(Enum):
    """How the server reports the end of a turn: in a status (IDLE), or in its progress."""

    IDLE = auto()
    FINISHED = auto()


class _State(Enum):
    """The state of a chat's turn, as far as the server has reported it.

    SENT: a prompt was sent; the turn has not begun and there is no response. CLOSING: the turn
    finished before the response. LEAVING: the user cancelled the login.
    """

    OVER = auto()
    SENT = auto()
    RUNNING = auto()
    STOPPING = auto()
    CLOSING = auto()
    LOGIN = auto()
    LEAVING = auto()


# After a stop no idle comes: "stopping", then the progress that is finished, then late rejections.
_AFTER_STOP: Final = {
    _State.SENT: _State.STOPPING,
    _State.RUNNING: _State.STOPPING,
    _State.CLOSING: _State.STOPPING,
    _State.LOGIN: _State.OVER,  # about which the server has said nothing, so it has no end
}
# Before the response to a prompt, `finished` does not end the turn, because a login may follow. A
# login ends with idle, whatever responses it gets.
_AFTER_FINISHED: Final = {
    _State.SENT: _State.CLOSING,
    _State.CLOSING: _State.CLOSING,
    _State.LOGIN: _State.LOGIN,
    _State.LEAVING: _State.LEAVING,
}
"""States in which `finished` does not end the turn, and the state that follows."""


class _Turn(Struct):
    """A turn.

    The server reports its end twice: idle and then finished, finished and then idle, or stopping
    and then finished. The first report ends the turn. `owed` is the other: it must not end the next
    turn. unanswered: the number of prompts without a response.
    """

    state: _State = _State.OVER
    owed: _End | None = None
    unanswered: int = 0

    def stop(self) -> None:
        after = _AFTER_STOP.get(self.state)
        if after is not None:
            self.state, self.owed = after, None

    def begin(self) -> ChatEvent | None:
        was, self.state, self.owed = self.state, _State.RUNNING, None
        return None if was is _State.RUNNING else turn_events.TurnBegan()

    def begin_login(self) -> ChatEvent:
        self.state, self.owed = _State.LOGIN, None
        return turn_events.LoginBegan()

    def report_end(self, kind: _End) -> ChatEvent | None:
        if self.owed is kind:
            self.owed = None
            return None
        if kind is _End.FINISHED and self.state in _AFTER_FINISHED:
            self.state = _AFTER_FINISHED[self.state]
            # The server waits for the user once it has finished and no response is missing.
            waits = self.state is _State.LOGIN and not self.unanswered
            return turn_events.LoginWaits() if waits else None
        if self.state in (_State.LOGIN, _State.LEAVING, _State.OVER):
            self.owed = None  # the end of a login is reported once
        else:
            self.owed = _End.IDLE if kind is _End.FINISHED else _End.FINISHED
        self.state = _State.OVER
        return turn_events.TurnEnded()

    def accept(self) -> ChatEvent | None:
        match self.state:
            case _State.SENT:
                return self.begin()
            case _State.CLOSING:
                self.state = _State.RUNNING
                return self.report_end(_End.FINISHED)
            case _State.LEAVING:
                return self.report_end(_End.IDLE)
            case _State.LOGIN:
                return turn_events.LoginWaits()
            case _:
                return None


class Turns:
    """The turns of one server process, by our ids of chats."""

    def __init__(self) -> None:
        self._turns: defaultdict[str | None, _Turn] = defaultdict(_Turn)

    # --- messages to the server ------------------------------------------------------------------

    def prompted(self, chat_id: str) -> None:
        """Note that a prompt was sent."""
        turn = self._turns[chat_id]
        if turn.state is not _State.OVER:  # we ended it; the server did not report that
            turn.unanswered, turn.owed = 0, None
        turn.state = _State.SENT
        turn.unanswered += 1

    def stopped(self, chat_id: str) -> None:
        """Note that the user stopped the turn."""
        self._turns[chat_id].stop()

    def login_answered(self, chat_id: str) -> None:
        """Note that an answer was sent to the login: the server responds as to a prompt."""
        self._turns[chat_id].unanswered += 1

    def login_left(self, chat_id: str | None) -> None:
        """Note that the user cancelled the login, or its question."""
        turn = self._turns[chat_id]
        if turn.state is _State.LOGIN:
            turn.state = _State.LEAVING

    # --- messages of the server -----------------------------------------------------------------

    def is_leaving(self, chat_id: str) -> bool:
        """Return whether a login was cancelled and the server has not responded yet."""
        turn = self._turns[chat_id]
        return turn.state is _State.LEAVING and turn.unanswered > 0

    @property
    def unanswered(self) -> Sequence[str]:
        """The chats with a prompt that has no response."""
        return [key for key, turn in self._turns.items() if turn.unanswered and key is not None]

    def is_running(self, chat_id: str) -> bool:
        """Return whether a turn of a chat runs, as far as the server has said."""
        return chat_id in self._turns and self._turns[chat_id].state is not _State.OVER

    def status(self, chat_id: str, status: ChatStatus) -> ChatEvent | None:
        """Return the event of a status (chat/statusChanged), if it says something new."""
        turn = self._turns[chat_id]
        match status:
            case ChatStatus.IDLE:
                return turn.report_end(_End.IDLE)
            case ChatStatus.RUNNING:
                return turn.begin()
            case ChatStatus.STOPPING:
                turn.stop()
                return turn_events.TurnStopping()
            case ChatStatus.LOGIN:
                return turn.begin_login()
            case ChatStatus.UNKNOWN:
                return None

    def finished(self, chat_id: str | None) -> ChatEvent | None:
        """Return the event of a progress that is finished, if it says something new."""
        return self._turns[chat_id].report_end(_End.FINISHED)

    def deleted(self, chat_id: str | None) -> None:
        """Note that a chat is gone."""
        self._turns.pop(chat_id, None)

    def answered(
        self, chat_id: str, *, accepted: bool, fault: str | None = None
    ) -> Sequence[ChatEvent]:
        """Return the events that follow from the response to a prompt; fault: why it was refused.

        They affect the turn only if no newer prompt was sent.
        """
        turn = self._turns[chat_id]
        turn.unanswered = max(0, turn.unanswered - 1)
        if turn.unanswered or turn.state is _State.OVER:
            return ()
        if accepted:
            event = turn.accept()
            return () if event is None else (event,)
        if turn.state is _State.LOGIN:  # it goes on: the user may try again
            told = NoticeReceived(fault or REFUSED, is_error=True)
            return (told, turn_events.LoginWaits())
        turn.state = _State.OVER
        return (turn_events.TurnEnded(states.TurnEnd.FAILED, fault or REFUSED),)

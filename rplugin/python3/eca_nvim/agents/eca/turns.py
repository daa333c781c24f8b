"""Turns: merges the server's reports about a turn into one beginning and one end.

Rules kept here:
- The server reports the end of a turn twice: idle and then finished, finished and then idle, or
  stopping and then finished. The first report ends the turn. The other is `owed`: it must not
  end the next turn.
- Before the response to the prompt, `finished` does not end the turn, because a login may follow.
  A login ends with idle, whatever responses it gets. An older server says no idle: there the answer
  to a login is a prompt, whose turn begins if the response does not ask again. The server waits
  for the user once it has finished and no response is missing, in either order.
- The response to a prompt affects the turn only if no newer prompt was sent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from typing import Any, Final

from msgspec import Struct

from eca_nvim.chat.vocabulary import agent_events, states, turn_events
from eca_nvim.chat.vocabulary.events import Addressed, ChatDeleted, ChatEvent, NoticeReceived

REFUSED: Final = "The server refused the prompt."


class EndKind(Enum):
    """How the server reports the end of a turn: in a status (IDLE), or in its progress."""

    IDLE = "idle"
    FINISHED = "finished"


class EndReported(turn_events.TurnEnded, frozen=True):
    """One of the two reports of an end; `Turns.read` replaces it by TurnEnded, or drops it."""

    kind: EndKind = EndKind.IDLE


class _State(Enum):
    """The state of a chat's turn, as far as the server has reported it.

    SENT: a prompt was sent; the turn has not begun and there is no response. CLOSING: the turn
    finished before the response. ANSWERED: the user answered the login of an older server, which
    has not responded. LEAVING: the user cancelled the login.
    """

    OVER = auto()
    SENT = auto()
    RUNNING = auto()
    STOPPING = auto()
    CLOSING = auto()
    LOGIN = auto()
    ANSWERED = auto()
    LEAVING = auto()


_AFTER_STOP: Final = {
    _State.SENT: _State.STOPPING,
    _State.RUNNING: _State.STOPPING,
    _State.CLOSING: _State.STOPPING,
    _State.LOGIN: _State.OVER,  # about which the server has said nothing, so it has no end
}
_NO_END: Final = {
    _State.SENT: _State.CLOSING,
    _State.CLOSING: _State.CLOSING,
    _State.LOGIN: _State.LOGIN,
    _State.ANSWERED: _State.CLOSING,
    _State.LEAVING: _State.LEAVING,
}
"""States in which `finished` does not end the turn, and the state that follows."""
_OTHER: Final = {EndKind.IDLE: EndKind.FINISHED, EndKind.FINISHED: EndKind.IDLE}


class _Turn(Struct):
    """A turn; `unanswered` is the number of prompts without a response."""

    state: _State = _State.OVER
    owed: EndKind | None = None
    unanswered: int = 0

    def stop(self) -> None:
        after = _AFTER_STOP.get(self.state)
        if after is not None:
            self.state, self.owed = after, None

    def end(self, kind: EndKind) -> None:
        in_login = self.state in (_State.LOGIN, _State.LEAVING)  # whose end is reported once
        is_over = self.state is _State.OVER
        self.owed = None if in_login or is_over else _OTHER[kind]
        self.state = _State.OVER


class Turns:
    """The turns of one server process, by our ids of chats."""

    def __init__(self) -> None:
        self._turns: defaultdict[str | None, _Turn] = defaultdict(_Turn)
        self._readers: Mapping[type, Callable[[_Turn, Any], ChatEvent | None]] = {
            turn_events.TurnBegan: _began,
            turn_events.TurnStopping: _stopping,
            turn_events.LoginBegan: _login_began,
            EndReported: _end_reported,
            ChatDeleted: _deleted,
        }

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

    def login_answered(self, chat_id: str, *, is_older: bool) -> None:
        """Note that an answer was sent to the login: the server responds as to a prompt."""
        turn = self._turns[chat_id]
        turn.unanswered += 1
        if is_older and turn.state is _State.LOGIN:
            turn.state = _State.ANSWERED

    def login_left(self, chat_id: str | None) -> None:
        """Note that the user cancelled the login, or its question."""
        turn = self._turns[chat_id]
        if turn.state in (_State.LOGIN, _State.ANSWERED):
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

    def answered(
        self, chat_id: str, *, accepted: bool, fault: str | None = None
    ) -> Sequence[ChatEvent]:
        """Return the events that follow from the response to a prompt; pass them to `read`.

        fault: why the prompt was refused.
        """
        turn = self._turns[chat_id]
        turn.unanswered = max(0, turn.unanswered - 1)
        if turn.unanswered or turn.state is _State.OVER:
            return ()
        if accepted:
            return _accepted(turn)
        if turn.state in (_State.LOGIN, _State.ANSWERED):  # it goes on: the user may try again
            turn.state = _State.LOGIN
            return (NoticeReceived(fault or REFUSED, is_error=True), turn_events.LoginWaits())
        turn.state = _State.OVER
        return (turn_events.TurnEnded(states.TurnEnd.FAILED, fault or REFUSED),)

    def read(self, events: Sequence[agent_events.AgentEvent]) -> Sequence[agent_events.AgentEvent]:
        """Replace the two reports of an end by one TurnEnded: a hot path, most events pass."""
        read: list[agent_events.AgentEvent] = []
        for event in events:
            if type(event) is not Addressed or type(event.event) not in self._readers:
                read.append(event)
                continue
            merged = self._readers[type(event.event)](self._turns[event.chat_id], event.event)
            if merged is not None:
                read.append(Addressed(event.chat_id, merged, event.parent_id))
        return read


def _accepted(turn: _Turn) -> Sequence[ChatEvent]:
    match turn.state:
        case _State.SENT | _State.ANSWERED:
            return (turn_events.TurnBegan(),)
        case _State.CLOSING:
            turn.state = _State.RUNNING
            return (EndReported(kind=EndKind.FINISHED),)
        case _State.LEAVING:
            return (EndReported(kind=EndKind.IDLE),)
        case _State.LOGIN:
            return (turn_events.LoginWaits(),)
        case _:
            return ()


def _began(turn: _Turn, event: turn_events.TurnBegan) -> ChatEvent | None:
    was, turn.state, turn.owed = turn.state, _State.RUNNING, None
    return None if was is _State.RUNNING else event


def _stopping(turn: _Turn, event: turn_events.TurnStopping) -> ChatEvent:
    turn.stop()
    return event


def _login_began(turn: _Turn, event: turn_events.LoginBegan) -> ChatEvent:
    awaits_response = turn.state is _State.ANSWERED and turn.unanswered > 1
    turn.state, turn.owed = _State.ANSWERED if awaits_response else _State.LOGIN, None
    return event


def _deleted(turn: _Turn, event: ChatDeleted) -> ChatEvent:
    turn.state, turn.owed, turn.unanswered = _State.OVER, None, 0
    return event


def _end_reported(turn: _Turn, event: EndReported) -> ChatEvent | None:
    if turn.owed is event.kind:
        turn.owed = None
        return None
    if event.kind is EndKind.FINISHED and turn.state in _NO_END:
        turn.state = _NO_END[turn.state]
        waits = turn.state is _State.LOGIN and not turn.unanswered
        return turn_events.LoginWaits() if waits else None
    turn.end(event.kind)
    return turn_events.TurnEnded()

"""Turn events: what an agent reports about a turn."""

from __future__ import annotations

from msgspec import Struct

from eca_nvim.chat.vocabulary.states import TurnEnd


class TurnEvent(Struct, frozen=True):
    """A report of the agent about its turn; each kind is a subclass."""


class TurnBegan(TurnEvent, frozen=True):
    """The agent has begun to work, on a prompt or on its own (ECA: chat/statusChanged)."""


class TurnStopping(TurnEvent, frozen=True):
    """The turn was stopped, and the agent is ending it (ECA: chat/statusChanged)."""


class StopRefused(TurnEvent, frozen=True):
    """The agent cannot stop the turn, which goes on; `message` tells the user so."""

    message: str


class TurnEnded(TurnEvent, frozen=True):
    """The turn has ended; `message` tells the user why.

    ECA: chat/statusChanged, progress and the response to chat/prompt. ACP: the response to
    session/prompt.
    """

    end: TurnEnd = TurnEnd.DONE
    message: str | None = None


class LoginBegan(TurnEvent, frozen=True):
    """The turn has become a login: no prompt is sent before its end (ECA: chat/statusChanged)."""


class LoginWaits(TurnEvent, frozen=True):
    """The agent has said what it has to say in a login, and waits for the user."""


class TurnLapsed(Struct, frozen=True):
    """We asked about a silent turn (AskTurn), and the agent did not confirm that it runs.

    is_idle: the agent says that the chat is idle; otherwise it did not mention the chat.
    """

    number: int
    times_asked: int
    is_idle: bool

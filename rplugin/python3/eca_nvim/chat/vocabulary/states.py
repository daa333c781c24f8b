"""States: the states of a turn, of a history and of a tool call, and the legal transitions."""

from collections.abc import Mapping
from enum import StrEnum


class Turn(StrEnum):
    """The state of a chat's turn.

    SENDING: we sent a prompt and the agent has not begun. LOGIN: the agent asks for what it needs
    to log in to a provider. LEAVING: the user cancelled the login.
    """

    IDLE = "idle"
    SENDING = "sending"
    RUNNING = "running"
    STOPPING = "stopping"
    LOGIN = "login"
    LEAVING = "leaving"


class History(StrEnum):
    """Whether what was said in a chat may be replaced.

    CHANGING: we asked the agent to change or to load it, and wait for the response.
    """

    SETTLED = "settled"
    CHANGING = "changing"


class TurnStep(StrEnum):
    """A step of a turn."""

    SEND = "send"
    START = "start"
    STOP = "stop"
    LOGIN = "login"
    END = "end"


class TurnEnd(StrEnum):
    """Why a turn ended, as in the event EcaTurnFinished.

    LIMIT: it reached a limit of tokens or requests. DECLINED: the agent or its model refused.
    """

    DONE = "done"
    STOPPED = "stopped"
    REJECTED = "rejected"
    FAILED = "failed"
    GONE = "gone"
    LIMIT = "limit"
    DECLINED = "declined"


TURN_STEPS: Mapping[tuple[Turn, TurnStep], Turn] = {
    (Turn.IDLE, TurnStep.SEND): Turn.SENDING,
    (Turn.IDLE, TurnStep.START): Turn.RUNNING,
    (Turn.IDLE, TurnStep.LOGIN): Turn.LOGIN,
    (Turn.SENDING, TurnStep.START): Turn.RUNNING,
    (Turn.SENDING, TurnStep.STOP): Turn.STOPPING,
    (Turn.SENDING, TurnStep.LOGIN): Turn.LOGIN,
    (Turn.SENDING, TurnStep.END): Turn.IDLE,
    (Turn.RUNNING, TurnStep.STOP): Turn.STOPPING,
    (Turn.RUNNING, TurnStep.LOGIN): Turn.LOGIN,
    (Turn.RUNNING, TurnStep.END): Turn.IDLE,
    (Turn.STOPPING, TurnStep.START): Turn.RUNNING,
    (Turn.STOPPING, TurnStep.LOGIN): Turn.LEAVING,
    (Turn.STOPPING, TurnStep.END): Turn.IDLE,
    (Turn.LOGIN, TurnStep.START): Turn.RUNNING,
    (Turn.LOGIN, TurnStep.STOP): Turn.LEAVING,
    (Turn.LOGIN, TurnStep.LOGIN): Turn.LOGIN,
    (Turn.LOGIN, TurnStep.END): Turn.IDLE,
    (Turn.LEAVING, TurnStep.START): Turn.STOPPING,
    (Turn.LEAVING, TurnStep.LOGIN): Turn.LEAVING,
    (Turn.LEAVING, TurnStep.END): Turn.IDLE,
}

LOGIN_TURNS = frozenset({Turn.LOGIN, Turn.LEAVING})
"""States of a login that runs, or that the user has cancelled."""


class CallState(StrEnum):
    """The state of a tool call.

    APPROVED: it may run but has not begun. REFUSED: the user rejected it and the agent has not
    confirmed. STOPPED: it was ended with its turn. UNREPORTED: its turn ended by itself, so the
    call is over, but the agent did not say how it ended. LEFT: its turn was ended, and the agent
    has not said that the call has.
    """

    PREPARING = "preparing"
    WAITING = "waiting"
    APPROVED = "approved"
    REFUSED = "refused"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    REJECTED = "rejected"
    STOPPED = "stopped"
    UNREPORTED = "unreported"
    LEFT = "left"


_ENDS = frozenset(
    {
        *(CallState.DONE, CallState.FAILED, CallState.REJECTED),
        *(CallState.STOPPED, CallState.UNREPORTED, CallState.LEFT),
    }
)

CALL_STEPS: Mapping[CallState, frozenset[CallState]] = {
    CallState.PREPARING: _ENDS | {CallState.WAITING, CallState.APPROVED, CallState.RUNNING},
    CallState.WAITING: _ENDS
    | {CallState.APPROVED, CallState.REFUSED, CallState.RUNNING, CallState.PREPARING},
    # an agent may ask about a call that has begun, and ask again
    CallState.APPROVED: _ENDS | {CallState.RUNNING, CallState.WAITING},
    CallState.REFUSED: _ENDS | {CallState.RUNNING},
    CallState.RUNNING: _ENDS | {CallState.WAITING, CallState.APPROVED},
    CallState.DONE: frozenset(),
    CallState.FAILED: frozenset(),
    CallState.REJECTED: frozenset(),
    CallState.STOPPED: frozenset(),
    # its result may still arrive, and then counts
    CallState.UNREPORTED: frozenset({CallState.DONE, CallState.FAILED}),
    CallState.LEFT: frozenset({CallState.DONE, CallState.FAILED, CallState.STOPPED}),
}

ENDED_CALLS = _ENDS
"""States in which a call has ended."""

UNFINISHED_CALLS = frozenset(CallState) - _ENDS - {CallState.REFUSED}
"""States in which a call may still do something."""

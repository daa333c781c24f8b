"""Turn events: what an agent reports about a turn, usage, hooks, links, images and jobs."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, TypeAlias

from msgspec import Struct

from eca_nvim.chat.vocabulary import bases
from eca_nvim.chat.vocabulary.states import TurnEnd

UsageSegment: TypeAlias = tuple[str, ...]
"""Text and group of a segment, then maybe a colour (`#rrggbb`) for terminals that show it."""

UsageRow: TypeAlias = Sequence[UsageSegment]

DOLLARS: Final = "USD"


class UsageCategory(Struct, frozen=True):
    """One part of the context window."""

    name: str
    tokens: int
    color: str | None = None


class UsageReported(bases.ChatEvent, frozen=True):
    """Tokens and cost so far (ECA: usage); costs are amounts, as text.

    currency: of the costs, as a code of ISO 4217.
    """

    session_tokens: int | None = None
    context_limit: int | None = None
    output_limit: int | None = None
    last_message_cost: str | None = None
    session_cost: str | None = None
    auto_compact_percentage: int | None = None
    categories: tuple[UsageCategory, ...] = ()
    free_tokens: int | None = None
    free_color: str | None = None
    currency: str = DOLLARS


class HookStarted(bases.ChatEvent, frozen=True):
    """A hook began: a program that the agent runs at a fixed point (ECA: hookActionStarted)."""

    id: str
    name: str


class HookFinished(bases.ChatEvent, frozen=True):
    """A hook ended; `status` is its exit code (ECA: hookActionFinished)."""

    id: str
    name: str
    status: int | None = None
    output: str | None = None
    error: str | None = None


class LinkReceived(bases.ChatEvent, frozen=True):
    """A titled link (ECA: url)."""

    title: str
    url: str


class ImageReceived(bases.ChatEvent, frozen=True):
    """An image, in base64 (ECA: image)."""

    media_type: str
    base64: str


class JobState(StrEnum):
    """Whether a command runs in the background, and how it ended; ENDED: that is not known."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    KILLED = "killed"
    ENDED = "ended"


class Job(bases.ChatEvent, frozen=True):
    """A command in the background, as it is now; `call_id` started it in a chat (our id).

    id: the agent's, unique while its process runs. started: seconds since 1970. in_turn: it ends
    with its turn at the latest, as what runs in a terminal of an ACP agent.
    """

    title: str
    state: JobState = JobState.RUNNING
    exit_code: int | None = None
    chat_id: str | None = None
    call_id: str | None = None
    id: str = ""
    started: float | None = None
    in_turn: bool = False


class TurnEvent(bases.ChatEvent, frozen=True):
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


class TurnLapsed(bases.ChatEvent, frozen=True):
    """The agent did not confirm that a silent turn runs (`effects.SilentTurn`).

    is_idle: the agent says that the chat is idle; otherwise it did not mention the chat.
    """

    number: int
    times_asked: int
    is_idle: bool

"""Prompt: session/prompt, whose answer ends the turn, session/cancel, and _session/steering."""

from typing import Any, ClassVar, Final

from msgspec import field

from eca_nvim.protocol.acp.content import ContentBlock
from eca_nvim.protocol.base.types import Notification, OpenEnum, Request, Wire


class StopReason(OpenEnum):
    """Why a turn ended."""

    END_TURN = "end_turn"
    MAX_TOKENS = "max_tokens"
    MAX_TURN_REQUESTS = "max_turn_requests"
    REFUSAL = "refusal"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


class PromptResult(Wire, frozen=True):
    """The end of a turn."""

    stop_reason: StopReason


class PromptParams(Request[PromptResult], frozen=True):
    """A prompt of the user; the answer comes at the end of the turn."""

    method: ClassVar[str] = "session/prompt"

    session_id: str
    prompt: tuple[ContentBlock, ...]


class CancelTurn(Notification, frozen=True):
    """Stop the turn; the answer to its prompt follows."""

    method: ClassVar[str] = "session/cancel"

    session_id: str


class SteerOutcome(OpenEnum):
    """Whether the agent has taken a message to the running turn."""

    INJECTED = "injected"
    STARTED_NEW_TURN = "startedNewTurn"
    PROMPT_REQUIRED = "promptRequired"
    FAILED = "failed"
    UNKNOWN = "unknown"


class SteerResult(Wire, frozen=True):
    """The answer to a message to the running turn."""

    outcome: SteerOutcome


NO_NEW_TURN: Final = {"steering": {"idleBehavior": "promptRequired"}}
"""What we ask of an agent in which no turn runs."""


class SteerParams(Request[SteerResult], frozen=True):
    """A message to the running turn; meta: NO_NEW_TURN.

    Beyond the protocol: agents announce it in their answer to initialize (`_meta.steering`).
    """

    method: ClassVar[str] = "_session/steering"

    session_id: str
    prompt: tuple[ContentBlock, ...]
    meta: dict[str, Any] = field(name="_meta")

"""Prompt: session/prompt, whose answer ends the turn, and session/cancel."""

from typing import ClassVar

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

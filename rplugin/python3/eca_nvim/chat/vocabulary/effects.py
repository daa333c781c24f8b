"""Effects: what the agent must be told because of an event or an intent.

Rules kept here:
- The chat is pure: it never calls an agent. It returns Changes, and the session tells the agent
  each effect in order, then shows the ops in order.
- Ids in an effect are the agent's own: a subagent's call carries the subagent's chat id.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from eca_nvim.chat.vocabulary.contexts import Context


class TellPrompt(Struct, frozen=True):
    """Send this prompt now; the chat already shows it and waits for the agent."""

    chat: str
    text: str
    contexts: tuple[Context, ...] = ()


class TellSteer(Struct, frozen=True):
    """Say this to the running turn."""

    chat: str
    text: str
    contexts: tuple[Context, ...] = ()


class TellUnsteer(Struct, frozen=True):
    """Take back all that the running turn was told and has not read yet."""

    chat: str


class TellStop(Struct, frozen=True):
    """Ask for the turn to end."""

    chat: str


class AskTurn(Struct, frozen=True):
    """Ask whether a turn goes on of which nothing is heard; `asked`: how often it was, with this.

    The answer comes as TurnLapsed.
    """

    chat: str
    number: int
    times_asked: int


class TellApproval(Struct, frozen=True):
    """Let a call run.

    home, block: the chat that shows the call, and where: the agent may use an id twice.
    """

    chat: str
    call: str
    remember: bool
    home: str
    block: int


class TellRejection(Struct, frozen=True):
    """Refuse a call."""

    chat: str
    call: str


class TellAnswer(Struct, frozen=True):
    """Answer a question; None cancels it."""

    question: str
    text: str | None


class TellSelection(Struct, frozen=True):
    """Say what answers the prompts of a chat from now on."""

    chat: str


class TellLogin(Struct, frozen=True):
    """Return the login that runs what it asks for, a secret; None cancels it."""

    chat: str
    text: str | None


class ShowImage(Struct, frozen=True):
    """Write an image to a file and open it with the system's own program."""

    media_type: str
    content: bytes


Effect: TypeAlias = (
    TellPrompt
    | TellSteer
    | TellUnsteer
    | TellStop
    | AskTurn
    | TellApproval
    | TellRejection
    | TellAnswer
    | TellSelection
    | TellLogin
    | ShowImage
)

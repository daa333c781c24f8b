"""Effects: what the session must tell the agent because of an event or an intent.

Rules kept here:
- The chat is pure: it never calls an agent. It returns Changes; the session carries out the
  effects in order, then shows the ops in order.
- Ids in an effect are the agent's own: a call of a subagent has the subagent's chat id.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import Struct

from eca_nvim.chat.vocabulary.call_details import FileNamed, ToolCall
from eca_nvim.chat.vocabulary.contexts import Context
from eca_nvim.chat.vocabulary.requests import Value


class TellPrompt(Struct, frozen=True):
    """Send a prompt; the chat shows it already and waits for the agent."""

    chat: str
    text: str
    contexts: tuple[Context, ...] = ()


class TellSteer(Struct, frozen=True):
    """Send a message to the running turn."""

    chat: str
    text: str
    contexts: tuple[Context, ...] = ()


class TellUnsteer(Struct, frozen=True):
    """Withdraw all steers that the running turn has not read yet."""

    chat: str


class TellStop(Struct, frozen=True):
    """Ask the agent to stop the turn."""

    chat: str


class TellGiveUp(Struct, frozen=True):
    """Wait no more for a chat that is being opened, if the agent has already taken long."""

    chat: str


class AskTurn(Struct, frozen=True):
    """Ask whether a silent turn is still running; the answer comes as TurnLapsed.

    times_asked: how often we have asked, this time included.
    """

    chat: str
    number: int
    times_asked: int


class TellDecision(Struct, frozen=True):
    """Answer a call that needs approval, by the agent's id of the choice; None: none rejects.

    call: as the request showed it. An answer allows that and nothing else.
    allows: the call will run. home, block: the chat and block that show the call, because the agent
    may use a call's id twice.
    """

    chat: str
    call: ToolCall
    choice: str | None
    allows: bool
    home: str
    block: int


class TellAnswer(Struct, frozen=True):
    """Answer a question; None cancels it."""

    question: str
    text: str | None


class TellForm(Struct, frozen=True):
    """Answer a form or a link by the values of its fields; None: the user declines it."""

    question: str
    content: Mapping[str, Value] | None


class TellTrust(Struct, frozen=True):
    """Tell the agent whether it runs a chat's tools without asking, if it has an option for it."""

    chat: str


class TellLogin(Struct, frozen=True):
    """Send what the running login asks for; None cancels the login."""

    chat: str
    text: str | None


class ShowImage(Struct, frozen=True):
    """Write an image to a file and open it with the system's own program."""

    media_type: str
    content: bytes


class FindFiles(Struct, frozen=True):
    """Find out which paths are files; the answer comes as FileUsed.

    named: paths. calls: what calls name is looked for, too (`call_uses.named_in`). folders: those
    of the workspace.
    """

    chat: str
    named: tuple[FileNamed, ...]
    calls: tuple[ToolCall, ...] = ()
    folders: tuple[str, ...] = ()


Effect: TypeAlias = (
    TellPrompt
    | TellSteer
    | TellUnsteer
    | TellStop
    | TellGiveUp
    | AskTurn
    | TellDecision
    | TellAnswer
    | TellForm
    | TellTrust
    | TellLogin
    | ShowImage
    | FindFiles
)

"""What any agent offers, and what it may ask of the editor.

Rules kept here:
- No word of any protocol. An agent turns its protocol's messages into chat events and these calls
  into its protocol's messages; the session never learns which one it talks to.
- Everything that only tells the agent something is a plain call: it queues and returns at once,
  in order. Only life-cycle methods wait, and what is asked of its archive.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from eca_nvim.agents.archive import Archive
from eca_nvim.chat.vocabulary.contexts import Context
from eca_nvim.chat.vocabulary.events import AgentEvent


class AgentFault(Exception):
    """Raised when an agent cannot be started; one line that names the fault and the remedy."""


class AgentExit(Struct, frozen=True):
    """How an agent's process ended: `reason` in words, and its last stderr lines."""

    reason: str
    code: int | None = None
    expected: bool = False
    stderr_tail: tuple[str, ...] = ()


class Workspace(Struct, frozen=True):
    """Where the user works: absolute folders, and the editor that speaks."""

    folders: tuple[str, ...]
    editor: str
    process_id: int


class Selection(Struct, frozen=True):
    """What answers a prompt; None leaves the choice to the agent."""

    model: str | None = None
    agent: str | None = None
    variant: str | None = None
    trust: bool = False


class Prompt(Struct, frozen=True):
    """One prompt of one chat, with all that goes along."""

    chat_id: str
    text: str
    contexts: tuple[Context, ...] = ()
    selection: Selection = Selection()


class Diagnostic(Struct, frozen=True):
    """A finding of a linter or language server.

    Lines and columns are 0-based, columns in UTF-16 code units, the end exclusive: the editor's
    own way. `severity` is error, warning, information or hint.
    """

    path: str
    start_line: int
    start_column: int
    end_line: int
    end_column: int
    severity: str
    message: str
    source: str | None = None
    code: str | None = None


class Location(Struct, frozen=True):
    """A range in a file; 1-based lines, 1-based columns in UTF-16 code units."""

    path: str
    start_line: int
    start_column: int
    end_line: int
    end_column: int


class NoAnswer(StrEnum):
    """Why no language server can look for a place: it still starts, or the file has none."""

    STARTING = "starting"
    NO_SERVER = "no-server"


class EditorServices(Protocol):
    """What an agent may ask of the editor while it works."""

    async def diagnostics(self, path: str | None) -> Sequence[Diagnostic]:
        """Return the findings for a file, or for all files of the workspace folders when None."""

    async def locations(
        self, kind: str, path: str, line: int, column: int
    ) -> Sequence[Location] | NoAnswer:
        """Find definitions or references (`kind`) of what is at a place."""


Emit = Callable[[Sequence[AgentEvent]], None]
"""Takes the events of one read together, in order."""


class Agent(ABC):
    """A connection with an agent, from start to exit."""

    @abstractmethod
    async def run(self, emit: Emit, ready: Callable[[], None]) -> AgentExit:
        """Start the process, introduce ourselves, call `ready`, deliver events until it ends.

        Raises AgentFault when it cannot be started or does not answer the introduction.
        Cancelling it closes the process by the whole ladder.
        """

    @abstractmethod
    async def close(self) -> None:
        """Ask the process to end, give it some seconds for it, then go by the close ladder."""

    @abstractmethod
    def kill(self) -> None:
        """End the process and its group at once, without the event loop."""

    def leave(self) -> None:
        """Ask the process to end, without the event loop, as our own process ends."""
        self.kill()

    @abstractmethod
    def prompt(self, prompt: Prompt) -> None:
        """Send a prompt; its answer comes as PromptAnswered."""

    @abstractmethod
    def steer(self, chat_id: str, text: str, contexts: Sequence[Context] = ()) -> None:
        """Say something to the running turn; of its contexts at least what the text names."""

    def unsteer(self, chat_id: str) -> None:  # noqa: B027 - optional: not every protocol can
        """Take back all that the running turn was told and has not read, where that can be."""

    @abstractmethod
    def stop(self, chat_id: str) -> None:
        """Ask for the running turn to end."""

    @abstractmethod
    def approve(self, chat_id: str, call_id: str, *, remember: bool) -> None:
        """Let a waiting tool call run."""

    @abstractmethod
    def reject(self, chat_id: str, call_id: str) -> None:
        """Refuse a waiting tool call."""

    @abstractmethod
    def answer(self, question_id: str, text: str | None) -> None:
        """Answer a question; None cancels it."""

    def answer_login(self, chat_id: str, text: str | None) -> None:  # noqa: B027 - optional
        """Give the login that runs what it asks for; None cancels it. PromptAnswered follows."""

    @abstractmethod
    def choose(self, chat_id: str, selection: Selection) -> None:
        """Tell the agent of a new selection, where its protocol has a word for it."""

    @property
    @abstractmethod
    def archive(self) -> Archive:
        """The chats that the agent keeps; it can be asked while the agent is ready."""

"""Effects: what a chat asks of its agent, and of the session, because of an event or an intent.

An effect is a call that the session makes once it has shown the ops, in order: a chat calls nobody.
What may have to wait is a value. Ids are the agent's: a subagent's call has the subagent's chat id.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from eca_nvim.chat.vocabulary.call_details import FileNamed, PartialWrite, ToolCall
from eca_nvim.chat.vocabulary.contexts import Context
from eca_nvim.chat.vocabulary.requests import Value


class Prompt(Struct, frozen=True):
    """A prompt with its contexts; the chat shows it already and waits for the agent.

    recap: it is the first one of a new session, which gets this of what was said; None: it is not.
    """

    chat_id: str
    text: str
    contexts: tuple[Context, ...] = ()
    recap: str | None = None


class Decision(Struct, frozen=True):
    """The answer to a call that needs approval, by the agent's id of the choice; None rejects it.

    call: as the request showed it. An answer allows that and nothing else.
    allows: the call will run. home, block: the chat and block that show the call, because the agent
    may use a call's id twice. writes: what files are to hold, if it is allowed in part.
    """

    chat_id: str
    call: ToolCall
    choice: str | None
    allows: bool
    home: str
    block: int
    writes: tuple[PartialWrite, ...] = ()


class SilentTurn(Struct, frozen=True):
    """A turn whose agent is silent; the answer comes as TurnLapsed.

    number: of the turn in its chat. times_asked: how often we have asked, this time included.
    """

    chat_id: str
    number: int
    times_asked: int


class FindFiles(Struct, frozen=True):
    """Find out which paths are files; the answer comes as FileUsed.

    named: paths. calls: what calls name is looked for, too (`calls.named_in`). folders: those of
    the workspace.
    """

    chat: str
    named: tuple[FileNamed, ...]
    calls: tuple[ToolCall, ...] = ()
    folders: tuple[str, ...] = ()


class AgentCalls(ABC):
    """What a chat asks of its agent. Each call queues what it sends, in order, and returns."""

    @abstractmethod
    def prompt(self, prompt: Prompt) -> None:
        """Send a prompt; TurnBegan and TurnEnded follow."""

    def steer(self, chat_id: str, text: str, contexts: Sequence[Context] = ()) -> None:  # noqa: B027
        """Send a message to the running turn, with at least the contexts its text names.

        Only for agents with the ability, as `unsteer`.
        """

    def unsteer(self, chat_id: str) -> None:  # noqa: B027 - optional: not every protocol can
        """Withdraw the steers that the running turn has not read, if the protocol allows it."""

    @abstractmethod
    def stop(self, chat_id: str) -> None:
        """Ask the agent to stop the running turn."""

    def give_up(self, chat_id: str) -> None:  # noqa: B027 - some open chats at once
        """Wait no more for a chat to be opened if that takes long; what asked for it ends."""

    def answer(self, question_id: str, text: str | None) -> None:  # noqa: B027 - some ask nothing
        """Answer a question of the agent; None cancels it."""

    def answer_form(self, question_id: str, content: Mapping[str, Value] | None) -> None:  # noqa: B027
        """Answer a form, or consent to a link; None declines it."""

    def answer_login(self, chat_id: str, text: str | None) -> None:  # noqa: B027 - optional
        """Send what the running login asks for; None cancels it."""


class Outside(AgentCalls):
    """All that a chat can ask for: the session makes these calls for the chat's server."""

    @abstractmethod
    def decide(self, decision: Decision) -> None:
        """Answer a waiting tool call."""

    @abstractmethod
    def trust_changed(self, chat_id: str) -> None:
        """Tell the agent whether it runs a chat's tools without asking, if it has an option."""

    @abstractmethod
    def ask_turn(self, turn: SilentTurn) -> None:
        """Ask whether a silent turn is still running."""

    @abstractmethod
    def find_files(self, request: FindFiles) -> None:
        """Find out which paths are files."""


Effect: TypeAlias = Callable[[Outside], None]

"""Abilities: what only some agents can do: to keep chats, to complete a prompt, to log the user in.

Rules kept here:
- Nothing here depends on a protocol. Chat ids are ours, paths absolute; content ids and cursors are
  the agent's own, opaque strings. Texts are the agent's own and not safe to show.
- Every call waits for the agent's response. It raises AgentRefused, with one line for the user, if
  the agent cannot or will not do it.
- Events that a call replays are returned by it, in order; they are never emitted as live events.
- A login is one call, from the choice of the way to the end. It may ask the user several times.
  Cancelling the call cancels the login.
"""

from collections.abc import Mapping, Sequence
from enum import Enum, StrEnum, auto
from pathlib import Path
from typing import Protocol, TypeAlias

from msgspec import Struct

from eca_nvim.chat.user_actions.earlier_messages import Page
from eca_nvim.chat.vocabulary.completion import Argument, ItemKind


class AgentRefused(Exception):
    """Raised when an agent refuses a request; the message is one line that says why."""


class AgentLacks(AgentRefused):
    """Raised when an agent does not have the feature at all."""


class CursorExpired(AgentRefused):
    """Raised when a cursor is no longer valid because the history has changed."""


class ChatUnknown(AgentRefused):
    """Raised when an agent does not have a chat."""


class ChatSummary(Struct, frozen=True):
    """A saved chat; times are milliseconds since 1970. Unknown values are None.

    running: whether one of its turns is running.
    """

    id: str
    title: str | None = None
    model: str | None = None
    messages: int | None = None
    created_ms: int | None = None
    updated_ms: int | None = None
    running: bool | None = None


class OpenedChat(Struct, frozen=True):
    """An opened chat: its newest page. `Agent.open_chat` has its options reported."""

    page: Page
    title: str | None = None


class Archive(Protocol):
    """The chats that an agent saves."""

    async def list_chats(self, limit: int | None = None) -> Sequence[ChatSummary]:
        """Return the chats of this workspace, newest first; without a limit all of them."""

    async def open_chat(self, chat_id: str, limit: int | None = None) -> OpenedChat:
        """Open a chat with its newest `limit` messages. Raises ChatUnknown."""

    async def history(self, chat_id: str, before: str, limit: int | None = None) -> Page:
        """Return the page before a cursor. Raises CursorExpired and ChatUnknown."""

    async def rename(self, chat_id: str, title: str) -> None:
        """Rename a chat; the agent may shorten the title, and reports the result as an event."""

    async def clear(self, chat_id: str) -> None:
        """Remove all messages of a chat."""

    async def delete(self, chat_id: str) -> str | None:
        """Delete a chat for good; return in one line what of it may still run, None if nothing."""

    async def rollback(self, chat_id: str, content_id: str, *, messages: bool, tools: bool) -> None:
        """Undo a chat from a user message on, including that message.

        messages: remove the messages. tools: restore the files that tools have changed.
        """

    async def begin_again(self, chat_id: str) -> None:
        """Let a chat go on in a new session of the agent; the old one stays with the agent.

        It knows nothing of what was said but the recap of the next prompt (`effects.Prompt.recap`).
        """

    async def branch(self, chat_id: str, before: str | None) -> str:
        """Let a chat go on in another session of the agent, from before a user message.

        None: it knows nothing, as after `begin_again`. Returns the id of the chat that has the old
        session from now on, for `exchange`.
        """

    async def exchange(self, chat_id: str, other_id: str) -> None:
        """Let two chats have each other's session. Nothing changes if it is refused."""

    async def fork(self, chat_id: str, content_id: str | None) -> tuple[str, OpenedChat]:
        """Copy a chat up to and including some content; return the new chat's id and the chat.

        None copies all of it, for agents that cannot copy a part.
        """

    async def add_flag(self, chat_id: str, content_id: str, text: str) -> str:
        """Add a bookmark after some content; return the bookmark's id."""

    async def remove_flag(self, chat_id: str, flag_id: str) -> None:
        """Remove a bookmark."""


class FoundPath(Struct, frozen=True):
    """A file or folder."""

    path: str


class FoundResource(Struct, frozen=True):
    """A resource of a tool server (MCP)."""

    uri: str
    name: str = ""
    description: str = ""
    server: str = ""


class FoundCommand(Struct, frozen=True):
    """A command, prompt or skill that a prompt may begin with; custom: a command of the user's."""

    name: str
    kind: ItemKind = ItemKind.COMMAND
    description: str = ""
    arguments: tuple[Argument, ...] = ()
    custom: bool = False


FoundContext: TypeAlias = FoundPath | FoundResource


class CodePlace(Struct, frozen=True):
    """A place in a text, to complete it; `version` is that of the text.

    line and character are 1-based, the character in UTF-16 units.
    """

    text: str
    version: int
    line: int
    character: int


class Queries(Protocol):
    """What completes the prompts of one agent, and what the user writes elsewhere."""

    async def contexts(self, chat_id: str, query: str) -> Sequence[FoundContext]:
        """Return the contexts that match a query, "" all."""

    async def files(self, chat_id: str, query: str) -> Sequence[FoundPath]:
        """Return the files that match a query, "" all."""

    async def commands(self, chat_id: str) -> Sequence[FoundCommand]:
        """Return all commands."""

    async def code(self, place: CodePlace) -> str:
        """Return what the agent would insert at a place, "" for nothing; cancelled at any time."""


class Remembered(Struct, frozen=True):
    """A file in which an agent keeps what it has learned; texts are the agent's own.

    label: where it counts, in one word. kind: a word such as gotcha. changed_ms: since 1970.
    """

    path: str
    name: str = ""
    label: str = ""
    kind: str = ""
    description: str = ""
    tags: Sequence[str] = ()
    changed_ms: int | None = None


class Memory(Protocol):
    """What an agent remembers across chats; `MemoryLoaded` says how much of it a chat has."""

    async def entries(self) -> Sequence[Remembered]:
        """Return all that is remembered."""


class OutputLine(Struct, frozen=True):
    """A line that a command has printed, raw; is_fault: on its standard error."""

    text: str
    is_fault: bool = False


class Jobs(Protocol):
    """The commands that an agent runs in the background; `JobsChanged` says which there are."""

    async def refresh(self) -> None:
        """Ask which there are; `JobsChanged` follows."""

    async def output(self, job_id: str) -> Sequence[OutputLine] | None:
        """Return the last lines that a command has printed; None if the agent has forgotten it."""

    async def kill(self, job_id: str) -> None:
        """End a command and all that it has started; `JobsChanged` follows."""


class ToolServerAction(StrEnum):
    """What can be done with a tool server; restart stops it, if it runs, and starts it."""

    START = "start"
    STOP = "stop"
    RESTART = "restart"
    ENABLE = "enable"
    DISABLE = "disable"


class Target(Struct, frozen=True):
    """What a tool server is: a program with its arguments, or a url."""

    command: Sequence[str] = ()
    url: str = ""


class ToolServers(Protocol):
    """The tool servers of an agent; `ToolServerChanged` says which there are, and their states.

    A call returns once its effect was reported. A server that starts may do so for longer.
    """

    async def do(self, action: ToolServerAction, name: str) -> None:
        """Act on a server."""

    async def add(self, name: str, target: Target, *, in_workspace: bool) -> None:
        """Add a server to the configuration, of this workspace alone or of all."""

    async def change(self, name: str, target: Target) -> None:
        """Give a server another command or url."""

    async def remove(self, name: str) -> None:
        """Remove a server from the configuration."""

    @property
    def config_files(self) -> Sequence[Path]:
        """The files in which servers are configured; the first that names one owns it."""


class Providers(Protocol):
    """Who offers an agent its models; `ProvidersChanged` says what is known of them."""

    async def refresh(self) -> None:
        """Have all of them reported."""


class Grant(Struct, frozen=True):
    """What the user has allowed for more than one call, in the words in which it was asked.

    covers: one item each. chat_id: the chat that it is for, None: all. tool: the tool whose calls
    are all covered, on any tool server. ends: what ends it, "" if it can be revoked.
    """

    id: str
    covers: Sequence[str]
    chat_id: str | None = None
    tool: str | None = None
    ends: str = ""


class Grants(Protocol):
    """What the user has allowed one agent for more than one call, as far as it is known here."""

    def standing(self) -> Sequence[Grant]:
        """Return what is allowed now, oldest first."""

    def revoke(self, grant_id: str) -> None:
        """Ask again from now on about what a grant covers; one that is gone covers nothing."""

    def has_asked(self, tool: str, tool_server: str | None) -> bool:
        """Return whether a tool has asked since the agent started; None: one of the agent's own."""


class LoginWay(Struct, frozen=True):
    """A way to log in; `about` says in one line what it does or needs.

    logged_in: whether the user is logged in this way, None if that is not known.
    """

    id: str
    name: str
    about: str = ""
    logged_in: bool | None = None


class LoginEnd(Enum):
    """How a login succeeded.

    REPEATABLE: without asking anything, so it can be repeated when the agent has started again.
    RESTART: the agent knows of it once it is started again.
    """

    DONE = auto()
    REPEATABLE = auto()
    RESTART = auto()


class LoginCommand(Struct, frozen=True):
    """A program that logs in, in a terminal.

    added: the variables that the agent adds; environment: the whole environment, with them. folder:
    where the program runs, absolute.
    """

    title: str
    command: Sequence[str]
    added: Mapping[str, str]
    environment: Mapping[str, str]
    folder: str


class LoginUser(Protocol):
    """The user who logs in. Every call may be cancelled; a cancelled login asks nothing more."""

    async def choose(self, question: str, offers: Sequence[tuple[str, str]]) -> int:
        """Let the user choose from pairs of a name and a description; returns the index."""

    async def type(self, question: str, *, secret: bool) -> str:
        """Let the user type an answer; one that is a secret is hidden."""

    async def run(self, command: LoginCommand) -> int:
        """Run a program in a terminal once the user has agreed; returns its exit code.

        It is -1 if the user has closed the terminal. Raises AgentRefused if the program cannot be
        shown as it is.
        """

    def tell(self, text: str) -> None:
        """Show a text, such as a link to open."""

    def wait(self, text: str) -> None:
        """Show what the login waits for, with a way to cancel it, until the next call."""

"""Base: the interface of an agent, and of the editor services it may use, whatever the protocol.

A call that only sends something queues it, in order, and returns at once. Only life-cycle methods
and those of the archive wait.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Final, Protocol

from msgspec import Struct

from eca_nvim.agents.abilities import (
    AgentLacks,
    Archive,
    Grants,
    Jobs,
    LoginEnd,
    LoginUser,
    LoginWay,
    Memory,
    Providers,
    Queries,
    ToolServers,
)
from eca_nvim.agents.trace import Trace
from eca_nvim.chat.vocabulary import agent_events, call_details, options
from eca_nvim.chat.vocabulary.effects import AgentCalls, Prompt
from eca_nvim.chat.vocabulary.previews import Rewrite
from eca_nvim.path_risks import Folders


class AgentFault(Exception):
    """Raised when an agent cannot be started; the message is one line with fault and remedy."""


class EndedEarly(AgentFault):
    """Raised when an agent's process ended before it could be used."""


AGAIN: Final = "your next prompt or :Eca restart starts it again"
"""How the reason goes on when an agent that was ready has ended by itself."""


class AgentExit(Struct, frozen=True):
    """How an agent's process ended: `reason` in words, and its last stderr lines."""

    reason: str
    code: int | None = None
    expected: bool = False
    stderr_tail: tuple[str, ...] = ()


class Workspace(Struct, frozen=True):
    """Where the user works: the folders, the editor's name and version, and its process id.

    process_id: None for an agent that cannot see the process.
    """

    folders: Folders
    editor: str
    process_id: int | None


class Diagnostic(Struct, frozen=True):
    """A finding of a linter or language server.

    Lines and columns are 0-based, columns in UTF-16 code units, the end exclusive, as in the
    editor. `severity` is error, warning, information or hint.
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


class OpenBuffer(Struct, frozen=True):
    """A file that is open in the editor.

    line: of the cursor, 1-based. modified: it has unsaved changes. visible: it is in a window.
    """

    path: str
    line: int
    modified: bool
    visible: bool


class NoAnswer(StrEnum):
    """Why there is no answer: the language server is starting, or the file has none."""

    STARTING = "starting"
    NO_SERVER = "no-server"


class FileRefused(Exception):
    """Raised when a file is not read or written; the message is one line for the model."""


class FileMissing(FileRefused):
    """Raised when there is no such file."""


class FileChanged(FileRefused):
    """Raised when a file is not written because its text is not the one that the agent has read."""

    def __init__(self, path: str) -> None:
        super().__init__(f"not written, it has changed since you read it, read it again: {path}")


class EditorServices(Protocol):
    """Requests that an agent may make to the editor. Paths are absolute."""

    async def diagnostics(self, path: str | None) -> Sequence[Diagnostic]:
        """Return the findings for a file; None means all files in the workspace folders."""

    async def locations(
        self, kind: str, path: str, line: int, column: int
    ) -> Sequence[Location] | NoAnswer:
        """Return the definitions or references (`kind`) of the symbol at a position (1-based)."""

    async def open_buffers(self) -> Sequence[OpenBuffer]:
        """Return the files that are open, wherever they are; the one used last comes first."""

    async def read_text(self, path: str) -> str:
        """Return the whole text of a file, with the user's unsaved changes.

        Raises FileRefused, and FileMissing if there is no such file.
        """

    async def write_text(
        self, path: str, text: str, expected: str | None = None, *, replaces_unsaved: bool = True
    ) -> bytes | None:
        """Give a file a new text; it is made if it is missing, with the folders above it.

        expected: the digest of the text that it replaces (`text_digest`; a missing file has the
        empty text), None for any. replaces_unsaved: whether the user's unsaved changes may go, as
        the agent has read them. Returns what the file would have been with these, None if there
        were none. Raises FileRefused (FileChanged if the text is another one); then nothing was
        written.
        """


class KeptProjects(Protocol):
    """The folders that the user has told us to treat as projects, as repositories are; kept."""

    def is_project(self, folder: str) -> bool:
        """Return whether the user has said so of a folder; its path is real."""

    def projects(self) -> Sequence[str]:
        """Return the folders that the user has told us to treat so."""

    def keep_project(self, folder: str, *, is_one: bool = True) -> None:
        """Note that the user says so of a folder, or no longer; its path is real."""


Emit = Callable[[Sequence[agent_events.AgentEvent]], None]
"""Called with all events of one read, in order."""


NO_FURTHER_FOLDERS = "takes no further folders: only other agents get"


class Agent(AgentCalls):
    """A connection to an agent, from start to exit."""

    @abstractmethod
    async def run(self, emit: Emit, ready: Callable[[], None]) -> AgentExit:
        """Start the process, initialize it, call `ready`, and emit events until it ends.

        Raises AgentFault if the process cannot be started or does not respond to initialize.
        Cancelling it closes the process by the whole ladder.
        """

    @abstractmethod
    async def close(self) -> None:
        """Ask the process to exit; after some seconds use the close ladder."""

    @abstractmethod
    def kill(self) -> None:
        """End the process and its group at once, without the event loop."""

    def leave(self) -> None:
        """Ask the process to exit, without the event loop, while our own process ends."""
        self.kill()

    def open_chat(self, chat_id: str, *, is_needed: bool = False) -> None:
        """Prepare for a chat, or one that is shown again; OptionsChanged follows, maybe with none.

        Called for all chats after each start, and for each later one. is_needed: the user waits for
        the options; else those of a chat that goes on may come as late as its next prompt.
        """

    def forget(self, chat_id: str) -> None:
        """Forget a chat that is gone."""

    def withhold(self, chat_id: str) -> Prompt | None:  # noqa: ARG002 - most send it at once
        """Return the prompt of a chat that is not sent yet, and forget it."""
        return None

    @abstractmethod
    def decide(
        self,
        chat_id: str,
        call_id: str,
        choice_id: str | None,
        shown: call_details.ToolCall | None = None,
        writes: Sequence[call_details.PartialWrite] = (),
    ) -> None:
        """Answer a waiting tool call by a choice it was requested with; None rejects it.

        shown: the call as the user saw it, which is all that they allow; None: they saw nothing.
        writes: what files are to hold, if it is allowed in part; what a tool writes itself is taken
        back later.
        """

    async def login_ways(self) -> Sequence[LoginWay]:
        """Return the ways to log in, maybe none. Raises AgentRefused."""
        return ()

    async def login(self, way_id: str, user: LoginUser) -> LoginEnd:  # noqa: ARG002 - optional
        """Log in by one of the ways, and ask the user what it needs. Raises AgentRefused."""
        raise AgentLacks("this server has no login: log in with its own program")

    async def logout(self, way_id: str | None = None) -> str | None:  # noqa: ARG002 - optional
        """Log out; `way_id`: of one that has several logins. Raises AgentRefused.

        Returns why the user is, or may be, still logged in, in one line; None if they are not.
        """
        raise AgentLacks("this server cannot log out: use its own program for that")

    def set_option(
        self, chat_id: str, option_id: str, value: options.OptionValue, *, is_chosen: bool = True
    ) -> None:
        """Set an option of a chat; its answer follows: OptionsChanged or OptionRefused.

        If the option has the value already, it is the chat's own now: no default replaces it.
        Prompts are sent when all is answered. is_chosen: the user has set it since Neovim started;
        else no consent follows from it.
        """

    def prompt_in_place(self, prompt: Prompt) -> None:
        """Send a prompt of a session that no list of chats shall have; as `prompt` in all else."""
        self.prompt(prompt)

    async def rewrite(self, wanted: Rewrite) -> None:  # noqa: ARG002 - optional
        """Have lines rewritten; the answer is addressed to a chat with its id.

        It is TextReceived, AnswerReplaced, and at the end TurnEnded. It cannot be stopped. Raises
        AgentRefused; AgentLacks if a prompt must do it.
        """
        raise AgentLacks("this agent rewrites nothing in place")

    def folder_changed(self, folder: str, *, removed: bool) -> str | None:  # noqa: ARG002 - optional
        """Tell a ready agent that a folder was added to the workspace, or removed.

        If that is not so at once, returns what is, as words between the names of agent and folder.
        """
        return None

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended: `run` is about to return."""
        return False

    @property
    def is_busy(self) -> bool:
        """Whether something runs in it that no turn shows: a command in a terminal, a login."""
        return False

    @property
    def title(self) -> str:
        """What the agent calls itself once it is ready, with its version; "" if it does not say."""
        return ""

    @property
    def last_words(self) -> str:
        """The last line that the process wrote to standard error, "" if there is none."""
        return ""

    @property
    @abstractmethod
    def archive(self) -> Archive:
        """The chats that the agent saves; usable while the agent is ready.

        Raises AgentLacks if it saves none.
        """

    @property
    def queries(self) -> Queries | None:
        """What the agent offers to complete a prompt, usable while it is ready; None: nothing."""
        return None

    @property
    def jobs(self) -> Jobs | None:
        """The commands in the background, usable while it is ready; None: it has none."""
        return None

    @property
    def tool_servers(self) -> ToolServers | None:
        """The tool servers, usable while it is ready; None: those that it has are its own."""
        return None

    @property
    def providers(self) -> Providers | None:
        """Who offers its models, usable while it is ready; None: it does not say."""
        return None

    @property
    def memory(self) -> Memory | None:
        """What it remembers across chats, usable while it is ready; None: it does not say."""
        return None

    @property
    def grants(self) -> Grants | None:
        """What the user has allowed, usable while it is ready; None: nothing is known of it."""
        return None

    @property
    def trace(self) -> Trace | None:
        """What went over its connection, from its making on; None: it has no connection."""
        return None

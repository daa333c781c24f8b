"""Login: how a user logs in to an agent, and what an agent may ask of the user meanwhile.

Rules kept here:
- Nothing here depends on a protocol. Texts are the agent's own and not safe to show.
- A login is one call, from the choice of the way to the end. It may ask the user several times.
  Cancelling the call cancels the login.
"""

from collections.abc import Mapping, Sequence
from enum import Enum, auto
from typing import Protocol

from msgspec import Struct


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

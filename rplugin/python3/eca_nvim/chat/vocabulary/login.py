"""Login: the event that an agent wants one, the user's intents, and the ops of its terminal.

What a login asks is a question in a chat, so no intent here has a secret.
"""

from collections.abc import Mapping, Sequence

from eca_nvim.chat.vocabulary import bases
from eca_nvim.chat.vocabulary.effects import Prompt


class LoginNeeded(bases.AgentEvent, frozen=True):
    """An event: the agent refuses to work for a chat before the user has logged in.

    reason: one line. prompt: the one that it refused, if it was a prompt; it was not used.
    """

    chat: str
    reason: str
    prompt: Prompt | None = None


class ListLogins(bases.ChatIntent, frozen=True, tag="list_logins"):
    """Ask how the user can log in to the server of a chat; answered by the op `answer`.

    The answer is a list of tables of id, name, about and logged_in, or nil if a message says why
    there is none.
    """

    request: int


class LogIn(bases.ChatIntent, frozen=True, tag="log_in"):
    """Log in to the server of a chat by a way; None: ask there for the way."""

    way: str | None = None


class LogOut(bases.ChatIntent, frozen=True, tag="log_out"):
    """Log out of the server of a chat; `way`: of one that has several logins, by its id."""

    way: str | None = None


class TerminalEnded(bases.Intent, frozen=True, tag="login_ended"):
    """The terminal of a login ended.

    code: the exit code of its program; -1 if the user has closed the terminal before.
    """

    number: int
    code: int


class RunLogin(bases.ViewOp, frozen=True, tag="run_login"):
    """Run a login in a terminal, in a tab page; the intent `login_ended` has the number.

    The command comes from the agent: the user has seen it and agreed.
    environment: the whole environment of the program. folder: where it runs, absolute.
    """

    number: int
    title: str
    command: Sequence[str]
    environment: Mapping[str, str]
    folder: str


class EndLogin(bases.ViewOp, frozen=True, tag="end_login"):
    """End the terminal of a login, if it is still there."""

    number: int

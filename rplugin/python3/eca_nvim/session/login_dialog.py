"""Login dialog: asks the user in a chat what one login needs (`agents.abilities.LoginUser`).

Each question is one of the chat, so it waits in the float and takes no focus.
"""

import shlex
from collections.abc import Callable, Sequence
from typing import Final, NoReturn

import anyio
from msgspec import Struct, field

from eca_nvim.agents.abilities import AgentRefused, LoginCommand, LoginWay
from eca_nvim.chat.handlers.questions import withdraw_question
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.text.safe_text import literal, one_line, truncate
from eca_nvim.chat.vocabulary import agent_events, events, login
from eca_nvim.digests import new_id
from eca_nvim.session.chats import Chats, now
from eca_nvim.session.view import View

WHICH: Final = "How do you want to log in?"
RUN: Final = "Run this program in a terminal to log in?"
YES: Final = ("Run it", "in a tab page; its exit code says whether you are logged in")
NO: Final = ("Cancel", "run nothing")
IN_TERMINAL: Final = "The login runs in a terminal, in a tab page of its own"
UNSHOWN: Final = "the agent's program for this login cannot be shown as it is: it was not run"
NEEDS_USER: Final = "this login asks for something"
LONGEST_COMMAND: Final = 1000
"""Characters of a command that can be agreed to."""
LONGEST_TEXT: Final = 200
"""Cells of a name or description that are shown."""


class _Question(Struct):
    """A question that is open; `ways`: the ids of the ways it offers, in order."""

    id: str
    labels: Sequence[str]
    ways: Sequence[str] = ()
    answer: str = ""
    arrived: anyio.Event = field(default_factory=anyio.Event)


class LoginDialog:
    """The dialog of one login, in one chat; cancelling `scope` ends the login."""

    def __init__(
        self, chat: Chat, chats: Chats, view: View, work: Callable[[agent_events.WorkChanged], None]
    ) -> None:
        self.chat = chat
        self._id = new_id()
        self._work = work
        self._waits = False
        self.scope = anyio.CancelScope()
        self._chats = chats
        self._view = view
        self._asked: set[str] = set()  # the ids of all its questions
        self._open: _Question | None = None
        self._terminal: int | None = None
        self._code: int | None = None
        self._ended = anyio.Event()

    # --- what a login asks ------------------------------------------------------------------------

    async def choose_way(self, ways: Sequence[LoginWay], reason: str) -> str:
        """Ask for the way to log in; returns its id. `reason`: why it is asked."""
        offers = [(way.name, way.about) for way in ways]
        question = f"{reason}\n{WHICH}" if reason else WHICH
        return ways[await self._choose(question, offers, [way.id for way in ways])].id

    async def choose(self, question: str, offers: Sequence[tuple[str, str]]) -> int:
        """Let the user choose; returns the index."""
        return await self._choose(question, offers, ())

    async def _choose(
        self, question: str, offers: Sequence[tuple[str, str]], ways: Sequence[str]
    ) -> int:
        labels = _labels([name for name, _ in offers])
        options = tuple(
            (label, truncate(one_line(about), LONGEST_TEXT))
            for label, (_, about) in zip(labels, offers, strict=True)
        )
        opened = self._ask(question, options, ways)
        await opened.arrived.wait()
        return labels.index(opened.answer)

    async def type(self, question: str, *, secret: bool) -> str:
        """Let the user type an answer."""
        opened = self._ask(truncate(one_line(question), LONGEST_TEXT), (), secret=secret)
        await opened.arrived.wait()
        return opened.answer

    async def run(self, command: LoginCommand) -> int:
        """Run a program in a terminal once the user has agreed; returns its exit code.

        Raises AgentRefused.
        """
        shown = _shown(command)
        if await self.choose(f"{RUN}\n{shown}", (YES, NO)) != 0:
            self.cancel()
            await anyio.lowlevel.checkpoint()
        self._terminal = int(new_id()[:8], 16) >> 1
        title = truncate(one_line(command.title), LONGEST_TEXT)
        what = (command.command, command.environment, command.folder)
        self._view.push([login.RunLogin(self._terminal, title, *what)])
        self.wait(IN_TERMINAL)
        await self._ended.wait()
        assert self._code is not None
        return self._code

    def tell(self, text: str) -> None:
        """Show a text in the chat."""
        self._chats.apply(self.chat, [events.NoticeReceived(text)])

    def wait(self, text: str) -> None:
        """Show what the login waits for, in the chat and until the next step in the winbar.

        It is no question: the end of a turn would answer it.
        """
        self._close_question()
        line = truncate(one_line(text), LONGEST_TEXT)
        self.tell(f"{line}; :Eca stop in this chat cancels it.")
        self._show_work(line)

    # --- what happens -----------------------------------------------------------------------------

    def answered(self, question_id: str, text: str | None) -> bool:
        """Handle the answer to one of our questions; None cancels the login."""
        opened = self._open
        if opened is not None and opened.id == question_id:
            self._open = None
            if text is None or not (opened.labels == () or text in opened.labels):
                self.cancel()
            else:
                opened.answer = text
                opened.arrived.set()
        return question_id in self._asked

    def take_way(self, way: str) -> bool:
        """Answer the question for the way, if it is open and offers this one."""
        opened = self._open
        if opened is None or way not in opened.ways:
            return False
        label = opened.labels[opened.ways.index(way)]
        self._chats.show(withdraw_question(self.chat, opened.id, now(), label))
        return True

    def terminal_ended(self, number: int, code: int) -> None:
        """Note that the program has ended."""
        if number == self._terminal:
            self._code = code
            self._ended.set()

    def agent_ended(self) -> None:
        """Cancel the login because the agent has ended, unless a program runs for it."""
        if self._terminal is None:
            self.cancel()

    def cancel(self) -> None:
        """Cancel the login."""
        self.scope.cancel()

    def failed(self, fault: str) -> None:
        """End a try that failed, and say why."""
        self.close()
        self._chats.apply(self.chat, [events.NoticeReceived(fault, is_error=True)])

    def close(self) -> None:
        """End what is open: a question, a wait, the terminal."""
        self._close_question()
        if self._terminal is not None and self._code is None:
            self._view.push([login.EndLogin(self._terminal)])
        self._terminal, self._code, self._ended = None, None, anyio.Event()

    def _ask(
        self,
        question: str,
        options: tuple[tuple[str, str], ...],
        ways: Sequence[str] = (),
        *,
        secret: bool = False,
    ) -> _Question:
        """Ask a question instead of the one before; one without options is answered by a text."""
        self._close_question()
        labels = tuple(label for label, _ in options)
        opened = self._open = _Question(new_id(), labels, ways)
        self._asked.add(opened.id)
        asked = events.QuestionAsked(
            *(opened.id, question, options),
            allow_freeform=not options,
            by_agent=False,
            of_turn=False,
            secret=secret,
        )
        self._chats.apply(self.chat, [asked])
        return opened

    def _close_question(self) -> None:
        """End the step before: its question, or what it waited for."""
        opened, self._open = self._open, None
        if opened is not None:
            self._chats.show(withdraw_question(self.chat, opened.id, now()))
        self._show_work(None)

    def _show_work(self, text: str | None) -> None:
        """Show in the winbar what the login waits for; None: nothing any more."""
        if text is not None or self._waits:
            self._waits = text is not None
            self._work(agent_events.WorkChanged(self._id, text or "", done=text is None))


class QuietUser:
    """A user who is not asked (`agents.abilities.LoginUser`): a login that needs one is refused."""

    async def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise AgentRefused(NEEDS_USER)

    choose = type = run = _refuse

    def tell(self, text: str) -> None:
        """Show nothing."""

    wait = tell


def _labels(names: Sequence[str]) -> list[str]:
    """Return the names as they are shown, each of them different."""
    labels: list[str] = []
    for number, name in enumerate(names, 1):
        label = truncate(one_line(name), LONGEST_TEXT) or str(number)
        while label.casefold() in map(str.casefold, labels):
            label += f" ({number})"
        labels.append(label)
    return labels


def _shown(command: LoginCommand) -> str:
    """Return what will run as one line. Raises AgentRefused if a line cannot show it exactly."""
    added = [f"{name}={shlex.quote(value)}" for name, value in command.added.items()]
    line = " ".join((*added, shlex.join(command.command)))
    is_named = all(name.isidentifier() and name.isascii() for name in command.added)
    is_plain = "\n" not in line and literal(line) == line and len(line) <= LONGEST_COMMAND
    if not is_named or not is_plain:
        raise AgentRefused(UNSHOWN)
    return line

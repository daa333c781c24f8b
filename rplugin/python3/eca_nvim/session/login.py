"""Login: what needs a login of a server, and the one that runs."""

import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Final, TypeAlias

import anyio

from eca_nvim.agents.abilities import AgentRefused, LoginEnd
from eca_nvim.agents.base import AgentFault
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.text.safe_text import clean, one_line, truncate
from eca_nvim.chat.vocabulary import agent_events, effects, events, login, ops, states, turn_events
from eca_nvim.session.chats import Chats
from eca_nvim.session.login_dialog import LoginDialog, QuietUser
from eca_nvim.session.persistence import Persistence
from eca_nvim.session.server import HeldCalls, Server, ServerRequest, ServerState
from eca_nvim.session.view import View, isolated
from eca_nvim.session.wanted_logins import WantedLogins

AGAIN: Final = "the agent refuses the prompt although you have logged in"
BACK: Final = "your prompt is back in the input; :Eca login asks again"
ELSEWHERE: Final = "This prompt waits: a login for this server runs in another chat."
RUNS: Final = "a login for this server runs already: :Eca stop in its chat cancels it"
NO_WAYS: Final = "it offers no way to log in here: log in with its own program, then :Eca restart"
CANCELLED: Final = "The login was cancelled"
LOGGED_IN: Final = "You are logged in."
LOGGED_OUT: Final = "You are logged out."
LONGEST_LINE: Final = 500
"""Cells of what an agent says about a login."""
REPEAT_SECONDS: Final = 30.0
"""Time for a login that asks nothing; then the user is asked."""

Job: TypeAlias = Callable[[], Coroutine[None, None, None]]

log = logging.getLogger(__name__)


class Login:
    """The login of a server, by its name: one at a time, in one chat."""

    def __init__(
        self,
        name: str,
        chats: Chats,
        view: View,
        persistence: Persistence,
        wanted: WantedLogins,
        held: HeldCalls,
        process: Callable[[], Server],
        start: Callable[[Job], None],
        send_held: Callable[[str], None],
        open_again: Callable[[], None],
        work: Callable[[agent_events.WorkChanged], None],
    ) -> None:
        self._name = name
        self._chats = chats
        self._view = view
        self._persistence = persistence
        self._wanted = wanted
        self._held = held
        self._process = process
        self._start = start
        self._send_held = send_held
        self._open_again = open_again
        self._work = work
        self._dialog: LoginDialog | None = None
        self._waiting: set[str] = set()  # chats whose prompt is held until the login
        self._sent_again: dict[str, effects.Prompt] = {}  # by chat, prompts sent after a login
        self._may_repeat = True  # the saved way, since the agent has started

    @property
    def chat(self) -> Chat | None:
        """The chat in which a login runs; None: none does."""
        return None if self._dialog is None else self._dialog.chat

    @property
    def is_wanted(self) -> bool:
        """Whether the agent has asked for a login, and has not worked since."""
        return self._name in self._wanted

    # --- what the agent and the user want ---------------------------------------------------------

    def needed(self, event: login.LoginNeeded) -> None:
        """Hold the prompt that the agent has refused, and log in unless that runs already."""
        self._wanted.note(self._name, wanted=True)
        known = self._chats.table.get(event.chat)  # None: a saved chat that is not shown yet
        chat = known or next(iter(self._chats.of(self._name)), None)
        if chat is None:
            self._view.push([ops.Notify("warn", f"{_line(event.reason)}: :Eca login")])
            return
        if event.prompt is not None and known is not None:
            # A prompt is sent again once: refused again, it goes back to the input.
            again = self._sent_again.pop(chat.id, None) is event.prompt
            self._held.hold(event.prompt)
            self._waiting.add(chat.id)
            if again and self._dialog is None:
                self._give_back(chat, f"{_line(event.reason)} ({AGAIN}): {BACK}")
                return
        if self._dialog is None:
            self._begin(chat, None, _line(event.reason))
        elif event.prompt is not None and self._dialog.chat is not chat:
            self._chats.apply(chat, [events.NoticeReceived(ELSEWHERE)])

    def log_in(self, chat: Chat, way: str | None) -> None:
        """Log in because the user wants to; without a way they are asked for it."""
        if self._dialog is not None and way is not None and self._dialog.take_way(way):
            return
        if self._dialog is not None:
            self._view.push([ops.Notify("warn", RUNS)])
        else:
            self._begin(chat, way, "")

    async def log_out(self, way: str | None) -> str:
        """Log out; return in a line what the agent reports. Raises AgentRefused, AgentFault."""
        still = await (await self._process().ready()).logout(way)
        if self._persistence.kept("login", self._process().identity):
            self._persistence.keep("login", self._process().identity, "")
        self._wanted.note(self._name, wanted=not still)
        return _line(still or LOGGED_OUT)

    # --- what happens meanwhile -------------------------------------------------------------------

    def answered(self, question: str, text: str | None) -> bool:
        """Handle an answer to a question of a login; returns False if it is another question's."""
        return self._dialog is not None and self._dialog.answered(question, text)

    def terminal_ended(self, ended: login.TerminalEnded) -> None:
        """Handle the end of a program, which may be that of a login of another server."""
        if self._dialog is not None:
            self._dialog.terminal_ended(ended.number, ended.code)

    def cancel(self, chat_id: str) -> bool:
        """Cancel the login that runs in a chat; returns whether one did."""
        runs_here = self._dialog is not None and self._dialog.chat.id == chat_id
        if self._dialog is not None and runs_here:
            self._dialog.cancel()
        return runs_here

    def turn_ended(self, chat: Chat) -> None:
        """Note that the agent has answered a prompt, however the user has logged in."""
        is_answer = chat.turn.end is states.TurnEnd.DONE and not chat.turn.by_command
        if self.is_wanted and is_answer and not chat.deleted:
            self._wanted.note(self._name, wanted=False)

    def state_changed(self, state: ServerState) -> None:
        """Note that the agent has started again, or is gone: a login needs it, or a terminal."""
        if state is ServerState.STARTING:
            self._may_repeat = True
        elif state is not ServerState.READY and self._dialog is not None:
            self._dialog.agent_ended()

    # --- one login --------------------------------------------------------------------------------

    def _begin(self, chat: Chat, way: str | None, reason: str) -> None:
        dialog = self._dialog = LoginDialog(chat, self._chats, self._view, self._work)
        self._start(partial(self._run, dialog, way, reason))

    async def _run(self, dialog: LoginDialog, way: str | None, reason: str) -> None:
        """Log in, and send what waited for it or give it back."""
        end, fault = None, ""
        with isolated(self._view, "log in", self._name):
            try:
                with dialog.scope:
                    end = await self._log_in(dialog, way, reason)
            except (AgentRefused, AgentFault) as refused:
                fault = _line(str(refused))
        dialog.close()
        self._dialog = None
        if end is None:
            self._not_logged_in(dialog.chat, fault)
        else:
            self._logged_in(end)

    async def _log_in(self, dialog: LoginDialog, way: str | None, reason: str) -> LoginEnd:
        """Log in. Raises AgentRefused, and AgentFault if the agent does not start."""
        if way is None and await self._repeat():
            return LoginEnd.DONE
        while True:
            chosen = way or await self._ask(dialog, reason)
            try:
                end = await (await self._process().ready()).login(chosen, dialog)
            except AgentRefused as refused:
                if not self._waiting:
                    raise
                reason, way = _line(str(refused)), None
                dialog.failed(reason)
                await anyio.lowlevel.checkpoint()  # ends here if the agent has ended
            else:
                self._succeeded(dialog.chat, chosen, end)
                return end

    async def _ask(self, dialog: LoginDialog, reason: str) -> str:
        """Ask for the way to log in; returns its id. Raises AgentRefused if there is none."""
        ways = await (await self._process().ready()).login_ways()
        if not ways:
            raise AgentRefused(f"{reason}; {NO_WAYS}" if reason else NO_WAYS)
        return await dialog.choose_way(ways, reason)

    async def _repeat(self) -> bool:
        """Log in as it worked before, without a question; returns whether that worked."""
        saved = self._persistence.kept("login", self._process().identity)
        if not saved or not self._may_repeat:
            return False
        self._may_repeat = False
        agent = await self._process().ready()
        with anyio.move_on_after(REPEAT_SECONDS):
            try:
                await agent.login(saved, QuietUser())
            except AgentRefused as refused:
                log.info("the login that worked before was refused: %s", refused)
            else:
                return True
        return False

    def _succeeded(self, chat: Chat, chosen: str, end: LoginEnd) -> None:
        """Say so, save a way that can be repeated, and note which prompts are sent again."""
        if end is LoginEnd.REPEATABLE:
            self._may_repeat = False
            self._persistence.keep("login", self._process().identity, chosen)
        self._wanted.note(self._name, wanted=False)
        for held in self._held.calls:
            if held.prompt is not None and held.chat_id in self._waiting:
                self._sent_again[held.chat_id] = held.prompt
        self._chats.apply(chat, [events.NoticeReceived(LOGGED_IN)])

    def _logged_in(self, end: LoginEnd) -> None:
        """Send what waited for the login, now or once the agent has started again."""
        waiting, self._waiting = self._waiting, set()
        if end is LoginEnd.RESTART:
            self._process().request(ServerRequest.RESTART)
            return
        self._open_again()
        for chat_id in sorted(waiting):
            self._send_held(chat_id)

    def _not_logged_in(self, chat: Chat, fault: str) -> None:
        """Give back what waited for the login, and say how it ended; without a fault: cancelled."""
        if chat.id not in self._waiting and chat.id in self._chats.table:
            self._chats.apply(
                chat, [events.NoticeReceived(fault or CANCELLED, is_error=bool(fault))]
            )
        for chat_id in sorted(self._waiting):
            if (waiting := self._chats.table.get(chat_id)) is not None:
                self._give_back(waiting, f"{fault or CANCELLED}: {BACK}")
        self._waiting.clear()

    def _give_back(self, chat: Chat, line: str) -> None:
        """Put the held prompt of a chat into the input and end its turn, if it is still held."""
        self._waiting.discard(chat.id)
        if prompts := self._held.take_prompts(chat.id):
            self._view.push([ops.SetInput(chat.id, clean(prompt.text)) for prompt in prompts])
            self._chats.apply(chat, [turn_events.TurnEnded(states.TurnEnd.FAILED, line)])


def _line(text: str) -> str:
    """Put what an agent says on one line that is not too long."""
    return truncate(one_line(text), LONGEST_LINE)

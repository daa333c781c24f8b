"""Session: one conversation with the agent: the ways to open it, and its state.

Rules kept here:
- To go on, an agent resumes; if it cannot, it loads, and what it replays is shown already. Else the
  chat gets a new session. To show what was said, an agent loads.
- An agent that announces a method and does not know it counts as one that does not announce it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import Enum, auto
from typing import Final
from uuid import uuid4

import anyio

from eca_nvim.agents.acp.inbox import Inbox
from eca_nvim.agents.acp.prompt import PromptWriter
from eca_nvim.agents.acp.replay import Replay, is_said
from eca_nvim.agents.archive import AgentRefused
from eca_nvim.chat.vocabulary import agent_events, login, options
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import Addressed, NoticeReceived
from eca_nvim.protocol.acp import lifecycle, sessions, updates
from eca_nvim.transport import PendingRequest


class Way(Enum):
    """A request that opens a session."""

    NEW = auto()
    RESUME = auto()
    LOAD = auto()


class Ways:
    """The ways of one agent process."""

    def __init__(self) -> None:
        self._offered = {Way.NEW}

    def announced(self, can: lifecycle.AgentCapabilities) -> None:
        """Note what the agent says it can do."""
        if can.load_session:
            self._offered.add(Way.LOAD)
        if can.session_capabilities.resume is not None:
            self._offered.add(Way.RESUME)

    def absent(self, way: Way) -> None:
        """Note that the agent does not know the method."""
        self._offered.discard(way)

    def to_begin(self) -> list[Way]:
        """Return the way to a session that does not exist."""
        return [Way.NEW]

    def to_go_on(self) -> list[Way]:
        """Return the ways to a session whose text is shown, the best first."""
        return self._of(Way.RESUME, Way.LOAD, Way.NEW)

    def to_show(self) -> list[Way]:
        """Return the ways to a session whose text is wanted, the best first."""
        return self._of(Way.LOAD, Way.RESUME)

    def _of(self, *wanted: Way) -> list[Way]:
        return [way for way in wanted if way in self._offered]


QUIET_SECONDS: Final = 0.2
"""Seconds of silence after which an agent has said all that was said before."""


class SessionState(Enum):
    """NONE: there is no session, or the agent has refused to open it."""

    NONE = auto()
    OPENING = auto()
    OPEN = auto()
    FORGOTTEN = auto()


class Session:
    """The session of a chat; `chat_id` is ours, `id` the agent's, "" until it is known."""

    def __init__(self, chat_id: str, folder: str) -> None:
        self.chat_id = chat_id
        self.id = ""
        self.folder = folder
        self.inbox = Inbox(chat_id, folder, f"{uuid4().hex[:8]} ")
        self.prompts = PromptWriter()
        self.state = SessionState.NONE
        self.waiting: list[Then] = []
        self.ways: list[Way] = []
        """The ways to open it that are left to try."""
        self.way: Way | None = None
        """The way that is being tried."""
        self.asked: PendingRequest | None = None
        """The request that opens it."""
        self.is_slow = False
        """The user knows that it takes long to open it."""
        self.given_up: set[Way] = set()
        """Ways that the user has waited for in vain."""
        self.fault = ""
        """Why the agent refused to open it."""
        self.needs_login = False
        """The agent refused to open it because the user is not logged in."""
        self.is_replayed = False
        """It was opened again and got no prompt since: what it says was said before."""
        self.replay: Replay | None = None
        """What was said in it, if the view shall show that."""
        self.heard = 0
        """Updates that were replayed."""
        self.is_heard_out = anyio.Event()
        """Not set while it is being replayed."""
        self.is_heard_out.set()
        self.wants_text = False
        self.notices: list[NoticeReceived] = []
        """What the user must know once the text is shown."""
        self.copied: sessions.NewSessionResult | None = None
        """The answer that made it, if it is a copy."""
        self.next_prompt: Prompt | None = None
        """The prompt that waits until the session is open, and its options are set."""
        self.options_asked = 0
        """Requests to set an option that the agent has not answered; 1 more while it replays."""
        self.options_queued = deque[Callable[[], None]]()
        """What sends these requests, one after the other; that of the first was called."""
        self.options_set: Callable[[], None] | None = None
        """Called once it has answered all of them."""
        self.turn = 0
        """The number of the prompt sent last."""
        self.turn_runs = False
        self.is_stopping = False
        """The turn was cancelled and has not ended."""
        self.steers: list[Prompt] = []
        """Messages to the turn that the agent has not answered."""
        self.steers_answered: Callable[[], None] | None = None
        """Called once it has answered all of them."""

    @property
    def is_open(self) -> bool:
        """Whether the session can be prompted."""
        return self.state is SessionState.OPEN

    @property
    def is_forgotten(self) -> bool:
        """Whether its chat is gone: nothing of it is shown any more."""
        return self.state is SessionState.FORGOTTEN

    def wake(self, fault: str | None) -> None:
        """Call what waits for the session; `fault`: why it is not open."""
        waiting, self.waiting = self.waiting, []
        for then in waiting:
            then(self, fault)

    def option_answered(self) -> None:
        """Note that the agent has answered a request to set an option."""
        self.options_asked -= 1
        if self.options_asked == 0 and self.options_set is not None:
            then, self.options_set = self.options_set, None
            then()

    async def settled(self) -> None:
        """Wait until the session is open. Raises AgentRefused if it is not opened."""
        while self.state is SessionState.OPENING and self.asked is not None:
            await self.asked.settled()
        if not self.is_open:
            raise AgentRefused(self.fault)

    def answered(self) -> None:
        """Note that the agent has opened it again: `hear_out` is to be called."""
        self.is_heard_out = anyio.Event()
        self.options_asked += 1
        if self.replay is not None:
            self.replay.answered()

    async def hear_out(self) -> None:
        """Wait until the agent says no more of what was said before, and keep its text.

        Some agents go on with that after their answer (gemini 0.61.0).
        """
        heard, event = -1, self.is_heard_out
        try:
            while heard != self.heard:
                heard = self.heard
                await anyio.sleep(QUIET_SECONDS)
            if self.replay is not None:
                self.replay.finish()
                self.replay, self.is_replayed = None, False
        finally:
            event.set()
        self.option_answered()

    async def opens_within(self, seconds: float) -> bool:
        """Wait so long for the end of its opening; returns whether it has come."""
        with anyio.move_on_after(seconds), suppress(AgentRefused):
            await self.settled()
        return self.state is not SessionState.OPENING

    def take_notices(self) -> Sequence[NoticeReceived]:
        """Return what the user must know below the text, which is shown now."""
        notices, self.notices, self.wants_text = self.notices, [], False
        return notices

    def receive(
        self, update: updates.SessionUpdate, size: int
    ) -> Sequence[agent_events.AgentEvent]:
        """Read an update of `size` bytes; what is replayed gives no events.

        Options have no event until the session is open: only then all of them are known.
        """
        is_news = self.is_open and isinstance(update, updates.Notice)
        if not self.is_replayed or is_news or not is_said(update):
            events = self.inbox.receive(update)
            return events if self.is_open else [it for it in events if not _is_list(it)]
        self.heard += 1
        if self.replay is not None:
            self.replay.add(update, size)
        return ()


def _is_list(event: agent_events.AgentEvent) -> bool:
    return isinstance(event, Addressed) and isinstance(event.event, options.OptionsChanged)


def login_needed(chat_id: str, prompt: Prompt | None, reason: str) -> login.LoginNeeded:
    """Build the event for a request that was refused; `prompt`: if it was one or waited for it."""
    return login.LoginNeeded(chat_id, reason, prompt)


Then = Callable[[Session, str | None], None]
"""Called with a session once it is open, or with the reason why it is not."""

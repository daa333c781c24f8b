"""Session: one conversation with the agent, as the chat that shows it knows it."""

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import Enum, auto
from itertools import chain
from typing import Final

import anyio
from msgspec import Raw, Struct, field

from eca_nvim.agents.abilities import AgentRefused
from eca_nvim.agents.acp.inbox import Inbox
from eca_nvim.agents.acp.link import Link
from eca_nvim.agents.acp.memory import Replay, is_said
from eca_nvim.agents.acp.prompt import PromptWriter
from eca_nvim.agents.acp.setup import Way
from eca_nvim.agents.base import FileChanged
from eca_nvim.chat.vocabulary import events, login
from eca_nvim.chat.vocabulary.call_details import PartialWrite, ToolCall
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.options import OptionsChanged, OptionValue
from eca_nvim.digests import new_id
from eca_nvim.path_risks import real_path
from eca_nvim.protocol.acp.sessions import OpenedSession
from eca_nvim.protocol.acp.updates import Notice, SessionUpdate
from eca_nvim.transport import Incoming, PendingRequest

MOST_EARLY: Final = 50_000
"""Most early messages: some agents send all of a copied session before the answer."""
MOST_EARLY_BYTES: Final = 64 << 20
QUIET_SECONDS: Final = 0.2
"""Seconds of silence after which an agent has said all that was said before."""


class SessionState(Enum):
    """NONE: there is no session, or the agent has refused to open it."""

    NONE = auto()
    OPENING = auto()
    OPEN = auto()
    FORGOTTEN = auto()


class TurnState(Enum):
    """STOPPING: the turn was cancelled and has not ended."""

    NONE = auto()
    RUNNING = auto()
    STOPPING = auto()


class Setting(Struct, frozen=True):
    """A value that an option gets; `is_chosen`: see `Agent.set_option`."""

    option_id: str
    value: OptionValue
    is_chosen: bool


class Opening(Struct, eq=False):
    """An attempt to open a session, which tries one way after the other.

    ways: those that are left to try. way: the one that is tried. is_slow: the user knows that it
    takes long. fault: why it was refused. copied: the answer that made it, if it is a copy.
    """

    ways: list[Way] = field(default_factory=list)
    way: Way = Way.NEW
    request: PendingRequest | None = None
    is_slow: bool = False
    fault: str = "this agent cannot open saved chats"
    needs_login: bool = False
    copied: OpenedSession | None = None


class Past:
    """What was said in a session before it was opened again; the agent replays it.

    is_wanted: the view will show it; else it does so already, or never will.
    """

    def __init__(self) -> None:
        self.is_wanted = False
        self.is_told = False
        """What the agent says is the past: it was opened again, and got no prompt since."""
        self.replay: Replay | None = None
        """What it has told so far, if that is wanted."""
        self.count = 0
        """Updates that were replayed."""
        self.is_over = anyio.Event()
        """Not set from the answer until the agent has told all of it."""
        self.is_over.set()
        self.notices: list[events.NoticeReceived] = []
        """What the user must know once the text is shown."""

    def answered(self) -> None:
        """Note that the agent has opened the session: `hear_out` is to be called."""
        self.is_over = anyio.Event()
        if self.replay is not None:
            self.replay.answered()

    async def hear_out(self, then: Callable[[], None]) -> None:
        """Wait until the agent tells no more of it, keep its text, and call `then`."""
        count, is_over = -1, self.is_over
        try:
            # Some agents go on with it after their answer (gemini 0.61.0).
            while count != self.count:
                count = self.count
                await anyio.sleep(QUIET_SECONDS)
            if self.replay is not None:
                self.replay.finish()
                self.replay, self.is_told = None, False
        finally:
            is_over.set()
        then()

    def take_notices(self) -> Sequence[events.NoticeReceived]:
        """Return what the user must know below the text, which is shown now."""
        notices, self.notices, self.is_wanted = self.notices, [], False
        return notices


class Session:
    """The session of a chat; `chat_id` is ours, `id` the agent's, "" until it is known."""

    def __init__(self, chat_id: str, folder: str, link: Link) -> None:
        self.chat_id = chat_id
        self.folder = folder
        self.id = ""
        self.inbox = Inbox(folder, f"{new_id()[:8]} ")
        self.prompts = PromptWriter()
        self._link = link
        self.state = SessionState.NONE
        self.opening = Opening()
        self.given_up: set[Way] = set()
        """Ways to open it that the user has waited for in vain."""
        self.waiting: list[Then] = []
        self.past = Past()
        self.next_prompt: Prompt | None = None
        """The prompt that waits until the session is open, and its options are set."""
        self.when_set: Callable[[], None] | None = None
        """Called once no option is being set, and the past is over."""
        self.settings = deque[Setting]()
        """Options that are set one after the other; the agent has not answered the first."""
        self.turn = TurnState.NONE
        self.prompt_number = 0
        """The number of the prompt that was sent last."""
        self.steers: list[Prompt] = []
        """Messages to the turn that the agent has not answered."""
        self.when_steered: Callable[[], None] | None = None
        """Called once it has answered all of them."""
        self._partial: dict[
            str, PartialWrite
        ] = {}  # what was allowed and not written yet, by place

    @property
    def is_open(self) -> bool:
        """Whether the session can be prompted."""
        return self.state is SessionState.OPEN

    def say(self, *told: events.ChatEvent) -> None:
        """Emit events of the chat, unless it is gone."""
        if self.state is not SessionState.FORGOTTEN:
            self._link.say(self.chat_id, *told)

    def note(self, line: str) -> None:
        """Show a line in the chat, below its text."""
        if self.past.is_wanted:
            self.past.notices.append(events.NoticeReceived(line))
        else:
            self.say(events.NoticeReceived(line))

    def allow_in_part(self, shown: ToolCall | None, writes: Sequence[PartialWrite]) -> None:
        """Note what the files of a call are to hold, as the user has answered; () if all of it."""
        for change in (shown and shown.changes) or ():
            with suppress(ValueError):
                self._partial.pop(real_path(change.path), None)
        self._partial |= {it.place: it for it in writes}

    def allowed_text(self, place: str, old: str | None, new: str) -> str | None:
        """Return what of a new text of a file is to be written; None: nothing, there is no file.

        Raises FileChanged if the user has chosen from other texts.
        """
        write = self._partial.pop(place, None)
        if write is None:
            return new
        texts = (write.before or "", write.proposed or "")
        if (old or "", new) == texts:
            return write.allowed
        if (_plain(old or ""), _plain(new)) == tuple(map(_plain, texts)):  # the editor keeps CRLF
            return write.allowed if write.allowed is None else _plain(write.allowed)
        raise FileChanged(place)

    def wake(self, fault: str | None) -> None:
        """Call what waits for the session; `fault`: why it is not open."""
        waiting, self.waiting = self.waiting, []
        for then in waiting:
            then(self, fault)

    @property
    def is_set(self) -> bool:
        """Whether no option is being set, and the past is over: a prompt may be sent."""
        return not self.settings and self.past.is_over.is_set()

    def go_on(self) -> None:
        """Call what waits until the options are set, if they are."""
        if self.is_set and self.when_set is not None:
            then, self.when_set = self.when_set, None
            then()

    async def settled(self) -> None:
        """Wait until the session is open. Raises AgentRefused if it is not opened."""
        while self.state is SessionState.OPENING and self.opening.request is not None:
            await self.opening.request.settled()
        if not self.is_open:
            raise AgentRefused(self.opening.fault)

    async def opens_within(self, seconds: float) -> bool:
        """Wait so long for the end of its opening; returns whether it has come."""
        with anyio.move_on_after(seconds), suppress(AgentRefused):
            await self.settled()
        return self.state is not SessionState.OPENING

    def receive(self, update: SessionUpdate, size: int) -> Sequence[events.ChatEvent]:
        """Read an update of `size` bytes; what is replayed gives no events."""
        is_news = isinstance(update, Notice) and self.is_open
        if not self.past.is_told or is_news or not is_said(update):
            told = self.inbox.receive(update)
            # The answer that opens the session has the rest of the options.
            return told if self.is_open else [it for it in told if type(it) is not OptionsChanged]
        self.past.count += 1
        if self.past.replay is not None:
            self.past.replay.add(update, size)
        return ()

    def want_login(self, prompt: Prompt | None, reason: str) -> None:
        """Emit that a login is needed; `prompt`: the one that was refused, or waits for it."""
        if self.state is not SessionState.FORGOTTEN:
            self._link.emit(login.LoginNeeded(self.chat_id, reason, prompt))


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")


Then = Callable[[Session, str | None], None]
"""Called with a session once it is open, or with the reason why it is not."""


class EarlyMessages:
    """What an agent sends for sessions before the answers that make them, by its ids."""

    def __init__(self) -> None:
        self._kept: defaultdict[str, list[Incoming]] = defaultdict(list)
        self._count = 0
        self._bytes = 0

    def keep(self, session_id: str, message: Incoming) -> bool:
        """Keep a message; returns False if there is no room for it."""
        size = size_of(message)
        if self._count >= MOST_EARLY or self._bytes + size > MOST_EARLY_BYTES:
            return False
        self._kept[session_id].append(message)
        self._count += 1
        self._bytes += size
        return True

    def take(self, session_id: str) -> Sequence[Incoming]:
        """Remove and return the messages of a session, in order."""
        taken = self._kept.pop(session_id, [])
        self._count -= len(taken)
        self._bytes -= sum(map(size_of, taken))
        return taken

    def take_all(self) -> Sequence[Incoming]:
        """Remove and return all messages."""
        taken = [*chain.from_iterable(self._kept.values())]
        self._kept.clear()
        self._count = self._bytes = 0
        return taken


def size_of(message: Incoming) -> int:
    """Return the size of a message on the wire, in bytes."""
    return memoryview(message.params).nbytes if isinstance(message.params, Raw) else 0

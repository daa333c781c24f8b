"""Sessions: which session of the agent belongs to which chat.

Rules kept here:
- The session of a chat is made when the chat opens; what needs it waits (`when_open`).
- If the agent refuses to make it, what waits learns why. The next prompt tries again.
- A process knows nothing of the sessions of the processes before it; the chat says so.
- Agents send updates of a session before the answer that makes it: they are kept until then.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import Enum, auto
from functools import partial
from typing import Final
from uuid import uuid4

import anyio
from anyio.abc import TaskGroup

from eca_nvim.agents.acp.early_messages import EarlyMessages
from eca_nvim.agents.acp.faults import Faults
from eca_nvim.agents.acp.inbox import Inbox
from eca_nvim.agents.acp.prompt import PromptWriter
from eca_nvim.agents.acp.session_setup import SessionSetup
from eca_nvim.agents.base import Emit, Prompt
from eca_nvim.chat.vocabulary.agent_events import AgentEvent
from eca_nvim.chat.vocabulary.events import Addressed, NoticeReceived
from eca_nvim.protocol.acp import DecodeError, decode_result, encode
from eca_nvim.protocol.acp.sessions import CloseSessionParams, NewSessionParams, NewSessionResult
from eca_nvim.transport import (
    Connection,
    ConnectionClosed,
    Goodbye,
    Incoming,
    PendingRequest,
    RemoteError,
)

LOST: Final = "The agent has a new session for this chat: it does not know what was said before."
TAKEN: Final = "no session: the agent has given it to another chat; :Eca restart starts it again"
SLOW: Final = (
    "The agent has not made a session for this chat yet, still waiting: "
    ":Eca log may say why, :Eca restart starts it again"
)
SLOW_SECONDS: Final = 10.0
"""Seconds after which a session that is not made is reported as slow."""

logger = logging.getLogger(__name__)


class _State(Enum):
    """NONE: there is no session, or the agent has refused to make it."""

    NONE = auto()
    OPENING = auto()
    OPEN = auto()
    FORGOTTEN = auto()


class Session:
    """The session of a chat; `chat_id` is ours, `id` the agent's, "" until it is made."""

    def __init__(self, chat_id: str, folder: str) -> None:
        self.chat_id = chat_id
        self.id = ""
        self.folder = folder
        self.inbox = Inbox(chat_id, folder, f"{uuid4().hex[:8]} ")
        self.prompts = PromptWriter()
        self.state = _State.NONE
        self.waiting: list[Then] = []
        self.next_prompt: Prompt | None = None
        """The prompt that waits until the session is made."""
        self.turn = 0
        """The number of the prompt sent last."""
        self.turn_runs = False
        self.is_stopping = False
        """The turn was cancelled and has not ended."""

    @property
    def is_open(self) -> bool:
        """Whether the agent has made the session."""
        return self.state is _State.OPEN


Then = Callable[[Session, str | None], None]
"""Called with a session once it is open, or with the reason why it is not."""


class Sessions:
    """The sessions of one agent process.

    prompted: the chats that had a prompt, also in the processes before. receive: called with
    messages that came before their session's answer, once that is there.
    """

    def __init__(
        self,
        connection: Connection,
        tasks: TaskGroup,
        setup: SessionSetup,
        faults: Faults,
        prompted: set[str],
        emit: Emit,
        receive: Callable[[Sequence[Incoming]], None],
    ) -> None:
        self._connection = connection
        self._tasks = tasks
        self._setup = setup
        self._faults = faults
        self._prompted = prompted
        self._lost = set(prompted)
        self._emit = emit
        self._receive = receive
        self._by_chat: dict[str, Session] = {}
        self._by_id: dict[str, Session] = {}
        self._early = EarlyMessages()
        self.can_close = False

    def of_chat(self, chat_id: str) -> Session:
        """Return the session of a chat, which may not be open."""
        if chat_id not in self._by_chat:
            self._by_chat[chat_id] = Session(chat_id, self._setup.cwd)
        return self._by_chat[chat_id]

    def of_id(self, session_id: str) -> Session | None:
        """Return a session by the agent's id."""
        return self._by_id.get(session_id)

    def open_chat(self, chat_id: str) -> None:
        """Make the session of a chat unless that has begun; a refusal is shown in the chat."""
        self.when_open(chat_id, self._show_refusal)

    def when_open(self, chat_id: str, then: Then) -> None:
        """Call `then` once the chat's session is open or refused, now if it is open."""
        session = self.of_chat(chat_id)
        if session.is_open:
            then(session, None)
            return
        session.waiting.append(then)
        if session.state is not _State.OPENING:
            self._make(session)

    def was_prompted(self, session: Session) -> None:
        """Note that the agent knows something of a chat."""
        self._prompted.add(session.chat_id)

    def forget(self, chat_id: str) -> None:
        """Close the session of a chat that nobody uses any more."""
        self._prompted.discard(chat_id)
        self._lost.discard(chat_id)
        session = self._by_chat.pop(chat_id, None)
        if session is None:
            return
        was_open, session.state = session.is_open, _State.FORGOTTEN
        session.waiting.clear()
        if was_open:
            self._by_id.pop(session.id, None)
            self._close(session)

    def keep_early(self, session_id: str, message: Incoming) -> bool:
        """Keep a message of a session that is not known yet; returns whether it may become so."""
        return self._is_awaiting and self._early.keep(session_id, message)

    def close_all(self) -> None:
        """Close the open sessions because the agent is about to be ended."""
        for session in self._by_id.values():
            self._close(session)

    def goodbyes(self) -> Sequence[Goodbye]:
        """Return the messages that close the open sessions."""
        return [_closing(each.id) for each in self._by_id.values()] if self.can_close else []

    def _make(self, session: Session) -> None:
        session.state = _State.OPENING
        params = self._setup.new()
        on_answer = partial(self._answered, session)
        with suppress(ConnectionClosed):
            asked = self._connection.start_request(params.method, encode(params), on_answer)
            self._tasks.start_soon(self._report_slow, session, asked)

    async def _report_slow(self, session: Session, asked: PendingRequest) -> None:
        """Say in the chat that its session is not made yet, if that takes long."""
        with anyio.move_on_after(SLOW_SECONDS):
            await asked.settled()
            return
        if session.state is _State.OPENING:
            self._emit([Addressed(session.chat_id, NoticeReceived(SLOW))])

    def _answered(self, session: Session, pending: PendingRequest) -> None:
        try:
            made = decode_result(NewSessionParams, pending.answer())
        except (RemoteError, DecodeError) as fault:
            self._refused(session, self._faults.line("no session", fault))
        except ConnectionClosed:
            return
        else:
            self._made(session, made)
        self._read_unclaimed()

    def _made(self, session: Session, made: NewSessionResult) -> None:
        if made.session_id in self._by_id:  # else one chat would be asked about the other's calls
            self._refused(session, TAKEN)
            return
        session.id = made.session_id
        if session.state is _State.FORGOTTEN:
            self._close(session)
        else:
            self._opened(session, made)

    def _opened(self, session: Session, made: NewSessionResult) -> None:
        session.state = _State.OPEN
        self._by_id[session.id] = session
        self._emit_all(session.inbox.opened(made))
        if session.chat_id in self._lost:
            self._lost.discard(session.chat_id)
            self._emit([Addressed(session.chat_id, NoticeReceived(LOST))])
        self._receive(self._early.take(session.id))
        self._wake(session, None)

    def _read_unclaimed(self) -> None:
        """Read the early messages of sessions that will not be: a request needs its answer."""
        if not self._is_awaiting:
            self._receive(self._early.take_all())

    @property
    def _is_awaiting(self) -> bool:
        return any(it.state is _State.OPENING for it in self._by_chat.values())

    def _refused(self, session: Session, fault: str) -> None:
        if session.state is _State.OPENING:
            session.state = _State.NONE
            self._wake(session, fault)

    def _wake(self, session: Session, fault: str | None) -> None:
        waiting, session.waiting = session.waiting, []
        for then in waiting:
            then(session, fault)

    def _show_refusal(self, session: Session, fault: str | None) -> None:
        if fault is not None and session.next_prompt is None:  # else its turn ends with the reason
            self._emit([Addressed(session.chat_id, NoticeReceived(fault, is_error=True))])

    def _emit_all(self, events: Sequence[AgentEvent]) -> None:
        if events:
            self._emit(events)

    def _close(self, session: Session) -> None:
        """Close a session (session/close); nothing depends on the answer."""
        if self.can_close:
            closing = _closing(session.id)
            with suppress(ConnectionClosed):
                self._connection.start_request(closing.method, closing.params)


def _closing(session_id: str) -> Goodbye:
    params = CloseSessionParams(session_id=session_id)
    return Goodbye(params.method, encode(params), is_request=True)

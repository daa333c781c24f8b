"""Sessions: which session of the agent belongs to which chat.

Rules kept here:
- A new chat gets its session when it opens, a chat of an earlier process when that is started
  again. A chat that only `memory` knows waits for what needs it: its text, an option that the user
  sets, or its next prompt.
- What needs a session waits until it is open (`when_open`). If no way to open it is left, what
  waits learns why. The next prompt tries again.
- Nobody waits for ever: the user learns that it takes long, and a stop gives it up then. A load or
  a copy about which the agent says nothing is given up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from anyio.abc import TaskGroup

from eca_nvim.agents.acp.faults import Faults
from eca_nvim.agents.acp.memory import Memory
from eca_nvim.agents.acp.openings import Openings
from eca_nvim.agents.acp.session import Session, SessionState, Then, Way
from eca_nvim.agents.acp.session_setup import SessionSetup
from eca_nvim.agents.base import Emit
from eca_nvim.chat.vocabulary.events import Addressed, NoticeReceived
from eca_nvim.protocol.acp import encode
from eca_nvim.protocol.acp.lifecycle import AgentCapabilities
from eca_nvim.protocol.acp.sessions import CloseSessionParams
from eca_nvim.transport import Connection, ConnectionClosed, Goodbye, Incoming

SLOW: Final = (
    "The agent has not opened a session for this chat yet, still waiting: :Eca log may say why, "
    ":Eca stop after a prompt gives it up, :Eca restart starts the agent again"
)
SLOW_COPY: Final = (
    "The agent has not copied this chat yet, still waiting: :Eca log may say why, "
    ":Eca restart starts the agent again"
)
SLOW_SECONDS: Final = 10.0
"""Seconds after which a session that is not open is reported as slow."""
SILENT_SECONDS: Final = 60.0
"""Seconds without an update after which a load or a copy is given up."""
FORGOTTEN: Final = "the chat is gone"


class Sessions:
    """The sessions of one agent process; the arguments are those of `Openings`."""

    def __init__(
        self,
        connection: Connection,
        tasks: TaskGroup,
        setup: SessionSetup,
        faults: Faults,
        memory: Memory,
        emit: Emit,
        receive: Callable[[Sequence[Incoming]], None],
    ) -> None:
        self._connection = connection
        self._tasks = tasks
        self._setup = setup
        self._memory = memory
        self._emit = emit
        self._by_chat: dict[str, Session] = {}
        self._openings = Openings(
            connection, tasks, setup, faults, memory, emit, receive, self._close
        )
        self._can_close = False
        self.keep_early = self._openings.keep_early
        self.was_prompted = self._openings.bind
        self.was_refused = self._openings.unbind

    def introduced(self, can: AgentCapabilities, *, whole_prompts: bool = False) -> None:
        """Note what the agent can do, and how it replays prompts."""
        self._openings.whole_prompts = whole_prompts
        self._can_close = can.session_capabilities.close is not None
        self._openings.ways.announced(can)

    def of_chat(self, chat_id: str) -> Session:
        """Return the session of a chat, which may not be open."""
        if chat_id not in self._by_chat:
            self._by_chat[chat_id] = Session(chat_id, self._setup.cwd)
        return self._by_chat[chat_id]

    def has_chat(self, chat_id: str | None) -> bool:
        """Return whether a chat has a session here, and was not forgotten."""
        return chat_id in self._by_chat

    def of_id(self, session_id: str) -> Session | None:
        """Return a session by the agent's id."""
        return self._openings.by_id.get(session_id)

    def open_chat(self, chat_id: str, *, is_needed: bool = False) -> None:
        """Open the session of a chat unless that has begun; a refusal is shown in the chat.

        The options of an open session are listed again. is_needed: see `Agent.open_chat`.
        """
        session = self.of_chat(chat_id)
        is_kept = self._memory.session_of(chat_id) is not None
        waits = is_kept and not is_needed and chat_id not in self._memory.shown
        if session.is_open:
            self._emit(session.inbox.listed_options())
        elif session.state is SessionState.NONE and not waits:
            self.when_open(chat_id, self._show_refusal)

    def when_open(self, chat_id: str, then: Then) -> None:
        """Call `then` once the chat's session is open or refused, now if it is open."""
        session = self.of_chat(chat_id)
        if session.is_open:
            then(session, None)
            return
        session.waiting.append(then)
        self._open(session)

    def stop_waiting(self, session: Session) -> None:
        """Give up a session if a line has said that it takes long."""
        if session.state is SessionState.OPENING and session.is_slow:
            self._openings.give_up(session)

    async def opened(self, chat_id: str) -> Session:
        """Return the session of a chat once it is open. Raises AgentRefused."""
        session = self.of_chat(chat_id)
        self._open(session)
        await session.settled()
        return session

    async def load(self, chat_id: str) -> Session:
        """Open the session of a chat with what was said in it. Raises AgentRefused."""
        session = self.of_chat(chat_id)
        session.wants_text = session.wants_text or session.state is SessionState.NONE
        wanted_text = session.wants_text
        await self.opened(chat_id)
        if not wanted_text and self._can_load(session):
            session.state, session.wants_text = SessionState.NONE, True
            await self.opened(chat_id)
        await session.is_heard_out.wait()
        return session

    def _can_load(self, session: Session) -> bool:
        """Return whether a session that goes on without its text can be loaded with it."""
        goes_on = session.way is not Way.NEW and session.turn == 0
        has_text = bool(self._memory.replays.get(session.chat_id))
        return goes_on and not has_text and Way.LOAD in self._openings.ways.to_show()

    async def fork(self, chat_id: str) -> Session:
        """Copy the session of a chat, with what was said in it. Raises AgentRefused."""
        copy = self._openings.fork(await self.opened(chat_id))
        self._by_chat[copy.chat_id] = copy
        self._tasks.start_soon(self._watch, copy, Addressed(chat_id, NoticeReceived(SLOW_COPY)))
        try:
            await copy.settled()
            await copy.is_heard_out.wait()
        finally:
            if not copy.is_open:
                self._by_chat.pop(copy.chat_id, None)
        return copy

    def forget(self, chat_id: str) -> None:
        """Close the session of a chat that nobody uses any more."""
        self._memory.forget(chat_id)
        session = self._by_chat.pop(chat_id, None)
        if session is None:
            return
        was_open = session.is_open
        session.state, session.fault = SessionState.FORGOTTEN, FORGOTTEN
        session.waiting.clear()
        session.options_set = None
        if self._openings.by_id.get(session.id) is session:
            del self._openings.by_id[session.id]
        if was_open:
            self._close(session)

    def close_all(self) -> None:
        """Close the open sessions because the agent is about to be ended."""
        for session in self._openings.by_id.values():
            self._close(session)

    def goodbyes(self) -> Sequence[Goodbye]:
        """Return the messages that close the open sessions."""
        return [_closing(it) for it in self._openings.by_id] if self._can_close else []

    def _open(self, session: Session) -> None:
        if session.state is SessionState.NONE:
            self._openings.open(session)
            slow = Addressed(session.chat_id, NoticeReceived(SLOW))
            self._tasks.start_soon(self._watch, session, slow)

    async def _watch(self, session: Session, slow: Addressed) -> None:
        """Report a session that is not open yet after a while; give up what only shows text."""
        if await session.opens_within(SLOW_SECONDS):
            return
        session.is_slow = True
        self._emit([slow])
        while session.wants_text:
            heard = session.heard
            if await session.opens_within(SILENT_SECONDS):
                return
            if heard == session.heard:
                self._openings.give_up(session)

    def _show_refusal(self, session: Session, fault: str | None) -> None:
        if session.needs_login:  # which another event says
            return
        if fault is not None and session.next_prompt is None:  # else its turn ends with the reason
            self._emit([Addressed(session.chat_id, NoticeReceived(fault, is_error=True))])

    def _close(self, session: Session) -> None:
        """Close a session (session/close); nothing depends on the answer."""
        if self._can_close:
            closing = _closing(session.id)
            with suppress(ConnectionClosed):
                self._connection.start_request(closing.method, closing.params)


def _closing(session_id: str) -> Goodbye:
    params = CloseSessionParams(session_id=session_id)
    return Goodbye(params.method, encode(params), is_request=True)

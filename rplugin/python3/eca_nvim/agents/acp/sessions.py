"""Sessions: which session of the agent belongs to which chat, and how each is opened."""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from eca_nvim.agents.acp.link import GONE, Link, Refusal, needs_login
from eca_nvim.agents.acp.memory import Memory, Replay
from eca_nvim.agents.acp.session import EarlyMessages, Opening, Session, SessionState, Then
from eca_nvim.agents.acp.setup import SessionSetup, Way
from eca_nvim.chat.vocabulary.events import NoticeReceived
from eca_nvim.chat.vocabulary.previews import ASIDE
from eca_nvim.digests import new_id
from eca_nvim.jsonrpc import METHOD_NOT_FOUND, REQUEST_CANCELLED
from eca_nvim.protocol.acp import encode, lifecycle, sessions
from eca_nvim.transport import Goodbye, Incoming, RemoteError

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

LOST: Final = "The agent has a new session for this chat: it does not know what was said before."
TAKEN: Final = "no session: the agent has given it to another chat; :Eca restart starts it again"
RESTART: Final = "; nothing is lost, :Eca restart starts the agent again"
ELSEWHERE: Final = (
    "Another Neovim uses this chat, too (process {}): the agent gets the prompts of both, and "
    "each shows only its own answers."
)
FORGOTTEN: Final = "the chat is gone"

_FAILED: Final[Mapping[Way, str]] = {
    Way.NEW: "no session",
    Way.LOAD: "the chat could not be loaded",
    Way.RESUME: "the chat could not be resumed",
    Way.FORK: "the chat could not be copied",
}
_TO_GO_ON: Final = (Way.RESUME, Way.LOAD, Way.NEW)
"""The ways to a session whose text is shown, the best first: what a load replays is skipped."""
_TO_SHOW: Final = (Way.LOAD, Way.RESUME)
"""The ways to a session whose text is wanted."""

logger = logging.getLogger(__name__)


class Sessions:
    """The sessions of one agent process.

    memory: what is known of sessions beyond it. receive: called with messages that came before
    their session's answer, once that is there.
    """

    def __init__(
        self,
        link: Link,
        setup: SessionSetup,
        memory: Memory,
        receive: Callable[[Sequence[Incoming]], None],
    ) -> None:
        self._link = link
        self.setup = setup
        self.memory = memory
        self._receive = receive
        self.by_chat: dict[str, Session] = {}
        """By our ids, also those that are not open."""
        self.by_id: dict[str, Session] = {}
        """The sessions that are open or being opened, by the agent's ids."""
        self._early = EarlyMessages()
        self._ways = {Way.NEW, Way.FORK}
        self._can_close = False
        self._whole_prompts = False

    def introduced(self, can: lifecycle.AgentCapabilities, *, whole_prompts: bool = False) -> None:
        """Note what the agent can do; `whole_prompts`: as for `Replay`."""
        self._whole_prompts = whole_prompts
        self._can_close = can.session_capabilities.close is not None
        if can.load_session:
            self._ways.add(Way.LOAD)
        if can.session_capabilities.resume is not None:
            self._ways.add(Way.RESUME)

    def of_chat(self, chat_id: str) -> Session:
        """Return the session of a chat, which may not be open."""
        if chat_id not in self.by_chat:
            self.by_chat[chat_id] = Session(chat_id, self.setup.cwd, self._link)
        return self.by_chat[chat_id]

    def open_chat(self, chat_id: str, *, is_needed: bool = False) -> None:
        """Open the session of a chat unless that has begun; a refusal is shown in the chat.

        The options of an open session are listed again. is_needed: see `Agent.open_chat`.
        """
        session = self.of_chat(chat_id)
        # A chat that only the memory knows waits for what needs it: its text, an option that the
        # user sets, or its next prompt.
        is_kept = self.memory.session_of(chat_id) is not None
        waits = is_kept and not is_needed and chat_id not in self.memory.shown
        if session.is_open:
            session.say(session.inbox.options.changed)
        elif session.state is SessionState.NONE and not waits:
            self.when_open(chat_id, _show_refusal)

    def when_open(self, chat_id: str, then: Then) -> None:
        """Call `then` once the chat's session is open or refused, now if it is open."""
        session = self.of_chat(chat_id)
        if session.is_open:
            then(session, None)
        else:
            session.waiting.append(then)
            self._open(session)

    def give_up(self, chat_id: str) -> None:
        """Wait no more for a session if a line has said that it takes long."""
        session = self.of_chat(chat_id)
        if session.state is SessionState.OPENING and session.opening.is_slow:
            self._give_up(session)

    async def opened(self, chat_id: str) -> Session:
        """Return the session of a chat once it is open. Raises AgentRefused."""
        session = self.of_chat(chat_id)
        self._open(session)
        await session.settled()
        return session

    async def load(self, chat_id: str) -> Session:
        """Open the session of a chat with what was said in it. Raises AgentRefused."""
        session = self.of_chat(chat_id)
        past = session.past
        past.is_wanted = wanted = past.is_wanted or session.state is SessionState.NONE
        await self.opened(chat_id)
        goes_on = session.opening.way is not Way.NEW and session.prompt_number == 0
        has_text = bool(self.memory.replays.get(chat_id))
        if not wanted and goes_on and not has_text and Way.LOAD in self._ways:
            session.state, past.is_wanted = SessionState.NONE, True  # opened without its text
            await self.opened(chat_id)
        await past.is_over.wait()
        return session

    async def fork(self, chat_id: str) -> Session:
        """Copy the session of a chat, with what was said in it. Raises AgentRefused."""
        source = await self.opened(chat_id)
        copy = self.of_chat(new_id())
        copy.state, copy.past.is_wanted = SessionState.OPENING, True
        copy.opening = Opening([Way.FORK])
        self._try_next(copy, source.id)
        self._link.tasks.start_soon(self._watch, copy, chat_id, SLOW_COPY)
        try:
            await copy.settled()
            await copy.past.is_over.wait()
        finally:
            if not copy.is_open:
                self.by_chat.pop(copy.chat_id, None)
        return copy

    def forget(self, chat_id: str) -> None:
        """Close the session of a chat that nobody uses any more."""
        if not chat_id.startswith(ASIDE):  # the agent may keep that, and no list shall have it
            self.memory.forget(chat_id)
        session = self.by_chat.pop(chat_id, None)
        if session is not None:
            self.left(session)

    def left(self, session: Session) -> None:
        """Close a session that is no chat's any more."""
        was_open = session.is_open
        session.state, session.opening.fault = SessionState.FORGOTTEN, FORGOTTEN
        session.waiting.clear()
        session.when_set = None
        if self.by_id.get(session.id) is session:
            del self.by_id[session.id]
        if was_open:
            self._close(session.id)

    def close_all(self) -> None:
        """Close the open sessions because the agent is about to be ended."""
        for session_id in self.by_id:
            self._close(session_id)

    def goodbyes(self) -> Sequence[Goodbye]:
        """Return the messages that close the open sessions."""
        closing = map(sessions.CloseSessionParams, self.by_id if self._can_close else ())
        return [Goodbye(it.method, encode(it), is_request=True) for it in closing]

    def bind(self, session: Session, title: str = "") -> bool:
        """Keep which session a chat has, beyond this process; `title`: of a chat without one.

        Returns whether the chat had no session before.
        """
        is_new = self.memory.session_of(session.chat_id) is None
        self.memory.shown.add(session.chat_id)
        self.memory.prompted(session.chat_id)
        earlier = self.memory.titles.pop(session.chat_id, None)
        other = self.memory.kept.keep(session.chat_id, session.id, earlier or title)
        if other is not None:
            session.note(ELSEWHERE.format(other))
        return is_new and earlier is None

    def unbind(self, session: Session) -> None:
        """Forget which session a chat has if the agent refused the first prompt of a new one."""
        if session.opening.way is Way.NEW and session.prompt_number == 1:
            self.memory.forget(session.chat_id)

    def keep_early(self, session_id: str, message: Incoming) -> bool:
        """Keep a message of a session that is not known yet; returns whether it may become so.

        Some agents send updates of a session before the answer that makes it (copilot, vibe).
        """
        return self._is_opening and self._early.keep(session_id, message)

    @property
    def _is_opening(self) -> bool:
        return any(it.state is SessionState.OPENING for it in self.by_chat.values())

    # --- one way after the other ----------------------------------------------------------------

    def _open(self, session: Session) -> None:
        """Open a session that is not; what waits for it is called when that is decided."""
        if session.state is not SessionState.NONE:
            return
        known = self.memory.goes_on_in(session.chat_id)
        ways = [Way.NEW]
        if known is not None and session.past.is_wanted:
            ways = [way for way in _TO_SHOW if way in self._ways]
        elif known is not None:
            ways = [way for way in _TO_GO_ON if way in self._ways - session.given_up]
        session.state, session.id = SessionState.OPENING, known or ""
        session.opening = Opening(ways)
        self._try_next(session, session.id)
        self._link.tasks.start_soon(self._watch, session, session.chat_id, SLOW)

    async def _watch(self, session: Session, chat_id: str, line: str) -> None:
        """Report a session that is not open yet after a while; give up what only shows text."""
        if await session.opens_within(SLOW_SECONDS):
            return
        session.opening.is_slow = True
        self._link.say(chat_id, NoticeReceived(line))
        while session.past.is_wanted:
            count = session.past.count
            if await session.opens_within(SILENT_SECONDS):
                return
            if count == session.past.count:
                self._give_up(session)

    def _give_up(self, session: Session) -> None:
        """Wait no more for the answer that opens a session: the next way is tried.

        A prompt does not try the way again, as long as another one is left.
        """
        opening = session.opening
        if opening.way is not Way.NEW:
            session.given_up.add(opening.way)
        if opening.request is not None:
            opening.request.give_up()

    def _try_next(self, session: Session, session_id: str) -> None:
        """Ask the agent to open a session in the next way that is left.

        session_id: that to open or copy.
        """
        opening, past = session.opening, session.past
        if not opening.ways:
            self._refuse(session, opening.fault)
            return
        way = opening.way = opening.ways.pop(0)
        is_old = way in (Way.LOAD, Way.RESUME)
        if is_old and self.by_id.setdefault(session.id, session) is not session:
            self._refuse(session, TAKEN)
            return
        past.is_told = is_old
        past.replay = self._replay(session) if is_old and past.is_wanted else None
        opening.request = self._link.send(
            self.setup.request(way, session_id),
            partial(self._answered, session, way),
            partial(self._ended, session),
        )

    def _answered(
        self, session: Session, way: Way, answer: sessions.OpenedSession | Refusal
    ) -> None:
        made = answer.session_id if isinstance(answer, sessions.NewSessionResult) else session.id
        if session.state is not SessionState.OPENING:  # its chat is gone
            if isinstance(answer, sessions.OpenedSession) and made not in self.by_id:
                self._close(made)
        elif not isinstance(answer, sessions.OpenedSession):
            self._failed(session, way, answer)
        elif self.by_id.get(made, session) is not session:
            self._refuse(session, TAKEN)  # else one chat would be asked about the other's calls
        else:
            session.id = made
            if way is Way.FORK:
                self._copied(session, answer)
            else:
                self._opened(session, way, answer)
        if not self._is_opening:
            # No session will come for what is left; requests among it need their answers.
            self._receive(self._early.take_all())

    def _copied(self, copy: Session, made: sessions.OpenedSession) -> None:
        """Take a copy, and what the agent has replayed of it; else have it loaded."""
        self.by_id[copy.id] = copy
        copy.opening.copied = made
        copy.past.is_told, copy.past.replay = True, self._replay(copy)
        self._receive(self._early.take(copy.id))  # opencode replays a copy before its answer
        copy.past.replay.answered()
        if Way.LOAD in self._ways and not len(copy.past.replay):
            copy.opening.ways = [Way.LOAD]
            self._try_next(copy, copy.id)
        else:
            self._opened(copy, Way.LOAD, made)

    def _failed(self, session: Session, way: Way, fault: Refusal) -> None:
        """Try the next way, unless a login is needed first."""
        opening = session.opening
        if way is not Way.NEW and self.by_id.get(session.id) is session:
            del self.by_id[session.id]
        code = fault.code if isinstance(fault, RemoteError) else None
        if code == METHOD_NOT_FOUND and way is not Way.FORK:
            self._ways.discard(way)  # it is announced, and missing (qwen: session/resume)
        is_silent = code == REQUEST_CANCELLED
        opening.fault = self._link.line(_FAILED[way], fault) + (RESTART if is_silent else "")
        # A chat whose text is not shown gets a new session for a prompt alone: it could not be
        # loaded afterwards.
        may_begin = session.next_prompt is not None or session.chat_id in self.memory.shown
        logger.info("%s", opening.fault)
        if opening.copied is not None:
            self._opened(session, way, opening.copied)
        elif way is not Way.FORK and needs_login(fault):
            opening.needs_login = True
            prompt, session.next_prompt = session.next_prompt, None
            session.want_login(prompt, opening.fault)
            self._refuse(session, opening.fault)
        elif opening.ways == [Way.NEW] and not may_begin:
            self._refuse(session, opening.fault)
        else:
            self._try_next(session, session.id)

    def _replay(self, session: Session) -> Replay:
        return Replay(session.chat_id, self.setup.cwd, whole_prompts=self._whole_prompts)

    # --- how it ends ----------------------------------------------------------------------------

    def _opened(self, session: Session, way: Way, made: sessions.OpenedSession) -> None:
        past = session.past
        session.state = SessionState.OPEN
        self.by_id[session.id] = session
        session.say(session.inbox.options.opened(made))
        if way is not Way.NEW:
            self.bind(session)
            past.answered()
            if past.replay is not None:
                self.memory.replays[session.chat_id] = past.replay
            self._link.tasks.start_soon(past.hear_out, session.go_on)
        elif self.memory.goes_on_in(session.chat_id) is not None:
            session.note(LOST)
        self._receive(self._early.take(session.id))
        session.wake(None)

    def _refuse(self, session: Session, fault: str) -> None:
        """End an opening without a session; the next one may succeed."""
        session.past.replay, session.past.is_wanted = None, False
        session.state, session.opening.fault = SessionState.NONE, fault
        session.wake(fault)

    def _ended(self, session: Session) -> None:
        """Note that the agent has ended, which others say."""
        if session.state is SessionState.OPENING:
            session.state, session.opening.fault = SessionState.NONE, GONE

    def _close(self, session_id: str) -> None:
        """Close a session (session/close); nothing depends on the answer."""
        if self._can_close:
            self._link.send(sessions.CloseSessionParams(session_id=session_id), lambda _: None)


def _show_refusal(session: Session, fault: str | None) -> None:
    # Another event says that a login is needed, and a prompt's turn ends with the reason.
    if fault and not session.opening.needs_login and session.next_prompt is None:
        session.say(NoticeReceived(fault, is_error=True))

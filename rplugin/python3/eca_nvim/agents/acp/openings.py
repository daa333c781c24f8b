"""Openings: opens sessions, one way after the other until the agent accepts one.

Rules kept here:
- Memory is limited, by count and by size. To keep a message costs the same however
  many are kept.
- What an agent replays of a session that is opened again is no event, whichever way it is opened,
  and whether it comes before the answer or after it: it is kept (`Replay`), or skipped if the view
  has it already. The first prompt waits for its end.
- An agent that refuses a way gets asked in the next one. Only a login is needed first.
- A chat whose text is not shown gets a new session for a prompt alone: it could not be loaded then.
- Agents send updates of a session before the answer that makes it: they are kept until then.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Final, TypeAlias
from uuid import uuid4

from anyio.abc import TaskGroup
from msgspec import Raw

from eca_nvim.agents.acp.faults import Faults, needs_login
from eca_nvim.agents.acp.memory import Memory
from eca_nvim.agents.acp.replay import Replay
from eca_nvim.agents.acp.session import Session, SessionState, Way, Ways, login_needed
from eca_nvim.agents.acp.session_setup import SessionSetup
from eca_nvim.agents.base import Emit
from eca_nvim.chat.vocabulary.events import Addressed, NoticeReceived
from eca_nvim.jsonrpc import METHOD_NOT_FOUND, REQUEST_CANCELLED
from eca_nvim.protocol.acp import DecodeError, decode_result, encode, sessions
from eca_nvim.transport import Connection, ConnectionClosed, Incoming, PendingRequest, RemoteError

MOST_MESSAGES: Final = 50_000
"""Most messages: some agents send all of a copied session before the answer."""
MOST_BYTES: Final = 64 << 20


class EarlyMessages:
    """The early messages of all sessions, by the agent's ids."""

    def __init__(self) -> None:
        self._kept: defaultdict[str, list[Incoming]] = defaultdict(list)
        self._count = 0
        self._bytes = 0

    def keep(self, session_id: str, message: Incoming) -> bool:
        """Keep a message; returns False if there is no room for it."""
        size = size_of(message)
        if self._count >= MOST_MESSAGES or self._bytes + size > MOST_BYTES:
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


LOST: Final = "The agent has a new session for this chat: it does not know what was said before."
TAKEN: Final = "no session: the agent has given it to another chat; :Eca restart starts it again"
RESTART: Final = "; nothing is lost, :Eca restart starts the agent again"
GONE: Final = "the agent has ended"
CANNOT_OPEN: Final = "this agent cannot open saved chats"
ELSEWHERE: Final = (
    "Another Neovim uses this chat, too (process {}): the agent gets the prompts of both, and "
    "each shows only its own answers."
)

_FAILED: Final[Mapping[Way, str]] = {
    Way.NEW: "no session",
    Way.LOAD: "the chat could not be loaded",
    Way.RESUME: "the chat could not be resumed",
}

_Opening: TypeAlias = (
    sessions.NewSessionParams
    | sessions.LoadSessionParams
    | sessions.ResumeSessionParams
    | sessions.ForkSessionParams
)
_OnAnswer: TypeAlias = Callable[[PendingRequest], None]

logger = logging.getLogger(__name__)


class Openings:
    """Opens the sessions of one agent process.

    memory: what is known of sessions beyond this process. receive: called with messages that came
    before their session's answer, once that is there. close: called with a session that nobody
    wants any more.
    """

    def __init__(
        self,
        connection: Connection,
        tasks: TaskGroup,
        setup: SessionSetup,
        faults: Faults,
        memory: Memory,
        emit: Emit,
        receive: Callable[[Sequence[Incoming]], None],
        close: Callable[[Session], None],
    ) -> None:
        self._connection = connection
        self._tasks = tasks
        self._setup = setup
        self._faults = faults
        self._memory = memory
        self._emit = emit
        self._receive = receive
        self._close = close
        self._early = EarlyMessages()
        self._awaited: set[Session] = set()
        self.by_id: dict[str, Session] = {}
        """The sessions that are open or being opened, by the agent's ids."""
        self.ways = Ways()
        self.whole_prompts = False
        """As for `Replay`."""

    def open(self, session: Session) -> None:
        """Open a session that is not; what waits for it is called when that is decided."""
        known = self._memory.session_of(session.chat_id)
        session.state, session.fault = SessionState.OPENING, CANNOT_OPEN
        session.needs_login = session.is_slow = False
        session.id = known or ""
        if known is None:
            session.ways = self.ways.to_begin()
        elif session.wants_text:
            session.ways = self.ways.to_show()
        else:
            to_go_on = self.ways.to_go_on()
            session.ways = [way for way in to_go_on if way not in session.given_up]
        self._awaited.add(session)
        self._try_next(session)

    def give_up(self, session: Session) -> None:
        """Wait no more for the answer that opens a session: the next way is tried.

        A prompt does not try the way again, as long as another one is left.
        """
        if session.way not in (None, Way.NEW):
            session.given_up.add(session.way)
        if session.asked is not None:
            session.asked.give_up()

    def fork(self, source: Session) -> Session:
        """Copy an open session, with what was said in it."""
        copy = Session(str(uuid4()), self._setup.cwd)
        copy.state, copy.wants_text = SessionState.OPENING, True
        self._awaited.add(copy)
        self._ask(copy, self._setup.fork(source.id), partial(self._forked, copy))
        return copy

    def bind(self, session: Session, title: str = "") -> bool:
        """Keep which session a chat has, beyond this process; `title`: of a chat without one.

        Returns whether the chat had no session before.
        """
        is_new = self._memory.session_of(session.chat_id) is None
        self._memory.shown.add(session.chat_id)
        other = self._memory.kept.keep(session.chat_id, session.id, title)
        if other is not None:
            self._say(session, ELSEWHERE.format(other))
        return is_new

    def unbind(self, session: Session) -> None:
        """Forget which session a chat has if the agent refused the first prompt of a new one."""
        if session.way is Way.NEW and session.turn == 1:
            self._memory.forget(session.chat_id)

    def keep_early(self, session_id: str, message: Incoming) -> bool:
        """Keep a message of a session that is not known yet; returns whether it may become so."""
        return bool(self._awaited) and self._early.keep(session_id, message)

    # --- the requests ---------------------------------------------------------------------------

    def _ask(self, session: Session, params: _Opening, on_answer: _OnAnswer) -> None:
        try:
            session.asked = self._connection.start_request(params.method, encode(params), on_answer)
        except ConnectionClosed:
            self._ended(session)

    def _try_next(self, session: Session) -> None:
        """Ask the agent to open a session in the next way that is left."""
        if not session.ways:
            self._refuse(session, session.fault)
            return
        way = session.way = session.ways.pop(0)
        if way is not Way.NEW and self.by_id.setdefault(session.id, session) is not session:
            self._refuse(session, TAKEN)
            return
        session.is_replayed = way is not Way.NEW
        keeps = session.is_replayed and session.wants_text
        session.replay = self._replay(session) if keeps else None
        params = self._params(session, way)
        self._ask(session, params, partial(self._answered, session, way, params))

    def _params(
        self, session: Session, way: Way
    ) -> sessions.NewSessionParams | sessions.LoadSessionParams | sessions.ResumeSessionParams:
        match way:
            case Way.NEW:
                return self._setup.new()
            case Way.LOAD:
                return self._setup.load(session.id)
            case Way.RESUME:
                return self._setup.resume(session.id)

    # --- the answers ----------------------------------------------------------------------------

    def _answered(
        self,
        session: Session,
        way: Way,
        params: sessions.NewSessionParams
        | sessions.LoadSessionParams
        | sessions.ResumeSessionParams,
        pending: PendingRequest,
    ) -> None:
        try:
            made = _read(params, pending.answer())
        except (RemoteError, DecodeError) as fault:
            self._failed(session, way, fault)
        except ConnectionClosed:
            self._ended(session)
        else:
            self._made(session, way, made)
        self._read_unclaimed()

    def _made(
        self, session: Session, way: Way, made: sessions.OpenedSession | sessions.NewSessionResult
    ) -> None:
        if isinstance(made, sessions.NewSessionResult):
            # Else one chat would be asked about the other's calls.
            if self.by_id.get(made.session_id, session) is not session:
                self._refuse(session, TAKEN)
                return
            session.id = made.session_id
        if session.state is SessionState.OPENING:
            self._opened(session, way, made)
            return
        self._awaited.discard(session)
        if session.id not in self.by_id:  # else it is another chat's now
            self._close(session)

    def _forked(self, copy: Session, pending: PendingRequest) -> None:
        """Take a copy, and what the agent has replayed of it; else have it loaded."""
        try:
            made = decode_result(sessions.ForkSessionParams, pending.answer())
        except (RemoteError, DecodeError) as fault:
            self._refuse(copy, self._line("the chat could not be copied", fault))
        except ConnectionClosed:
            self._ended(copy)
        else:
            self._read_copy(copy, made)
        self._read_unclaimed()

    def _read_copy(self, copy: Session, made: sessions.NewSessionResult) -> None:
        if self.by_id.setdefault(made.session_id, copy) is not copy:
            self._refuse(copy, TAKEN)
            return
        copy.id, copy.copied = made.session_id, made
        copy.is_replayed, copy.replay = True, self._replay(copy)
        self._receive(self._early.take(copy.id))
        copy.replay.answered()
        copy.ways = [way for way in self.ways.to_show() if way is Way.LOAD]
        if copy.ways and not len(copy.replay):
            self._try_next(copy)
        else:
            self._opened(copy, Way.LOAD, made)

    def _failed(self, session: Session, way: Way, fault: RemoteError | DecodeError) -> None:
        """Try the next way, unless a login is needed first."""
        if way is not Way.NEW and self.by_id.get(session.id) is session:
            del self.by_id[session.id]
        code = fault.code if isinstance(fault, RemoteError) else None
        if code == METHOD_NOT_FOUND:
            self.ways.absent(way)
        session.fault = self._line(_FAILED[way], fault)
        logger.info("%s", session.fault)
        if session.state is not SessionState.OPENING:
            self._awaited.discard(session)
        elif session.copied is not None:
            self._opened(session, way, session.copied)
        elif needs_login(fault):
            self._want_login(session)
            self._refuse(session, session.fault)
        elif session.ways == [Way.NEW] and not self._may_begin(session):
            self._refuse(session, session.fault)
        else:
            self._try_next(session)

    def _line(self, failed: str, fault: RemoteError | DecodeError) -> str:
        """Return why there is no session, and what helps if the agent did not answer."""
        is_silent = isinstance(fault, RemoteError) and fault.code == REQUEST_CANCELLED
        return self._faults.line(failed, fault) + (RESTART if is_silent else "")

    def _may_begin(self, session: Session) -> bool:
        """Return whether a chat that cannot go on gets a new session."""
        return session.next_prompt is not None or session.chat_id in self._memory.shown

    def _want_login(self, session: Session) -> None:
        """Emit that a login is needed, with the prompt that waits for the session."""
        session.needs_login = True
        prompt, session.next_prompt = session.next_prompt, None
        self._emit([login_needed(session.chat_id, prompt, session.fault)])

    # --- how it ends ----------------------------------------------------------------------------

    def _opened(
        self, session: Session, way: Way, made: sessions.OpenedSession | sessions.NewSessionResult
    ) -> None:
        session.state = SessionState.OPEN
        self._awaited.discard(session)
        self.by_id[session.id] = session
        self._emit(session.inbox.opened(made))
        if way is not Way.NEW:
            self.bind(session)
            self._hear_out(session)
        elif self._memory.session_of(session.chat_id) is not None:
            self._say(session, LOST)
        session.copied = None
        self._receive(self._early.take(session.id))
        session.wake(None)

    def _replay(self, session: Session) -> Replay:
        return Replay(session.chat_id, self._setup.cwd, whole_prompts=self.whole_prompts)

    def _hear_out(self, session: Session) -> None:
        """Keep what the agent replays, also after its answer."""
        session.answered()
        if session.replay is not None:
            self._memory.replays[session.chat_id] = session.replay
        self._tasks.start_soon(session.hear_out)

    def _refuse(self, session: Session, fault: str) -> None:
        """End an opening without a session; the next one may succeed."""
        self._awaited.discard(session)
        session.replay = session.copied = None
        session.wants_text = False
        if session.state is SessionState.OPENING:
            session.state, session.fault = SessionState.NONE, fault
            session.wake(fault)

    def _ended(self, session: Session) -> None:
        """Note that the agent has ended, which others say."""
        self._awaited.discard(session)
        if session.state is SessionState.OPENING:
            session.state, session.fault = SessionState.NONE, GONE

    def _say(self, session: Session, line: str) -> None:
        """Show a line in the chat, below its text."""
        if session.wants_text:
            session.notices.append(NoticeReceived(line))
        else:
            self._emit([Addressed(session.chat_id, NoticeReceived(line))])

    def _read_unclaimed(self) -> None:
        """Read the early messages of sessions that will not be: a request needs its answer."""
        if not self._awaited:
            self._receive(self._early.take_all())


def _read(
    params: sessions.NewSessionParams | sessions.LoadSessionParams | sessions.ResumeSessionParams,
    answer: object,
) -> sessions.OpenedSession | sessions.NewSessionResult:
    """Read the answer that opens a session. Raises DecodeError."""
    if isinstance(params, sessions.NewSessionParams):
        return decode_result(sessions.NewSessionParams, answer)
    return decode_result(type(params), answer)

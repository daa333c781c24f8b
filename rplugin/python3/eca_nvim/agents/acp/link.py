"""Link: one agent process as all parts use it: requests and their answers, events, its errors."""

import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import repeat
from pathlib import PurePath
from typing import Final, TypeAlias, TypeVar

import anyio
from msgspec import Struct

from eca_nvim.agents.abilities import AgentRefused
from eca_nvim.agents.base import Emit
from eca_nvim.agents.process_agent import Tasks
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.vocabulary import agent_events, events
from eca_nvim.chat.vocabulary.options import AbilitiesChanged, Ability
from eca_nvim.jsonrpc import INTERNAL_ERROR, REQUEST_CANCELLED, MessageId
from eca_nvim.protocol.acp import DecodeError, Request, decode_result, encode
from eca_nvim.protocol.acp.lifecycle import AUTH_REQUIRED
from eca_nvim.protocol.base.types import Wire
from eca_nvim.spawn import program_name
from eca_nvim.transport import Connection, ConnectionClosed, PendingRequest, RemoteError

GONE: Final = "the agent has ended"
FAILED: Final = "the client failed to do it"

MOST_UNREAD: Final = 1 << 27
"""Bytes of answers that the agent has not read, above which it gets no further text."""
UNREAD: Final = "not done, you have not read the answers to your requests before"
EXCESS: Final = (
    "The agent sends more requests than can be kept, and further ones are refused: "
    ":Eca stop ends its turn, :Eca log has the first reason"
)

Refusal: TypeAlias = RemoteError | DecodeError
"""In place of a result: the agent answered by an error, or by something that cannot be read."""

ResultT = TypeVar("ResultT")

logger = logging.getLogger(__name__)


class NotDone(Exception):
    """Raised when something is not done for the agent; the text is one line for the model."""

    def __init__(self, reason: str, code: int = INTERNAL_ERROR) -> None:
        super().__init__(reason)
        self.code = code


class Program(Struct, frozen=True):
    """The program of an agent: its command line, whole environment and working folder."""

    command: Sequence[str]
    environment: Mapping[str, str] | None
    folder: str

    @property
    def name(self) -> str:
        """What users call it."""
        return PurePath(program_name(self.command)).name


class Link:
    """The way to one agent process, and from it to the chats."""

    def __init__(self, connection: Connection, tasks: Tasks, program: Program, emit: Emit) -> None:
        self.connection = connection
        self.tasks = tasks
        self.program = program
        self._emit = emit
        self._batch: list[agent_events.AgentEvent] | None = None
        self._has_excess = False
        self._take_back: dict[MessageId, Callable[[], None]] = {}
        """What to call if the agent cancels one of its requests, by their ids."""
        self.abilities: frozenset[Ability] = frozenset()
        """What the agent can do; none until that is announced."""

    # --- to the agent ---------------------------------------------------------------------------

    def send(
        self,
        params: Request[ResultT],
        then: Callable[[ResultT | Refusal], None],
        ended: Callable[[], None] | None = None,
    ) -> PendingRequest:
        """Queue a request.

        then: called with the result or the refusal, in order with the agent's other messages.
        ended: called instead if the agent has ended without an answer.
        """

        def answered(pending: PendingRequest) -> None:
            try:
                result: ResultT | Refusal = decode_result(type(params), pending.answer())
            except (RemoteError, DecodeError) as refusal:
                result = refusal
            except ConnectionClosed:
                if ended is not None:
                    ended()
                return
            then(result)

        return self.connection.start_request(params.method, encode(params), answered)

    async def ask(self, request: Request[ResultT], failed: str, seconds: float) -> ResultT:
        """Send a request and return its result. Raises AgentRefused, which says what `failed`."""
        try:
            with anyio.fail_after(seconds):
                answer = await self.connection.request(request.method, encode(request))
            return decode_result(type(request), answer)
        except TimeoutError:
            raise AgentRefused(f"{failed}: no answer after {seconds:.0f} s") from None
        except (RemoteError, DecodeError) as fault:
            raise AgentRefused(self.line(failed, fault)) from fault
        except ConnectionClosed as fault:
            raise AgentRefused(f"{failed}: {GONE}") from fault

    # --- answers to its requests ----------------------------------------------------------------

    @property
    def is_full(self) -> bool:
        """Whether the agent leaves so many answers unread that it gets no further text."""
        return self.connection.unread > MOST_UNREAD

    def on_cancel(self, request_id: MessageId, take_back: Callable[[], None]) -> None:
        """Call `take_back` if the agent cancels a request that has no answer yet."""
        self._take_back[request_id] = take_back

    def cancelled(self, request_id: MessageId) -> None:
        """Take back a request that the agent has cancelled ($/cancel_request)."""
        if (take_back := self._take_back.get(request_id)) is not None:
            take_back()

    def respond(self, request_id: MessageId, result: Wire) -> None:
        """Answer a request by a result. Raises NotOpen if it has its answer."""
        self._take_back.pop(request_id, None)
        self.connection.respond(request_id, encode(result))

    def refuse(self, request_id: MessageId, code: int, message: str) -> None:
        """Answer a request by an error; `message` is one line. Raises NotOpen."""
        self._take_back.pop(request_id, None)
        self.connection.respond_error(request_id, code, message)

    async def answer(self, request_id: MessageId, work: Awaitable[Wire]) -> None:
        """Answer a request by what `work` returns, whatever happens: the agent waits."""
        try:
            self.respond(request_id, await work)
        except NotDone as refused:
            self.refuse(request_id, refused.code, str(refused))
        except Exception:  # a bug of ours
            logger.exception("cannot answer request %s", request_id)
            self.refuse(request_id, INTERNAL_ERROR, FAILED)

    def refuse_cancelled(self, request_id: MessageId) -> None:
        """Answer a request that the agent has cancelled."""
        self.refuse(request_id, REQUEST_CANCELLED, "the request was cancelled")

    def refuse_excess(self, request_id: MessageId, reason: str) -> None:
        """Refuse a request that is too much; `reason` is one line for the model."""
        self.refuse(request_id, INTERNAL_ERROR, str(self.excess(reason)))

    def excess(self, reason: str) -> NotDone:
        """Return the refusal of what is too much."""
        if not self._has_excess:  # one line, once in the life of the agent
            self._has_excess = True
            logger.warning("the agent sends too many requests: %s", reason)
            self.emit(agent_events.MessageShown("warn", EXCESS))
        return NotDone(reason)

    # --- to the chats ---------------------------------------------------------------------------

    def emit(self, *told: agent_events.AgentEvent) -> None:
        """Emit events, those of one read together."""
        if self._batch is not None:
            self._batch += told
        elif told:
            self._emit(told)

    def say(self, chat_id: str | None, *told: events.ChatEvent) -> None:
        """Emit events of a chat."""
        self.emit(*map(events.Addressed, repeat(chat_id), told))

    def announce(self, abilities: Iterable[Ability]) -> None:
        """Announce all that the agent can do."""
        self.abilities = frozenset(abilities)
        self.emit(AbilitiesChanged(self.abilities))

    @contextmanager
    def one_batch(self) -> Iterator[None]:
        """Emit the events that come meanwhile together, at the end."""
        if self._batch is not None:
            yield
            return
        self._batch = []
        try:
            yield
        finally:
            batch, self._batch = self._batch, None
            self.emit(*batch)

    # --- errors ---------------------------------------------------------------------------------

    def line(self, failed: str, fault: Refusal) -> str:
        """Return what went wrong in one line; `failed` says which action did."""
        if isinstance(fault, DecodeError):
            unreadable = f"{self.program.name} sent an answer that cannot be read"
            return f"{failed}: {unreadable}: {one_line(str(fault))}"
        if needs_login(fault):
            return f"{self.program.name} needs a login: {one_line(words_of(fault))}"
        return f"{failed}: {one_line(words_of(fault))}"


def needs_login(fault: Exception) -> bool:
    """Return whether an agent refused something because the user is not logged in."""
    return isinstance(fault, RemoteError) and fault.code == AUTH_REQUIRED


def words_of(fault: RemoteError) -> str:
    """Return an error in the agent's words: its message, and what `data` adds to it."""
    details = ""
    match fault.data:
        case str():
            details = fault.data
        case Mapping():
            words = (fault.data.get(key) for key in ("details", "message", "error"))
            details = next((word for word in words if isinstance(word, str)), "")
    is_more = details and details not in fault.message
    return f"{fault.message}: {details}" if is_more else fault.message

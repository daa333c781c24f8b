"""Process agent: the life of an agent's process, and its messages, the same for each protocol.

One object stands for one process. Messages to one that has exited are dropped: that is reported.
"""

import logging
import subprocess
from abc import abstractmethod
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, ClassVar, Final, Generic, TypeVar, TypeVarTuple

import anyio
from anyio.abc import TaskGroup
from msgspec import Struct
from msgspec.structs import replace

from eca_nvim.agents.base import AGAIN, Agent, AgentExit, AgentFault, Emit, EndedEarly, Workspace
from eca_nvim.agents.path_map import MappedFraming, PathMap
from eca_nvim.agents.trace import Dialect, Trace
from eca_nvim.chat.text.safe_text import one_line, truncate
from eca_nvim.chat.vocabulary import contexts as ours
from eca_nvim.chat.vocabulary import events
from eca_nvim.chat.vocabulary.agent_events import AgentEvent, MessageShown
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.jsonrpc import (
    INTERNAL_ERROR,
    LANGUAGE_SERVER_CANCEL,
    CancelForm,
    ContentLengthFraming,
    Framing,
    MessageId,
    NotOpen,
    Request,
)
from eca_nvim.protocol.base.codec import decode_body
from eca_nvim.spawn import program_name
from eca_nvim.transport import (
    Connection,
    ConnectionClosed,
    Exit,
    Goodbye,
    Guard,
    Incoming,
    StartError,
    Tape,
    open_connection,
    telling_line,
)

_FAILED: Final = "the client failed to read the request"
"""The answer to a request that met a bug of ours."""

logger = logging.getLogger(__name__)


def events_of(
    message: Incoming,
    read: Callable[[Incoming], Sequence[AgentEvent]],
    refuse: Callable[[MessageId, int, str], None],
) -> Sequence[AgentEvent]:
    """Return the events of a message, or the line about the bug that it met.

    refuse: answers a request by an error; raises NotOpen if it has its answer.
    """
    try:
        return read(message)
    except Exception as fault:
        logger.exception("cannot read %s", message.method)
        if isinstance(message, Request):
            with suppress(NotOpen):  # it was answered before the bug; else the agent waits for it
                refuse(message.id, INTERNAL_ERROR, _FAILED)
        line = f"cannot read {one_line(message.method)}: {fault}; see :Eca log"
        return (MessageShown("error", line),)


_STDERR_LINES: Final = 20
_LONGEST: Final = 300
"""Cells of the line that says why a process has ended."""


class ProcessOptions(Struct, frozen=True):
    """How to run a process.

    environment: the whole environment; None for what every child process inherits. process: the
    process, if it runs already. guard: ends it if we are killed. see_off: lets a process that was
    asked to exit outlive us for that; returns whether it can. on_stderr: called with each line of
    its standard error; default: the log. paths: where it finds our folders, if it runs elsewhere.
    """

    command: Sequence[str]
    environment: Mapping[str, str] | None = None
    process: subprocess.Popen[bytes] | None = None
    guard: Guard | None = None
    see_off: Callable[[], bool] | None = None
    on_stderr: Callable[[str], None] | None = None
    paths: PathMap | None = None


_ArgumentsT = TypeVarTuple("_ArgumentsT")


class Tasks:
    """What is done for an agent while its process runs; nothing begins once that has ended.

    What is asked for then, before the chats have heard of the end, ends with it.
    """

    def __init__(self, group: TaskGroup) -> None:
        self._group = group
        self._is_over = False

    def start_soon(
        self,
        work: Callable[[*_ArgumentsT], Coroutine[Any, Any, object]],
        *arguments: *_ArgumentsT,
    ) -> None:
        """Begin to do something."""
        if not self._is_over:
            self._group.start_soon(work, *arguments)

    def end(self) -> None:
        """Cancel all that is done."""
        self._is_over = True
        self._group.cancel_scope.cancel()


LifeT = TypeVar("LifeT")
"""The parts of an agent that share one connection."""


class ProcessAgent(Agent, Generic[LifeT]):
    """An agent that is a process; `NOUN` is what users call it, `KIND` what it should be.

    `SENDS_IMAGES`: it sends what an image file has, not only its path.
    """

    NOUN: ClassVar[str]
    KIND: ClassVar[str]
    SENDS_IMAGES: ClassVar[bool] = False
    DIALECT: ClassVar[Dialect] = Dialect(ContentLengthFraming, "c2s", "s2c")

    def __init__(self, options: ProcessOptions, workspace: Workspace) -> None:
        self._process = options
        self._workspace = workspace
        self._connection: Connection | None = None
        self._life: LifeT | None = None
        self._emit: Emit | None = None
        self._leaving = False
        self._tape = Tape()

    @abstractmethod
    def _receive(self, batch: list[Incoming]) -> None:
        """Read the messages of one read."""

    def _open(
        self,
        folder: str | None,
        on_stderr: Callable[[str], None] | None,
        cancel: CancelForm = LANGUAGE_SERVER_CANCEL,
    ) -> AbstractAsyncContextManager[Connection]:
        """Start the process in a folder."""
        return open_connection(
            self._process.command,
            self._receive,
            env=self._process.environment,
            cwd=folder,
            process=self._process.process,
            decode=decode_body,
            framing=self._framing(),
            cancel=cancel,
            guard=self._process.guard,
            on_stderr=on_stderr,
            tape=self._tape,
        )

    @abstractmethod
    def _connect(self) -> AbstractAsyncContextManager[Connection]:
        """Start the process."""

    @abstractmethod
    def _begin(self, connection: Connection, tasks: Tasks, emit: Emit) -> LifeT:
        """Make the parts that share the connection."""

    @abstractmethod
    async def _start(self, life: LifeT, tasks: Tasks, ready: Callable[[], None]) -> None:
        """Initialize the process; then, or later in `tasks`, call `ready`.

        Raises AgentFault and ConnectionClosed.
        """

    @abstractmethod
    def _goodbyes(self, life: LifeT) -> Sequence[Goodbye]:
        """Return the messages that ask the process to exit."""

    async def run(self, emit: Emit, ready: Callable[[], None]) -> AgentExit:
        """Start the process, initialize it, call `ready`, and emit events until it ends.

        Raises AgentFault.
        """
        self._emit = emit
        try:
            async with self._connect() as connection, anyio.create_task_group() as group:
                self._connection, tasks = connection, Tasks(group)
                self._life = self._begin(connection, tasks, emit)
                outcome = await self._live(connection, tasks, ready)
                tasks.end()
        except StartError as fault:
            raise AgentFault(str(fault)) from fault
        if isinstance(outcome, AgentFault):
            raise outcome
        return self._exit(outcome)

    def kill(self) -> None:
        """End the process and its group at once, without the event loop."""
        if self._connection is not None:
            self._connection.kill_now()

    def leave(self) -> None:
        """Ask the process to exit while our own ends; kill it if it cannot outlive us."""
        if self._connection is not None:
            self._connection.send_now(self._goodbyes(self._running))
            if self._process.see_off is None or not self._process.see_off():
                self._connection.kill_now()

    @property
    def last_words(self) -> str:
        """The last line that the process wrote to standard error."""
        return "" if self._connection is None else self._connection.last_stderr

    @property
    def trace(self) -> Trace:
        """What went over the connection."""
        return Trace(self._tape, self.DIALECT, self._chat_of)

    def _framing(self) -> Framing:
        """Return how messages are framed, and what maps their paths."""
        framing, paths = self.DIALECT.framing(), self._process.paths
        return framing if paths is None else MappedFraming(framing, paths)

    def _covered_prompt(self, prompt: Prompt) -> Prompt:
        """Return a prompt with what an agent elsewhere can find of it."""
        return replace(prompt, contexts=self._covered(prompt.chat_id, prompt.contexts))

    def _covered(self, chat_id: str, contexts: Sequence[ours.Context]) -> tuple[ours.Context, ...]:
        """Return the contexts that an agent elsewhere can find; a line names each other one."""
        paths, kept = self._process.paths, list[ours.Context]()
        for it in contexts:
            path = getattr(it, "path", None)
            is_sent = self.SENDS_IMAGES and isinstance(it, ours.ImageContext)
            if paths is None or path is None or is_sent or paths.covers(path):
                kept.append(it)
            elif self._emit is not None and not isinstance(it, ours.CursorContext):
                line = events.NoticeReceived(f"not sent: {one_line(paths.refusal(path))}")
                self._emit([events.Addressed(chat_id, line)])
        return tuple(kept)

    def _not_covered(self, folder: str) -> str | None:
        """Return what there is to say if an agent elsewhere does not find a folder."""
        paths = self._process.paths
        is_found = paths is None or paths.covers(folder)
        return None if is_found or paths is None else f"has no folder in {paths.option} for"

    def _chat_of(self, wire_id: str) -> str | None:
        """Return our id of the chat that the process knows by an id, None if there is none."""
        return wire_id

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended: `run` is about to return."""
        return self._connection is not None and self._connection.exit is not None

    @property
    def _running(self) -> LifeT:
        if self._life is None:
            raise RuntimeError(f"the {self.NOUN} is not running yet")
        return self._life

    async def _live(
        self, connection: Connection, tasks: Tasks, ready: Callable[[], None]
    ) -> Exit | AgentFault:
        """Return the exit or the start's fault, because a task group would wrap an exception."""
        try:
            await self._start(self._running, tasks, ready)
        except AgentFault as fault:
            return fault
        except ConnectionClosed as closed:
            return closed.exit if self._leaving else self._ended_early(closed.exit)
        return await connection.wait_closed()

    def _ended_early(self, ending: Exit) -> EndedEarly:
        line = one_line(telling_line(ending.stderr_tail))
        message = f": {line}" if line else ""
        return EndedEarly(str(self._fault(f"ended before it could be used, {ending}{message}")))

    def _fault(self, what: str) -> AgentFault:
        program = program_name(self._process.command)
        return AgentFault(f"{program} {what}; is it {self.KIND}? See :Eca log")

    def _exit(self, ending: Exit) -> AgentExit:
        reason = f"the {self.NOUN} was stopped, {ending}"
        if not self._leaving:
            reason = f"the {self.NOUN} ended, {ending}: {AGAIN}"
            if last := one_line(telling_line(ending.stderr_tail)):
                reason += f"\nIt wrote: {truncate(last, _LONGEST)}"
        return AgentExit(
            reason=reason,
            code=ending.code,
            expected=self._leaving,
            stderr_tail=ending.stderr_tail[-_STDERR_LINES:],
        )

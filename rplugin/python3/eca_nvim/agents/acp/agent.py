"""An ACP agent as an agent: its life cycle, from initialize to the exit.

Rules kept here:
- One object stands for one process; a restart creates a new one.
- `sessions` has the session of each chat, whose `inbox` reads what it sends; `requests` answers the
  agent's requests, `outbox` sends what the user does. This file manages the connection they share.
- Messages to an agent that has exited are dropped: the exit has been reported already.
"""

from __future__ import annotations

import logging
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import PurePath
from typing import Final, NoReturn

import anyio
from anyio.abc import TaskGroup
from msgspec import Struct, field

from eca_nvim.agents.acp.faults import Faults, one_line
from eca_nvim.agents.acp.introduction import introduction
from eca_nvim.agents.acp.option_requests import OptionRequests
from eca_nvim.agents.acp.outbox import Outbox
from eca_nvim.agents.acp.requests import AgentRequests
from eca_nvim.agents.acp.sessions import Sessions
from eca_nvim.agents.archive import AgentLacks
from eca_nvim.agents.base import (
    Agent,
    AgentExit,
    AgentFault,
    Emit,
    Prompt,
    Workspace,
)
from eca_nvim.agents.codec import RawCodec
from eca_nvim.chat.vocabulary.abilities import AbilitiesChanged
from eca_nvim.chat.vocabulary.agent_events import AgentEvent, MessageShown
from eca_nvim.jsonrpc import CancelForm, LineFraming, Notification, Request
from eca_nvim.protocol.acp import (
    DecodeError,
    Unknown,
    decode_notification,
    decode_result,
    encode,
)
from eca_nvim.protocol.acp.lifecycle import (
    VERSION,
    CancelRequest,
    Implementation,
    InitializeParams,
    InitializeResult,
)
from eca_nvim.protocol.acp.updates import SessionUpdated
from eca_nvim.transport import (
    Connection,
    ConnectionClosed,
    Exit,
    Guard,
    Incoming,
    RemoteError,
    StartError,
    open_connection,
)

INTRODUCTION_SECONDS: Final = 60.0
"""Time for an agent to respond to initialize."""

EXIT_SECONDS: Final = 0.5
"""Time for an agent to exit after the end of its input: agents save their sessions then."""

_CANCEL: Final = CancelForm(CancelRequest.method, "requestId")
_STDERR_LINES: Final = 20

logger = logging.getLogger(__name__)


class AcpOptions(Struct, frozen=True):
    """How to run an agent.

    environment: the whole environment; None for what every child process inherits. process: the
    agent, if it runs already. guard: ends the agent if we are killed. see_off: lets an agent that
    was asked to exit outlive us for that; returns whether it can. on_stderr: called with each line
    of its standard error; default: the log. prompted: our ids of the chats that had a prompt, also
    those of the processes before this one.
    """

    command: Sequence[str]
    environment: Mapping[str, str] | None = None
    process: subprocess.Popen[bytes] | None = None
    guard: Guard | None = None
    see_off: Callable[[], bool] | None = None
    on_stderr: Callable[[str], None] | None = None
    prompted: set[str] = field(default_factory=set)


class _Life:
    """The parts of an agent that share one connection."""

    def __init__(
        self,
        connection: Connection,
        tasks: TaskGroup,
        cwd: str,
        faults: Faults,
        prompted: set[str],
        emit: Emit,
    ) -> None:
        self.connection = connection
        self.faults = faults
        self.sessions = Sessions(connection, tasks, cwd, faults, prompted, emit, self.receive)
        self.requests = AgentRequests(connection, self.sessions)
        self.outbox = Outbox(connection, self.sessions, self.requests, self.faults, emit)
        self.options = OptionRequests(connection, self.sessions, self.faults, emit)
        self.title = ""
        self._emit = emit

    def introduced(self, result: InitializeResult) -> None:
        """Note what the agent can do."""
        can = result.agent_capabilities
        self.faults.auth_methods = result.auth_methods
        self.title = _title(result.agent_info)
        self.sessions.can_close = can.session_capabilities.close is not None
        self.outbox.can_prompt = can.prompt_capabilities

    def receive(self, batch: Sequence[Incoming]) -> None:
        """Emit the events of one read, as one batch."""
        events: list[AgentEvent] = []
        for message in batch:
            try:
                events += self._read(message)
            except Exception as fault:  # a bug of ours; go on with the next message
                logger.exception("cannot read %s", message.method)
                line = f"cannot read {one_line(message.method)}: {fault}; see :Eca log"
                events.append(MessageShown("error", line))
                if isinstance(message, Request):
                    self.requests.fail(message.id)
        if events:
            self._emit(events)

    def _read(self, message: Incoming) -> Sequence[AgentEvent]:
        if isinstance(message, Request):
            return self.requests.start(message)
        try:
            received = decode_notification(message.method, message.params)
        except (DecodeError, RecursionError) as fault:
            logger.warning("skipped a notification: %s", fault)
            return ()
        match received:
            case SessionUpdated():
                return self._update(received, message)
            case CancelRequest(request_id):
                return self.requests.withdraw(request_id)
            case Unknown(method):
                logger.debug("skipped %s: it is not known here", method)
                return ()

    def _update(self, updated: SessionUpdated, message: Notification) -> Sequence[AgentEvent]:
        session = self.sessions.of_id(updated.session_id)
        if session is not None:
            return session.inbox.receive(updated.update)
        if not self.sessions.keep_early(updated.session_id, message):
            logger.debug("skipped an update of an unknown session")
        return ()


class AcpAgent(Agent):
    """An agent that speaks the Agent Client Protocol."""

    def __init__(self, options: AcpOptions, workspace: Workspace) -> None:
        self._options = options
        self._workspace = workspace
        self._life: _Life | None = None
        self._leaving = False

    async def run(self, emit: Emit, ready: Callable[[], None]) -> AgentExit:
        """Start the agent, initialize it, call `ready`, and emit events until it ends.

        Raises AgentFault.
        """
        try:
            async with self._connect() as connection, anyio.create_task_group() as tasks:
                self._life = self._begin(connection, tasks, emit)
                outcome = await self._live(self._life, emit, ready)
                tasks.cancel_scope.cancel()
        except StartError as fault:
            raise AgentFault(str(fault)) from fault
        if isinstance(outcome, AgentFault):
            raise outcome
        return _agent_exit(outcome, expected=self._leaving)

    async def close(self) -> None:
        """Close the sessions and end the agent by its input's end, then by the close ladder."""
        self._leaving = True
        if self._life is not None:
            self._life.sessions.close_all()
            await self._life.connection.aclose(EXIT_SECONDS)

    def kill(self) -> None:
        """End the agent and its group at once, without the event loop."""
        if self._life is not None:
            self._life.connection.kill_now()

    def leave(self) -> None:
        """Close the sessions while our process ends; the end of input asks the agent to exit.

        Kill it if it cannot outlive us.
        """
        if self._life is not None:
            self._life.connection.send_now(self._life.sessions.goodbyes())
            if self._options.see_off is None or not self._options.see_off():
                self._life.connection.kill_now()

    def open_chat(self, chat_id: str) -> None:
        """Make the session of a chat."""
        self._running.sessions.open_chat(chat_id)

    def forget(self, chat_id: str) -> None:
        """Close the session of a chat."""
        self._running.sessions.forget(chat_id)

    def prompt(self, prompt: Prompt) -> None:
        """Send a prompt; TurnBegan and TurnEnded follow."""
        self._running.outbox.prompt(prompt)

    def stop(self, chat_id: str) -> None:
        """Ask the agent to stop the running turn, and answer its requests."""
        self._running.outbox.stop(chat_id)

    def decide(self, chat_id: str, call_id: str, choice_id: str | None) -> None:
        """Answer the request of a waiting tool call."""
        self._running.outbox.decide(chat_id, call_id, choice_id)

    def set_option(self, chat_id: str, option_id: str, value: str | bool) -> None:
        """Set an option of a chat; OptionsChanged or OptionRefused follows."""
        self._running.options.set(chat_id, option_id, value)

    @property
    def title(self) -> str:
        """What the agent calls itself, with its version."""
        return "" if self._life is None else self._life.title

    @property
    def last_words(self) -> str:
        """The last line that the agent wrote to standard error."""
        return "" if self._life is None else self._life.connection.last_stderr

    @property
    def archive(self) -> NoReturn:
        """Raise AgentLacks: what agents save is not read yet."""
        raise AgentLacks("saved chats of this agent cannot be listed or changed yet")

    @property
    def _running(self) -> _Life:
        if self._life is None:
            raise RuntimeError("the agent is not running yet")
        return self._life

    @property
    def _program(self) -> str:
        return PurePath(self._options.command[0]).name

    @property
    def _cwd(self) -> str:
        return next(iter(self._workspace.folders), "/")

    def _connect(self) -> AbstractAsyncContextManager[Connection]:
        return open_connection(
            self._options.command,
            self._receive,
            env=self._options.environment,
            cwd=self._cwd,
            process=self._options.process,
            codec=RawCodec(),
            framing=LineFraming(),
            cancel=_CANCEL,
            guard=self._options.guard,
            on_stderr=self._options.on_stderr,
        )

    def _begin(self, connection: Connection, tasks: TaskGroup, emit: Emit) -> _Life:
        faults = Faults(self._program)
        return _Life(connection, tasks, self._cwd, faults, self._options.prompted, emit)

    def _receive(self, batch: list[Incoming]) -> None:
        self._running.receive(batch)

    async def _live(self, life: _Life, emit: Emit, ready: Callable[[], None]) -> Exit | AgentFault:
        """Return the exit or the start's fault, because a task group would wrap an exception."""
        try:
            result = await self._introduce(life)
        except AgentFault as fault:
            return fault
        except ConnectionClosed as closed:
            return closed.exit if self._leaving else self._ended_early(closed.exit)
        life.introduced(result)
        emit([AbilitiesChanged(frozenset())])
        ready()
        return await life.connection.wait_closed()

    async def _introduce(self, life: _Life) -> InitializeResult:
        """Send initialize. Raises AgentFault and ConnectionClosed."""
        params = introduction()
        try:
            with anyio.fail_after(INTRODUCTION_SECONDS):
                raw = await life.connection.request(params.method, encode(params))
            result = decode_result(InitializeParams, raw)
        except TimeoutError:
            raise self._fault(f"has not answered after {INTRODUCTION_SECONDS:.0f} s") from None
        except (RemoteError, DecodeError) as fault:
            raise self._fault(life.faults.line("refused to start", fault)) from fault
        if result.protocol_version != VERSION:
            raise AgentFault(
                f"{self._options.command[0]} speaks version {result.protocol_version} of the Agent "
                f"Client Protocol, and this client version {VERSION}: install a version that fits"
            )
        return result

    def _ended_early(self, ending: Exit) -> AgentFault:
        last = [line for line in ending.stderr_tail if line.strip()][-1:]
        message = f": {one_line(last[0])}" if last else ""
        return self._fault(f"ended before it could be used, {ending}{message}")

    def _fault(self, what: str) -> AgentFault:
        program = self._options.command[0]
        return AgentFault(f"{program} {what}; is it an ACP agent? See :Eca log")


def _title(agent: Implementation | None) -> str:
    return "" if agent is None else one_line(f"{agent.title or agent.name} {agent.version}")


def _agent_exit(ending: Exit, *, expected: bool) -> AgentExit:
    reason = f"the agent was stopped, {ending}"
    if not expected:
        reason = f"the agent ended, {ending}: your next prompt or :Eca restart starts it again"
    return AgentExit(
        reason=reason,
        code=ending.code,
        expected=expected,
        stderr_tail=ending.stderr_tail[-_STDERR_LINES:],
    )

"""Server: the agent's process as the user sees it, and the calls that wait until it is ready."""

import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum, auto
from typing import Protocol, TypeAlias

import anyio
from anyio.abc import TaskGroup
from msgspec import Struct, field
from msgspec.structs import replace

from eca_nvim.agents.base import AGAIN, Agent, AgentExit, AgentFault, Emit, EndedEarly
from eca_nvim.agents.trace import Trace
from eca_nvim.chat.vocabulary.agent_events import AgentEvent, MessageShown
from eca_nvim.chat.vocabulary.effects import Effect, Prompt
from eca_nvim.guardian import CLOSE_S
from eca_nvim.session.restarts import Restarts

SLOW_START = 10.0
"""Seconds after which an agent that is not ready is reported as slow."""

log = logging.getLogger(__name__)


class ServerState(StrEnum):
    """The state of the agent's process, as the op `server` names it.

    ASLEEP: it was ended because nobody used it; whatever needs it starts it again.
    """

    STOPPED = "stopped"
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    ASLEEP = "asleep"


class ServerRequest(StrEnum):
    """What the user, or for SLEEP the idle timer, can ask of the server."""

    START = auto()
    RESTART = auto()
    QUIT = auto()
    SLEEP = auto()


_ENDS: Mapping[ServerRequest, ServerState] = {
    ServerRequest.RESTART: ServerState.STARTING,
    ServerRequest.QUIT: ServerState.STOPPED,
    ServerRequest.SLEEP: ServerState.ASLEEP,
}
"""The requests that end a run, and the state that each leads to."""

_ANOTHER = (
    ":Eca restart tries again, :Eca server chooses another server, :Eca server demo the demo agent"
)

_STARTS = frozenset({ServerRequest.START, ServerRequest.RESTART})

_NOT_RUNNING = frozenset({ServerState.STOPPED, ServerState.FAILED, ServerState.ASLEEP})


class Candidate(Struct, frozen=True):
    """An agent that can be started; `label` names it for the user.

    `identity` is the same each time the same server is started. `folder` is its working folder,
    None for the user's workspace. `idle`: seconds without use after which it is ended, 0 for never.
    `warnings` are lines for the user.
    """

    agent: Agent
    label: str
    identity: str = ""
    folder: str | None = None
    idle: float = 0
    warnings: tuple[str, ...] = ()


MakeAgent: TypeAlias = Callable[[str], Candidate]
"""Returns the agent of one run of a server, by its name. Raises AgentFault."""


class Listener(Protocol):
    """Notified of what happens to the server."""

    def server_changed(self, state: ServerState, label: str) -> None:
        """Handle a change of the state."""

    def server_slow(self, label: str, seconds: float, last_words: str) -> None:
        """Handle an agent that is not ready after so many seconds; it may still become ready.

        last_words: the last line of its standard error.
        """

    def server_ended(self, ending: AgentExit, request: ServerRequest | None) -> None:
        """Handle the end of a run, or its failed start; called after `server_changed`.

        request: what has ended it, None if it ended by itself.
        """

    def is_at_rest(self) -> bool:
        """Return whether nothing would be lost if the agent, which is ready, ended now."""


class Held(Struct, eq=False):
    """A call that waits; `prompt` is None if it steers a turn whose prompt waits before it."""

    chat_id: str
    make: Effect
    prompt: Prompt | None = None


class HeldCalls(Struct):
    """Calls held until the agent is ready, or until the contexts of a prompt are read."""

    calls: list[Held] = field(default_factory=list)

    def hold(self, prompt: Prompt) -> None:
        """Hold a prompt."""
        self.calls.append(Held(prompt.chat_id, lambda it: it.prompt(prompt), prompt))

    def has(self, prompt: Prompt) -> bool:
        """Return whether this very prompt is held."""
        return any(held.prompt is prompt for held in self.calls)

    def precedes(self, chat_id: str) -> bool:
        """Return whether something is held for a chat, which comes before what follows."""
        return bool(self.calls) and any(held.chat_id == chat_id for held in self.calls)

    def keep_prompts(self) -> frozenset[str]:
        """Drop all but the prompts, which wait for the next agent; returns their chats' ids.

        Steering ends with its turn; the chat itself keeps the text.
        """
        self.calls = [held for held in self.calls if held.prompt is not None]
        return frozenset(held.chat_id for held in self.calls)

    def take(self, chat_id: str | None = None) -> list[Held]:
        """Remove and return all calls, or those of one chat."""
        taken = [held for held in self.calls if chat_id in (None, held.chat_id)]
        self.calls = [held for held in self.calls if held not in taken]
        return taken

    def take_prompts(self, chat_id: str | None = None) -> list[Prompt]:
        """Remove all calls, or those of one chat; return the prompts among them."""
        return [held.prompt for held in self.take(chat_id) if held.prompt is not None]


class _Run:
    """One run of an agent; `request`: what ends it.

    `ready_at`, `used_at`: when it was ready, and used last (`time.monotonic`).
    """

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.ready_at: float | None = None
        self.used_at = 0.0
        self.request: ServerRequest | None = None
        self.has_spoken = False
        self.scope = anyio.CancelScope()
        self.started = anyio.Event()  # the agent is ready, or has ended
        self.ended = anyio.Event()


class Server:
    """A server of a session; `name` is unique in it."""

    def __init__(self, name: str, make_agent: MakeAgent, listener: Listener, emit: Emit) -> None:
        self._name = name
        self._make_agent = make_agent
        self._listener = listener
        self._emit = emit
        requests = anyio.create_memory_object_stream[ServerRequest](math.inf)
        self._requests_in, self._requests = requests
        self._current: _Run | None = None
        self._changed = anyio.Event()
        self._restarts = Restarts()
        self.state = ServerState.STOPPED
        self._label = ""
        self._has_queries = False
        self.identity = ""
        """The identity of the server started last (`Candidate`)."""
        self.folder: str | None = None
        self.trace: Trace | None = None
        """What went over the connection of the agent started last; it may have ended."""

    @property
    def agent(self) -> Agent | None:
        """The agent if it is ready, else None."""
        run = self._current
        return None if run is None or self.state is not ServerState.READY else run.agent

    def use(self) -> Agent | None:
        """Return the agent if it is ready; the time after which it may sleep starts again."""
        run = self._current
        if run is None:
            return None
        run.used_at = time.monotonic()
        return run.agent if self.state is ServerState.READY else None

    def asking(self) -> Agent | None:
        """Use the agent if it may wait for an answer: one that is not ready may have asked, too."""
        run, agent = self._current, self.use()
        has_asked = run is not None and run.request is None and run.has_spoken
        return run.agent if run is not None and has_asked else agent

    @property
    def may_complete(self) -> bool:
        """Whether it is worth waiting for what the agent offers to complete a prompt."""
        if self.state is ServerState.ASLEEP:
            return self._has_queries
        return self.state in (ServerState.STARTING, ServerState.READY)

    def request(self, request: ServerRequest) -> None:
        """Queue a request.

        An agent that is about to end is not ready any more: what is sent from now on is for the
        next one.
        """
        self._restarts = Restarts()
        if self._current is not None and request in _ENDS:
            self._current.request = request
        if request in _ENDS and (self._current is not None or self.state is ServerState.ASLEEP):
            self._set_state(_ENDS[request])
        self._requests_in.send_nowait(request)

    def stay_down(self) -> bool:
        """Cancel a start by itself; returns whether one was due."""
        was_due = self._restarts.is_due
        if was_due:
            self._restarts = Restarts()
            line = "the server stays down until your next prompt or :Eca restart"
            self._emit([MessageShown("info", line)])
        return was_due

    def ensure(self) -> None:
        """Start the agent unless it is running or starting."""
        if self.state in _NOT_RUNNING:
            self._set_state(ServerState.STARTING)
            self.request(ServerRequest.START)

    async def ready(self) -> Agent:
        """Return the agent once it is ready; starts it if needed.

        Raises AgentFault if it does not start.
        """
        self.ensure()
        while (agent := self.use()) is None:
            if self.state in _NOT_RUNNING:
                raise AgentFault("the server is not running; :Eca start starts it")
            await self._changed.wait()
        return agent

    async def end_reported(self) -> None:
        """Wait until the end of the current agent is reported, if its process has ended."""
        run = self._current
        if run is not None and run.agent.has_ended:
            await run.ended.wait()

    def kill(self) -> None:
        """End the agent without the event loop; called as this process exits."""
        if self._current is not None:
            self._current.agent.leave()

    async def run(self) -> None:
        """Carry out requests until cancelled, one after the other, and one run at a time."""
        async with self._requests, self._requests_in, anyio.create_task_group() as runs:
            async for request in self._requests:
                if request in _ENDS:
                    await self._finish()
                if request in _STARTS and self._current is None:
                    self._begin(runs)

    def _begin(self, runs: TaskGroup) -> None:
        self._set_state(ServerState.STARTING)
        try:
            candidate = self._make_agent(self._name)
        except AgentFault as fault:
            self._end(AgentExit(f"{fault}\n{_ANOTHER}"))
            return
        self.identity, self.folder = candidate.identity, candidate.folder
        self.trace = candidate.agent.trace
        self._set_state(ServerState.STARTING, candidate.label)
        self._emit([MessageShown("warn", line) for line in candidate.warnings])
        self._current = _Run(candidate.agent)
        runs.start_soon(self._run_agent, self._current)
        runs.start_soon(self._report_slow_start, self._current)
        if candidate.idle:
            runs.start_soon(self._sleep_when_idle, self._current, candidate.idle)

    async def _report_slow_start(self, run: _Run) -> None:
        with anyio.move_on_after(SLOW_START):
            await run.started.wait()
        if run.request is None and not run.started.is_set():
            self._listener.server_slow(self._label, SLOW_START, run.agent.last_words)

    async def _sleep_when_idle(self, run: _Run, limit: float) -> None:
        """End an agent that nobody has used for so many seconds."""
        await run.started.wait()
        run.used_at = time.monotonic()
        while (left := run.used_at + limit - time.monotonic()) > 0:
            with anyio.move_on_after(left):
                await run.ended.wait()
                return
            is_over = run.used_at + limit <= time.monotonic()
            if is_over and not self._listener.is_at_rest():
                run.used_at = time.monotonic()  # who is busy now gets the whole time again
        if run.request is None:
            self.request(ServerRequest.SLEEP)

    def _receive(self, events: Sequence[AgentEvent]) -> None:
        run = self._current
        if run is not None:
            run.has_spoken = True
            run.used_at = time.monotonic()
        self._emit(events)

    async def _run_agent(self, run: _Run) -> None:
        """Run an agent until it ends; an exception in its code ends it too."""
        ending, has_crashed = AgentExit("the agent was cancelled", expected=True), False
        try:
            with run.scope:
                ending = await run.agent.run(self._receive, self._ready)
                has_crashed = ending.code != 0 and not ending.expected
        except AgentFault as fault:
            ending = AgentExit(f"{fault}\n{_ANOTHER}")
            has_crashed = isinstance(fault, EndedEarly)
        except Exception as fault:
            log.exception("the agent's code failed")
            ending = AgentExit(f"the plugin failed: {fault!r}; see :Eca log")
            run.agent.kill()
        finally:
            is_due = has_crashed and run.request is None and self._listener.is_at_rest()
            self._current = None
            run.started.set()
            run.ended.set()
        if is_due:
            await self._end_for_now(run, ending)
        elif run.request is None:
            self._end(ending)
        else:
            self._listener.server_ended(ending, run.request)

    def _ready(self) -> None:
        """Note that the current agent is ready; one that is about to end gets nothing more."""
        if self._current is not None:
            self._current.ready_at = time.monotonic()
            self._current.started.set()
            self._has_queries = self._current.agent.queries is not None
            if self._current.request is None:
                self._set_state(ServerState.READY, self._current.agent.title or None)

    def _end(self, ending: AgentExit) -> None:
        self._set_state(ServerState.STOPPED if ending.expected else ServerState.FAILED)
        self._listener.server_ended(ending, None)

    async def _end_for_now(self, run: _Run, ending: AgentExit) -> None:
        """End at rest by a crash; start again unless that was often, or the user asks meanwhile."""
        restarts = self._restarts
        lived = 0.0 if run.ready_at is None else time.monotonic() - run.ready_at
        wait = restarts.after(lived)
        if wait is None:
            return self._end(ending)
        again = f"it starts again in {wait:g} s, :Eca stop prevents it"
        reason = ending.reason.replace(AGAIN, again).replace(_ANOTHER, again)
        self._end(replace(ending, reason=reason))
        await anyio.sleep(wait)
        if self._restarts is restarts:
            restarts.is_due = False
            self._set_state(ServerState.STARTING)
            self._requests_in.send_nowait(ServerRequest.START)
        return None

    async def _finish(self) -> None:
        """End the current run: close the agent, and cancel it if that takes too long."""
        run = self._current
        if run is None:
            return
        with anyio.move_on_after(CLOSE_S):
            await run.agent.close()
            await run.ended.wait()
        run.scope.cancel()
        await run.ended.wait()

    def _set_state(self, state: ServerState, label: str | None = None) -> None:
        label = self._label if label is None else label
        if (state, label) != (self.state, self._label):
            self.state, self._label = state, label
            self._changed.set()
            self._changed = anyio.Event()
            log.info("server %s: %s %s", self._name, state, label)
            self._listener.server_changed(state, label)

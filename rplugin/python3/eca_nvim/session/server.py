"""The agent's process as the user sees it: started, ready, ended, started again.

Rules kept here:
- Requests (start, restart, quit) are handled one after the other.
- One run at a time: the next begins when the last has ended.
- Every end is reported once, with its reason; an agent that fails to start ends like any other.
- An agent that is slow to start is reported once, and still waited for.
"""

from __future__ import annotations

import logging
import math
from enum import StrEnum, auto
from typing import Protocol

import anyio
from anyio.abc import TaskGroup
from msgspec import Struct

from eca_nvim.agents.base import Agent, AgentExit, AgentFault, Emit

CLOSE_TIMEOUT = 5.0
"""Seconds an agent has to close, all steps of its shutdown included; then it is cancelled."""

SLOW_START = 10.0
"""Seconds after which an agent that is not ready is reported as slow."""

log = logging.getLogger(__name__)


class ServerState(StrEnum):
    """The state of the agent's process, as `status().server` names it."""

    STOPPED = "stopped"
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"


class ServerRequest(StrEnum):
    """What the user can ask of the server."""

    START = auto()
    RESTART = auto()
    QUIT = auto()


class Candidate(Struct, frozen=True):
    """An agent that can be started; `label` names it for the user.

    `identity` is the same each time the same server is started. `folder` is its working folder,
    None for the user's workspace.
    """

    agent: Agent
    label: str
    identity: str = ""
    folder: str | None = None


class MakeAgent(Protocol):
    """Makes an agent for one run."""

    def __call__(self, server: str) -> Candidate:
        """Return the agent to start for a server, by its name. Raises AgentFault."""


class Listener(Protocol):
    """Notified of what happens to the server."""

    def server_changed(self, state: ServerState, label: str) -> None:
        """Handle a change of the state."""

    def server_slow(self, label: str, seconds: float, last_words: str) -> None:
        """Handle an agent that is not ready after so many seconds; it may still become ready.

        last_words: the last line of its standard error.
        """

    def server_ended(self, ending: AgentExit) -> None:
        """Handle the end of a run, or its failed start; called after `server_changed`."""


class _Run:
    """One run of an agent; `wanted` until a restart or quit is requested."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.wanted = True
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
        self.state = ServerState.STOPPED
        self._label = ""
        self.identity = ""
        """The identity of the server started last (`Candidate`)."""
        self.folder: str | None = None

    @property
    def agent(self) -> Agent | None:
        """The agent if it is ready, else None."""
        ready = self.state is ServerState.READY and self._current is not None
        return self._current.agent if ready and self._current is not None else None

    def request(self, request: ServerRequest) -> None:
        """Queue a request.

        An agent that is about to end is not ready any more: what is sent from now on is for the
        next one.
        """
        if self._current is not None and request is not ServerRequest.START:
            self._current.wanted = False
            is_quit = request is ServerRequest.QUIT
            self._set_state(ServerState.STOPPED if is_quit else ServerState.STARTING)
        self._requests_in.send_nowait(request)

    def ensure(self) -> None:
        """Start the agent unless it is running or starting."""
        if self.state in (ServerState.STOPPED, ServerState.FAILED):
            self._set_state(ServerState.STARTING)
            self.request(ServerRequest.START)

    async def ready(self) -> Agent:
        """Return the agent once it is ready; starts it if needed.

        Raises AgentFault if it does not start.
        """
        self.ensure()
        while (agent := self.agent) is None:
            if self.state in (ServerState.STOPPED, ServerState.FAILED):
                raise AgentFault("the server is not running; :Eca start starts it")
            await self._changed.wait()
        return agent

    def kill(self) -> None:
        """End the agent without the event loop; called as this process exits."""
        if self._current is not None:
            self._current.agent.leave()

    async def run(self) -> None:
        """Carry out requests until cancelled."""
        async with self._requests, self._requests_in, anyio.create_task_group() as runs:
            async for request in self._requests:
                if request is not ServerRequest.START:
                    await self._finish()
                if request is not ServerRequest.QUIT and self._current is None:
                    self._begin(runs)

    def _begin(self, runs: TaskGroup) -> None:
        self._set_state(ServerState.STARTING)
        try:
            candidate = self._make_agent(self._name)
        except AgentFault as fault:
            self._end(AgentExit(str(fault)))
            return
        self.identity, self.folder = candidate.identity, candidate.folder
        self._set_state(ServerState.STARTING, candidate.label)
        self._current = _Run(candidate.agent)
        runs.start_soon(self._run_agent, self._current)
        runs.start_soon(self._report_slow_start, self._current)

    async def _report_slow_start(self, run: _Run) -> None:
        with anyio.move_on_after(SLOW_START):
            await run.started.wait()
        if run.wanted and not run.started.is_set():
            self._listener.server_slow(self._label, SLOW_START, run.agent.last_words)

    async def _run_agent(self, run: _Run) -> None:
        """Run an agent until it ends; an exception in its code ends it too."""
        ending = AgentExit("the agent was cancelled", expected=True)
        try:
            with run.scope:
                ending = await run.agent.run(self._emit, self._ready)
        except AgentFault as fault:
            ending = AgentExit(str(fault))
        except Exception as fault:
            log.exception("the agent's code failed")
            ending = AgentExit(f"the plugin failed: {fault!r}; see :Eca log")
            run.agent.kill()
        finally:
            self._current = None
            run.started.set()
            run.ended.set()
        if run.wanted:
            self._end(ending)
        else:
            self._listener.server_ended(ending)

    def _ready(self) -> None:
        """Note that the current agent is ready; one that is about to end gets nothing more."""
        if self._current is not None:
            self._current.started.set()
            if self._current.wanted:
                self._set_state(ServerState.READY, self._current.agent.title or None)

    def _end(self, ending: AgentExit) -> None:
        self._set_state(ServerState.STOPPED if ending.expected else ServerState.FAILED)
        self._listener.server_ended(ending)

    async def _finish(self) -> None:
        """End the current run: close the agent, and cancel it if that takes too long."""
        run = self._current
        if run is None:
            return
        with anyio.move_on_after(CLOSE_TIMEOUT):
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

"""The life of the agent as the user sees it: started, ready, ended, started again.

Rules kept here:
- Wishes (start, restart, quit) are fulfilled one after the other, whoever makes them.
- One life at a time: a new one begins when the last has ended.
- Every end is told once, with its reason; what failed to start ends like any other.
- What takes long to be ready is told once, and waited for all the same.
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

FAREWELL = 5.0
"""Seconds an agent has to end by itself when asked, close ladder and all."""

PATIENCE = 10.0
"""Seconds after which the user is told that an agent is not ready yet."""

log = logging.getLogger(__name__)


class ServerState(StrEnum):
    """What the agent's process is doing, as `status().server` says it."""

    STOPPED = "stopped"
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"


class Wish(StrEnum):
    """What may be asked of the server."""

    START = auto()
    RESTART = auto()
    QUIT = auto()


class Candidate(Struct, frozen=True):
    """An agent that can be started; `label` tells the user which it is.

    `identity` is the same for the same server, whenever it is started. `folder` is where it works
    when that is not the user's workspace.
    """

    agent: Agent
    label: str
    identity: str = ""
    folder: str | None = None


class MakeAgent(Protocol):
    """Makes an agent for one life."""

    def __call__(self, *, demo: bool) -> Candidate:
        """Find out what to start. Raises AgentFault."""


class Listener(Protocol):
    """Whom the server tells what becomes of it."""

    def server_changed(self, state: ServerState, label: str) -> None:
        """Take a new state."""

    def server_silent(self, label: str, seconds: float) -> None:
        """Take that an agent is not ready after so long; it may still become so."""

    def server_ended(self, ending: AgentExit) -> None:
        """Take the end of a life, or that it could not begin; the new state is told before."""


class _Life:
    """One run of an agent; it is wanted until somebody asks for its end."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.wanted = True
        self.scope = anyio.CancelScope()
        self.settled = anyio.Event()  # it is ready, or over
        self.over = anyio.Event()


class Server:
    """The agent of a session."""

    def __init__(self, make_agent: MakeAgent, listener: Listener, emit: Emit) -> None:
        self._make_agent = make_agent
        self._listener = listener
        self._emit = emit
        self._wish_in, self._wishes = anyio.create_memory_object_stream[tuple[Wish, bool]](math.inf)
        self._life: _Life | None = None
        self._demo = False
        self._changed = anyio.Event()
        self.state = ServerState.STOPPED
        self._label = ""
        self.identity = ""
        """Which server was started last (`Candidate`)."""
        self.folder: str | None = None

    @property
    def agent(self) -> Agent | None:
        """The agent that can be told something now; None while there is none."""
        ready = self.state is ServerState.READY and self._life is not None
        return self._life.agent if ready and self._life is not None else None

    def wish(self, wish: Wish, *, demo: bool = False) -> None:
        """Ask for something; `demo`: with the demo agent from now on.

        An agent that is to end is told nothing any more: what comes now is for the next one.
        """
        if self._life is not None and (wish is not Wish.START or demo):
            self._life.wanted = False
            self._become(ServerState.STOPPED if wish is Wish.QUIT else ServerState.STARTING)
        self._wish_in.send_nowait((wish, demo))

    def ensure(self) -> None:
        """Start the agent unless it runs or starts."""
        if self.state in (ServerState.STOPPED, ServerState.FAILED):
            self._become(ServerState.STARTING)
            self.wish(Wish.START)

    async def ready(self) -> Agent:
        """Wait for an agent that can be told something; it is started if need be.

        Raises AgentFault when there will be none.
        """
        self.ensure()
        while (agent := self.agent) is None:
            if self.state in (ServerState.STOPPED, ServerState.FAILED):
                raise AgentFault("the server does not run; :Eca start starts it")
            await self._changed.wait()
        return agent

    def kill(self) -> None:
        """End the agent without the event loop, as this process ends."""
        if self._life is not None:
            self._life.agent.leave()

    async def run(self) -> None:
        """Fulfil wishes until cancelled."""
        async with self._wishes, self._wish_in, anyio.create_task_group() as lives:
            async for wish, demo in self._wishes:
                self._demo = self._demo or demo
                if wish is not Wish.START or demo:
                    await self._finish()
                if wish is not Wish.QUIT and self._life is None:
                    self._begin(lives)

    def _begin(self, lives: TaskGroup) -> None:
        self._become(ServerState.STARTING)
        try:
            candidate = self._make_agent(demo=self._demo)
        except AgentFault as fault:
            self._end(AgentExit(str(fault)))
            return
        self.identity, self.folder = candidate.identity, candidate.folder
        self._become(ServerState.STARTING, candidate.label)
        self._life = _Life(candidate.agent)
        lives.start_soon(self._live, self._life)
        lives.start_soon(self._watch, self._life)

    async def _watch(self, life: _Life) -> None:
        with anyio.move_on_after(PATIENCE):
            await life.settled.wait()
        if life.wanted and not life.settled.is_set():
            self._listener.server_silent(self._label, PATIENCE)

    async def _live(self, life: _Life) -> None:
        """Run an agent from start to end; its own faults are ends too."""
        ending = AgentExit("the agent was cancelled", expected=True)
        try:
            with life.scope:
                ending = await life.agent.run(self._emit, self._ready)
        except AgentFault as fault:
            ending = AgentExit(str(fault))
        except Exception as fault:
            log.exception("the agent's code failed")
            ending = AgentExit(f"the client failed: {fault!r}; :Eca log tells more")
            life.agent.kill()
        finally:
            self._life = None
            life.settled.set()
            life.over.set()
        if life.wanted:
            self._end(ending)
        else:
            self._listener.server_ended(ending)

    def _ready(self) -> None:
        if self._life is not None:
            self._life.settled.set()
        self._become(ServerState.READY)

    def _end(self, ending: AgentExit) -> None:
        self._become(ServerState.STOPPED if ending.expected else ServerState.FAILED)
        self._listener.server_ended(ending)

    async def _finish(self) -> None:
        """End the life there is, politely if it lets us."""
        life = self._life
        if life is None:
            return
        with anyio.move_on_after(FAREWELL):
            await life.agent.close()
            await life.over.wait()
        life.scope.cancel()
        await life.over.wait()

    def _become(self, state: ServerState, label: str | None = None) -> None:
        label = self._label if label is None else label
        if (state, label) != (self.state, self._label):
            self.state, self._label = state, label
            self._changed.set()
            self._changed = anyio.Event()
            log.info("server %s %s", state, label)
            self._listener.server_changed(state, label)

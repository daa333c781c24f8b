"""The session's side of an agent: receives its events, and answers for the editor."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import anyio
from tests.support.screen import Value

from eca_nvim.agents.base import (
    Agent,
    AgentExit,
    Diagnostic,
    EditorServices,
    FileChanged,
    FileMissing,
    KeptProjects,
    Location,
    NoAnswer,
    OpenBuffer,
    Workspace,
)
from eca_nvim.agents.eca.agent import EcaAgent, EcaOptions
from eca_nvim.agents.eca.prompts import Selection
from eca_nvim.agents.eca.requests import Base
from eca_nvim.chat.vocabulary.agent_events import AgentEvent
from eca_nvim.chat.vocabulary.events import Addressed
from eca_nvim.chat.vocabulary.options import ChatOption, OptionsChanged
from eca_nvim.digests import text_digest
from eca_nvim.path_risks import Folders
from eca_nvim.transport import Guard, Incoming

TIMEOUT = 60.0
"""Seconds until a test fails: far longer than anything takes, for a busy machine."""
EDITOR = "Neovim 0.12.4"

EventT = TypeVar("EventT")


class Projects(KeptProjects):
    """Keeps in memory which folders are projects."""

    def __init__(self, *folders: Path) -> None:
        self.kept = {str(folder.resolve()) for folder in folders}

    def is_project(self, folder: str) -> bool:
        return folder in self.kept

    def projects(self) -> Sequence[str]:
        return sorted(self.kept)

    def keep_project(self, folder: str, *, is_one: bool = True) -> None:
        if is_one:
            self.kept.add(folder)
        else:
            self.kept.discard(folder)


@dataclass
class FakeEditor(EditorServices):
    """An editor that gives prepared answers and records requests."""

    found: Sequence[Diagnostic] = ()
    places: Sequence[Location] | NoAnswer = ()
    open: Sequence[OpenBuffer] = ()
    fault: Exception | None = None
    asked: list[tuple[object, ...]] = field(default_factory=list)
    gate: anyio.Event | None = None
    texts: dict[str, str] = field(default_factory=dict)

    async def diagnostics(self, path: str | None) -> Sequence[Diagnostic]:
        """Answer with `found`, when `gate` is open."""
        self.asked.append(("diagnostics", path))
        if self.gate is not None:
            await self.gate.wait()
        if self.fault is not None:
            raise self.fault
        return self.found

    async def locations(
        self, kind: str, path: str, line: int, column: int
    ) -> Sequence[Location] | NoAnswer:
        """Answer with `places`."""
        self.asked.append((kind, path, line, column))
        if self.fault is not None:
            raise self.fault
        return self.places

    async def open_buffers(self) -> Sequence[OpenBuffer]:
        """Answer with `open`."""
        self.asked.append(("open_buffers",))
        if self.fault is not None:
            raise self.fault
        return self.open

    async def read_text(self, path: str) -> str:
        """Answer with one of `texts`."""
        if path not in self.texts:
            raise FileMissing(f"there is no such file: {path}")
        return self.texts[path]

    async def write_text(
        self, path: str, text: str, expected: str | None = None, *, replaces_unsaved: bool = True
    ) -> bytes | None:
        """Keep the text in `texts`."""
        self.asked.append(("write", path, replaces_unsaved))
        if expected is not None and text_digest(self.texts.get(path, "")) != expected:
            raise FileChanged(path)
        self.texts[path] = text
        return None


class AgentClient:
    """Keeps all events of a running agent."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.events: list[AgentEvent] = []
        self.batches: list[Sequence[AgentEvent]] = []
        self.ready = anyio.Event()
        self.exit: AgentExit | None = None
        self._changed = anyio.Event()

    async def run(self) -> None:
        """Run the agent to its end."""
        self.exit = await self.agent.run(self._take, self._be_ready)
        self._wake()

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until a condition on this client is true. Raises TimeoutError with the events."""
        try:
            with anyio.fail_after(TIMEOUT):
                while not condition():
                    await self._changed.wait()
        except TimeoutError:
            raise TimeoutError("\n".join(map(str, self.events))) from None

    async def first(self, kind: type[EventT]) -> EventT:
        """Wait for an event of a kind, of a chat or not, and return the first one."""
        await self.until(lambda: self.all(kind))
        return self.all(kind)[0]

    def all(self, kind: type[EventT]) -> list[EventT]:
        """Return the events of a kind so far, without their addresses."""
        inner = [it.event if isinstance(it, Addressed) else it for it in self.events]
        return [event for event in inner if isinstance(event, kind)]

    def _take(self, batch: Sequence[AgentEvent]) -> None:
        self.batches.append(batch)
        self.events += batch
        self._wake()

    def _be_ready(self) -> None:
        self.ready.set()
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


class Client(AgentClient):
    """Keeps all events of a running server, and what it has read."""

    def __init__(self, agent: EcaAgent) -> None:
        super().__init__(agent)
        self.agent: EcaAgent = agent
        self.heard: list[str] = []
        """Methods of what the agent has read: notifications, requests, answers to prompts."""
        self._begin, self._receive = agent._begin, agent._receive
        setattr(agent, "_begin", self._begin_watched)  # noqa: B010 - a method of another's
        setattr(agent, "_receive", self._receive_watched)  # noqa: B010

    def choose(self, chat: str, chosen: Selection) -> None:
        """Set the options of a chat that are not None, as a user does, one by one."""
        for what in ("model", "agent", "variant"):
            if (name := getattr(chosen, what)) is not None:
                self.agent.set_option(chat, what, name)
        if chosen.trust is not self.selection(chat).trust:
            self.agent.set_option(chat, "trust", chosen.trust)

    def prefer(self, chat: str, chosen: Selection) -> None:
        """Have prompts of a chat sent with this, without a message about it."""
        options = self.agent._running.options
        options.keep(chat, chosen.model, chosen.agent, chosen.variant)
        options.set(chat, "trust", chosen.trust)

    def option(self, chat: str, name: str) -> ChatOption:
        """Return an option of an open chat, as the agent listed it last."""
        events = [it for it in self.events if isinstance(it, Addressed) and it.chat_id == chat]
        listed = [it.event for it in events if isinstance(it.event, OptionsChanged)]
        return next(option for option in listed[-1].options if option.id == name)

    def selection(self, chat: str) -> Selection:
        """Return what the next prompt of a chat is sent with."""
        return self.agent._running.options.selection(chat)

    def _begin_watched(self, *parts: Value) -> Value:
        life = self._begin(*parts)
        answered = life.outbox._answered

        def watched(*answer: Value) -> None:
            self._hear("chat/prompt")
            answered(*answer)

        setattr(life.outbox, "_answered", watched)  # noqa: B010
        return life

    def _receive_watched(self, batch: list[Incoming]) -> None:
        self._hear(*(message.method for message in batch))
        self._receive(batch)

    def _hear(self, *methods: str) -> None:
        self.heard += methods
        self._wake()


def make_agent(
    command: Sequence[str],
    folder: Path,
    editor: EditorServices | None = None,
    base: Base = 1,
    agent: str | None = None,
    guard: Guard | None = None,
    see_off: Callable[[], bool] | None = None,
) -> EcaAgent:
    """Make an agent that works in one folder."""
    options = EcaOptions(command, agent=agent, diagnostics_base=base, guard=guard, see_off=see_off)
    return EcaAgent(
        options, Workspace(Folders((str(folder),)), EDITOR, 4711), editor or FakeEditor()
    )


@asynccontextmanager
async def running(agent: EcaAgent) -> AsyncIterator[Client]:
    """Run an agent as a session does, and close it at the end."""
    client = Client(agent)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.run)
        yield client
        await agent.close()
        with anyio.fail_after(TIMEOUT):
            await client.until(lambda: client.exit)

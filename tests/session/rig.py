"""A session whose agent, view and files are in memory."""

import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import anyio
from tests.session.fake_archive import FakeArchive

from eca_nvim.agents.abilities import (
    Grants,
    Jobs,
    LoginEnd,
    LoginUser,
    LoginWay,
    Memory,
    Providers,
    Queries,
    ToolServers,
)
from eca_nvim.agents.base import Agent, AgentExit, AgentFault, Emit
from eca_nvim.agents.eca.chat_options import ChatOptions
from eca_nvim.agents.eca.known_tools import Peeks
from eca_nvim.agents.eca.older.chat_ids import ChatIds
from eca_nvim.agents.eca.older.dialect import Dialect
from eca_nvim.agents.eca.prompts import Selection
from eca_nvim.agents.eca.turns import Turns
from eca_nvim.agents.trace import Trace
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.agent_events import AgentEvent
from eca_nvim.chat.vocabulary.call_details import PartialWrite, ToolCall
from eca_nvim.chat.vocabulary.contexts import Context
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import Addressed, ChatEvent
from eca_nvim.chat.vocabulary.ops import (
    Answer,
    AppendText,
    Notify,
    OpenBlock,
    SetBody,
    SetPending,
    SetServer,
    SetStatus,
    ViewOp,
)
from eca_nvim.chat.vocabulary.options import OptionValue, SetOptions
from eca_nvim.chat.vocabulary.previews import Rewrite
from eca_nvim.chat.vocabulary.query_intents import RequestTranscript
from eca_nvim.chat.vocabulary.requests import ALLOW
from eca_nvim.chat.vocabulary.requests import Value as FormValue
from eca_nvim.path_risks import Folders
from eca_nvim.protocol.eca.chat import ConfigUpdated
from eca_nvim.redaction import Redactor
from eca_nvim.session import Candidate, Persistence, Session
from eca_nvim.session.files.checkpoints import Checkpoints, Limits
from eca_nvim.store import Store

Value: TypeAlias = Any
PATIENCE = 60.0
NEOVIM = os.getpid()
"""Process id of the Neovim that the session belongs to."""
Op = TypeVar("Op", bound=ViewOp)


class FakeAgent(Agent):
    """An agent that records what it gets and sends what the test wants; its options are ECA's."""

    queries: Queries | None = None
    jobs: Jobs | None = None
    trace: Trace | None = None
    providers: Providers | None = None
    grants: Grants | None = None
    tool_servers: ToolServers | None = None
    memory: Memory | None = None
    ways: Sequence[LoginWay] = ()
    still: str | None = None
    """How the user can log in; `log_in` does it."""
    is_busy = False
    has_ended = False
    rewrites = False

    def __init__(self) -> None:
        self.told: list[tuple[object, ...]] = []
        self.prompts: list[Prompt] = []
        self.log_in: Callable[[str, LoginUser], Awaitable[LoginEnd]] = _logs_in
        self.emit: Emit = lambda _events: None
        self.ready: Callable[[], None] = lambda: None
        self.started = anyio.Event()
        self.approved = anyio.Event()
        self.killed = False
        self.chats: list[tuple[str, str]] = []
        """Chats that were opened and forgotten, in order."""
        self._archive = FakeArchive()
        self._peeks = Peeks()
        self._ids, self._turns, dialect = ChatIds(), Turns(), Dialect()
        dialect.is_today = True
        self._options = ChatOptions(self._ids, self._turns, dialect)
        self._archive.forked = self._options.copy
        self._ending: AgentExit | AgentFault | None = None
        self._ended = anyio.Event()

    async def run(self, emit: Emit, ready: Callable[[], None]) -> AgentExit:
        self.emit, self.ready = emit, ready
        self.started.set()
        await self._ended.wait()
        assert self._ending is not None
        if isinstance(self._ending, AgentFault):
            raise self._ending
        return self._ending

    def end(self, ending: AgentExit | AgentFault) -> None:
        """End as the test says."""
        self._ending = ending
        self._ended.set()

    def say(self, chat: str | None, *events: ChatEvent, parent: str | None = None) -> None:
        """Send events of a chat."""
        self.emit([Addressed(chat, self._peeks.peek(chat or "", it), parent) for it in events])

    def announce(self, *events: AgentEvent | ConfigUpdated) -> None:
        """Send events of the agent as a whole."""
        for it in events:
            self.emit(self._options.announce(it) if isinstance(it, ConfigUpdated) else [it])

    def uses(self, chat: str, model: str, agent: str) -> None:
        """Go on in a saved chat with what it used before."""
        self._options.keep(chat, model, agent, "")

    def answers(self, chat: str, model: str) -> None:
        """Announce which model answers a prompt."""
        self.emit(self._options.answered(chat, model))

    async def close(self) -> None:
        self.told.append(("close",))
        self.end(AgentExit("the server was stopped", 0, expected=True))

    def kill(self) -> None:
        self.killed = True

    async def rewrite(self, wanted: Rewrite) -> None:
        self.told.append(("rewrite", wanted.id, wanted.instruction))
        if not self.rewrites:
            await super().rewrite(wanted)

    def open_chat(self, chat_id: str, *, is_needed: bool = False) -> None:  # noqa: ARG002
        self.chats.append(("open", chat_id))
        self.emit(self._options.open_chat(chat_id))

    def forget(self, chat_id: str) -> None:
        self.chats.append(("forget", chat_id))
        self._options.forget(chat_id)
        self._ids.forgotten(chat_id)
        self._turns.deleted(chat_id)

    def prompt(self, prompt: Prompt) -> None:
        self.told.append(("prompt", prompt.chat_id, prompt.text))
        self.prompts.append(prompt)
        self.last_prompt, self.last_selection = prompt, self.selection(prompt.chat_id)
        self._ids.prompted(prompt.chat_id)
        self._turns.prompted(prompt.chat_id)

    def steer(self, chat_id: str, text: str, contexts: Sequence[Context] = ()) -> None:
        self.told.append(("steer", chat_id, text, *contexts))

    def unsteer(self, chat_id: str) -> None:
        self.told.append(("unsteer", chat_id))

    def stop(self, chat_id: str) -> None:
        self.told.append(("stop", chat_id))

    def give_up(self, chat_id: str) -> None:
        self.told.append(("give_up", chat_id))

    def decide(
        self,
        chat_id: str,
        call_id: str,
        choice_id: str | None,
        shown: ToolCall | None = None,
        writes: Sequence[PartialWrite] = (),
    ) -> None:
        assert shown is not None
        assert shown.id == call_id
        self.told.append(("decide", chat_id, call_id, choice_id, *writes))
        self.approved.set()

    def answer(self, question_id: str, text: str | None) -> None:
        self.told.append(("answer", question_id, text))

    def answer_form(self, question_id: str, content: Mapping[str, FormValue] | None) -> None:
        self.told.append(("form", question_id, content and {**content}))

    async def login_ways(self) -> Sequence[LoginWay]:
        return self.ways

    async def login(self, way_id: str, user: LoginUser) -> LoginEnd:
        self.told.append(("login", way_id))
        return await self.log_in(way_id, user)

    async def logout(self, way_id: str | None = None) -> str | None:
        self.told.append(("logout", way_id))
        return self.still

    @property
    def archive(self) -> FakeArchive:
        return self._archive

    def set_option(
        self,
        chat_id: str,
        option_id: str,
        value: OptionValue,
        *,
        is_chosen: bool = True,  # noqa: ARG002
    ) -> None:
        self.told.append(("set", chat_id, option_id, value))
        self.emit(self._options.set(chat_id, option_id, value))

    def selection(self, chat: str) -> Selection:
        """Return what a chat's next prompt is sent with."""
        return self._options.selection(chat)


async def _logs_in(_way: str, _user: LoginUser) -> LoginEnd:
    return LoginEnd.REPEATABLE


class Recorder:
    """A view that records all ops."""

    def __init__(self) -> None:
        self.ops: list[ViewOp] = []
        self._arrived = anyio.Event()

    def push(self, ops: Iterable[ViewOp]) -> None:
        """Record ops."""
        self.ops.extend(ops)
        self._arrived.set()
        self._arrived = anyio.Event()

    def of(self, kind: type[Op]) -> list[Op]:
        """Return the ops of a kind so far."""
        return [op for op in self.ops if isinstance(op, kind)]

    @property
    def pending(self) -> list[Value]:
        """Return the requests, as the view has them."""
        shown: list[Value] = []
        for op in self.of(SetPending):
            fresh = {item["id"]: item for item in op.items}
            left = [it for it in shown if op.gone is not None and it["id"] not in op.gone]
            shown = [fresh.pop(it["id"], it) for it in left] + [*fresh.values()]
        return shown

    def text(self) -> str:
        """Return the text of all blocks, in order."""
        parts = [op for op in self.ops if isinstance(op, AppendText | OpenBlock | SetBody)]
        texts = ["\n".join(op.lines) if isinstance(op, SetBody) else op.text for op in parts]
        return "\n".join(filter(None, texts))

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until a condition is true."""
        with anyio.fail_after(PATIENCE):
            while not condition():
                await self._arrived.wait()


class Rig:
    """The session, its agent, its view and its files."""

    def __init__(
        self,
        store: Store | None = None,
        folders: tuple[str, ...] = (),
        saved_in: str | None = None,
    ) -> None:
        self.saved_in = saved_in
        self.view = Recorder()
        self.agents: list[FakeAgent] = []
        self.named: list[str] = []
        self.fault: AgentFault | None = None
        self.idle = 0.0
        self.warnings: tuple[str, ...] = ()
        self.unwritten: dict[str, str] = {}
        self.persistence = Persistence(store, self.view, NEOVIM)
        self.folders = Folders(folders)
        settings = RenderSettings(folders=self.folders)
        self.redactor = Redactor()
        self.session = Session(
            *(self.make, self, self.view, settings, self.persistence, self.redactor),
            self.folders,
            lambda warn, _: Checkpoints(self.saved_in, self.folders, NEOVIM, Limits(), warn),
        )

    def make(self, server: str) -> Candidate:
        """Make an agent (`session.MakeAgent`)."""
        if self.fault is not None:
            raise self.fault
        self.named.append(server)
        self.agents.append(FakeAgent())
        self.view.push([])  # wake up those who wait for this
        label, identity = f"/bin/{server}", f"identity of {server}"
        return Candidate(self.agents[-1], label, identity, idle=self.idle, warnings=self.warnings)

    async def unsaved(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Return the user's unsaved text (`session.EditorFiles`)."""
        return {path: text for path, text in self.unwritten.items() if path in paths}

    @property
    def agent(self) -> FakeAgent:
        """The last agent made."""
        return self.agents[-1]

    def do(self, *done: intents.Intent) -> None:
        """Send an intent."""
        for intent in done:
            self.session.receive(intent)

    async def done(self) -> None:
        """Wait until all intents are handled."""
        number = len(self.view.ops) + 1
        self.do(RequestTranscript("barrier", number))
        await self.view.until(
            lambda: any(getattr(op, "request", 0) == number for op in self.view.ops)
        )

    async def ask(self, intent: intents.Intent) -> Value:
        """Send a request, and wait for the answer."""
        number = getattr(intent, "request", None)
        self.do(intent)

        def answers() -> list[object]:
            return [op.value for op in self.view.of(Answer) if op.request == number]

        await self.view.until(answers)
        return answers()[-1]

    async def stored(self) -> None:
        """Wait until all that waited for a tree is done, and for another tree."""
        done = anyio.Event()
        self.session._recorder.after_tree(lambda _: done.set())
        with anyio.fail_after(PATIENCE):
            await done.wait()

    async def ready(self, chat: str = "a", server: str | None = None, number: int = 1) -> FakeAgent:
        """Open a chat and start the agent."""
        self.do(intents.OpenChat(chat, server=server))
        agent = await self.starting(number)
        agent.ready()
        return agent

    async def starting(self, number: int = 1) -> FakeAgent:
        """Wait until an agent starts, the first or a later one."""
        await self.view.until(lambda: len(self.agents) >= number)
        with anyio.fail_after(PATIENCE):
            await self.agents[number - 1].started.wait()
        return self.agents[number - 1]

    def states(self, server: str = "eca") -> list[str]:
        """Return the states of a server that were shown."""
        return [op.state for op in self.view.of(SetServer) if op.server == server]

    def status(self, chat: str = "a") -> dict[str, object]:
        """Return the last status of a chat."""
        return dict([op for op in self.view.of(SetStatus) if op.chat == chat][-1].status)

    def offers(self, chat: str = "a") -> dict[str, list[str]]:
        """Return the names on offer in a chat, by the name of the option."""
        shown = [op for op in self.view.of(SetOptions) if op.chat == chat][-1].options
        return {row["name"]: [offer["name"] for offer in row["offers"]] for row in shown}

    def lines(self) -> list[str]:
        """Return the messages outside of chats."""
        return [op.text for op in self.view.of(Notify)]

    def asked(self, call: str) -> Value:
        """Return a request as it was last shown, by the agent's id of the call or question."""
        (item,) = [it for it in self.view.pending if it["call"] == call]
        return item

    def decision(self, call: str, choice: str = ALLOW.id) -> intents.Decide:
        """Answer a request as it was last shown."""
        item = self.asked(call)
        return intents.Decide(item["chat"], item["block"], item["digest"], choice)

    def answer(self, question: str, text: str | None) -> intents.AnswerQuestion:
        """Answer a question as it was last shown."""
        item = self.asked(question)
        return intents.AnswerQuestion(item["chat"], item["block"], item["digest"], text)

    def said(self) -> Sequence[tuple[object, ...]]:
        """Return what the last agent got."""
        return self.agent.told


def words(segments: Iterable[tuple[str, str]]) -> str:
    """Return the text of a row, without its columns."""
    return " ".join("".join(text for text, _ in segments).split())

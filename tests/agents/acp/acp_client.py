"""The session's side of an ACP agent, and what tests say about it."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType

import anyio
from tests.agents.client import TIMEOUT, AgentClient, FakeEditor, Projects

from eca_nvim.agents.acp.agent import AcpAgent, AcpOptions, KeptOfChats
from eca_nvim.agents.acp.memory import Memory
from eca_nvim.agents.acp.requests.grants import Granted
from eca_nvim.agents.acp.setup import McpOptions
from eca_nvim.agents.base import EditorServices, Workspace
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import Role, TextReceived
from eca_nvim.chat.vocabulary.states import TurnEnd
from eca_nvim.chat.vocabulary.turn_events import TurnEnded
from eca_nvim.path_risks import Folders
from eca_nvim.transport import Guard

CHAT = "a chat of ours"


class AcpClient(AgentClient):
    """Keeps all events of a running agent."""

    def __init__(self, agent: AcpAgent) -> None:
        super().__init__(agent)
        self.agent: AcpAgent = agent

    def notify(self, method: str) -> None:
        """Send a notification that only the script of an agent knows."""
        assert self.agent._connection is not None
        self.agent._connection.notify(method)

    def prompt(self, text: str, chat: str = CHAT) -> None:
        """Send a prompt."""
        self.agent.prompt(Prompt(chat, text))

    async def say(self, text: str, chat: str = CHAT) -> TurnEnded:
        """Send a prompt, and return the end of its turn."""
        count = len(self.all(TurnEnded))
        self.agent.prompt(Prompt(chat, text))
        await self.until(lambda: len(self.all(TurnEnded)) > count)
        return self.all(TurnEnded)[-1]

    @property
    def text(self) -> str:
        """The agent's answers so far."""
        texts = self.all(TextReceived)
        return "".join(it.text for it in texts if it.role is Role.ASSISTANT)

    @property
    def ends(self) -> list[TurnEnd]:
        """Why turns ended so far."""
        return [it.end for it in self.all(TurnEnded)]


class BoundSessions:
    """The sessions of chats (`memory.KeptSessions`); `other`: a Neovim that uses them, too."""

    def __init__(self, by_chat: Mapping[str, str]) -> None:
        self.by_chat = dict(by_chat)
        self.titles: dict[str, str] = {}
        self.other: int | None = None

    def session_of(self, chat_id: str) -> str | None:
        return self.by_chat.get(chat_id)

    def chats_of(self, session_ids: Iterable[str]) -> Sequence[str]:
        bound = {session: chat for chat, session in self.by_chat.items()}
        return [bound.get(it, f"chat of {it}") for it in session_ids]

    def used(self) -> Iterator[tuple[str, str, str, float]]:
        for number, (chat, session) in enumerate(self.by_chat.items()):
            yield chat, session, self.titles.get(chat, ""), float(number)

    def keep(self, chat_id: str, session_id: str, title: str = "") -> int | None:
        self.by_chat[chat_id] = session_id
        self.titles.setdefault(chat_id, title)
        other, self.other = self.other, None
        return other

    def drop(self, chat_id: str) -> None:
        self.by_chat.pop(chat_id, None)


def remembering(chats: Mapping[str, str] = MappingProxyType({}), *, shown: bool = False) -> Memory:
    """Return a memory of sessions by chat; `shown`: an earlier process had them."""
    return Memory(BoundSessions(chats), shown=set(chats if shown else ()))


def make_agent(
    command: Sequence[str],
    folder: Path,
    guard: Guard | None = None,
    see_off: Callable[[], bool] | None = None,
    services: EditorServices | None = None,
    memory: Memory | None = None,
    mcp: McpOptions | None = None,
    environment: Mapping[str, str] | None = None,
) -> AcpAgent:
    """Make an agent that works in one folder; `memory`: of the processes before it."""
    options = AcpOptions(
        command,
        environment,
        guard=guard,
        see_off=see_off,
        kept=KeptOfChats(memory or remembering(), Granted(Projects(folder))),
        mcp=mcp or McpOptions("mine"),
    )
    workspace = Workspace(Folders((str(folder),)), "Neovim 0.12.4", 4711)
    return AcpAgent(options, workspace, services or FakeEditor())


@asynccontextmanager
async def running(agent: AcpAgent) -> AsyncIterator[AcpClient]:
    """Run an agent as a session does until it is ready, and close it at the end."""
    client = AcpClient(agent)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.run)
        await client.until(lambda: client.ready.is_set() or client.exit)
        yield client
        await agent.close()
        with anyio.fail_after(TIMEOUT):
            await client.until(lambda: client.exit)

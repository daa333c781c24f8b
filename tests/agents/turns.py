"""Waiting for turns of an agent, with any server."""

from collections.abc import Iterable

from tests.agents.client import Client
from tests.support.screen import Value
from tests.support.servers import ScriptedServer

from eca_nvim.agents.eca.prompts import Selection
from eca_nvim.chat.vocabulary.contexts import Context
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import NoticeReceived, TextReceived, ToolRequested
from eca_nvim.chat.vocabulary.turn_events import TurnEnded

CHAT = "ours"
PLAIN = Selection()


def ends(client: Client) -> int:
    """Count the ends of turns so far."""
    return len(client.all(TurnEnded))


async def ended(client: Client, count: int) -> None:
    """Wait for this many ends of turns."""
    await client.until(lambda: ends(client) == count)


async def requested(client: Client, count: int) -> ToolRequested:
    """Wait for this many tool calls and return the last."""
    await client.until(lambda: len(client.all(ToolRequested)) == count)
    return client.all(ToolRequested)[-1]


async def say(
    client: Client,
    text: str,
    contexts: Iterable[Context] = (),
    selection: Selection = PLAIN,
    chat: str = CHAT,
) -> None:
    """Send a prompt."""
    await client.until(client.ready.is_set)
    client.choose(chat, selection)
    client.agent.prompt(Prompt(chat, text, tuple(contexts)))


async def talk(client: Client, text: str, **more: Value) -> str:
    """Play a whole turn; return what the assistant said."""
    before, said = ends(client), len(client.all(TextReceived))
    await say(client, text, **more)
    await client.until(lambda: ends(client) > before)
    texts = client.all(TextReceived)[said:]
    return "".join(it.text for it in texts if it.role.value == "assistant")


def notices(client: Client) -> list[str]:
    """Return the notices about what the server lacks, and its errors."""
    return [it.text for it in client.all(NoticeReceived)]


def sent(server: ScriptedServer, method: str) -> list[Value]:
    """Return the parameters of all messages of one method."""
    return [message["params"] for message in server.received(method)]


def addressed(client: Client) -> set[str | None]:
    """Return the chats that events were for."""
    return {getattr(it, "chat_id", None) for it in client.events} - {None}


def go(client: Client) -> None:
    """Let a waiting server continue (`mcp/startServer`)."""
    assert client.agent._connection is not None
    client.agent._connection.notify("mcp/startServer", {"name": "go"})

"""Conversations with the demo agent, through the client for any server."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.agents.client import Client, make_agent, running
from tests.demo.client import WITHOUT_PAUSES

from eca_nvim.agents.abilities import Archive
from eca_nvim.agents.eca.prompts import Selection
from eca_nvim.chat.vocabulary.contexts import Context
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.turn_events import TurnEnded

TRUSTING = Selection(trust=True)


@asynccontextmanager
async def talking(folder: Path, *prompts: str) -> AsyncIterator[tuple[Client, Archive]]:
    """Start the demo and let it answer some prompts in the chat `c`."""
    agent = make_agent([sys.executable, *WITHOUT_PAUSES], folder)
    async with running(agent) as client:
        await client.until(client.ready.is_set)
        for prompt in prompts:
            await talk(client, "c", prompt)
        yield client, agent.archive


async def talk(
    client: Client,
    chat: str,
    prompt: str,
    chosen: Selection = TRUSTING,
    contexts: tuple[Context, ...] = (),
) -> None:
    """Prompt a chat and wait for the end of the answer."""
    wanted = len(client.all(TurnEnded)) + 1
    client.choose(chat, chosen)
    client.agent.prompt(Prompt(chat, prompt, contexts))
    await client.until(lambda: len(client.all(TurnEnded)) == wanted)

"""Choices for a chat of the demo agent, as a client sees them."""

from pathlib import Path

import pytest
from tests.agents.client import Client
from tests.demo.talks import talk, talking

from eca_nvim.agents.base import Selection
from eca_nvim.chat.vocabulary.agent_events import ChoicesChanged
from eca_nvim.chat.vocabulary.events import SelectionChanged

pytestmark = pytest.mark.anyio

SCRIPTED, ECHO = "demo/scripted", "demo/echo"


async def choose(client: Client, chosen: Selection) -> ChoicesChanged:
    """Choose for the chat `c`, and return the agent's answer."""
    heard = len(client.all(ChoicesChanged))
    client.agent.choose("c", chosen)
    await client.until(lambda: len(client.all(ChoicesChanged)) > heard)
    return client.all(ChoicesChanged)[-1]


async def test_a_prompt_is_answered_by_the_model_it_names(tmp_path: Path) -> None:
    async with talking(tmp_path, "fail") as (client, archive):
        await talk(client, "c", "fail", Selection(ECHO, "plan", "low"))
        await client.until(lambda: len(client.all(SelectionChanged)) == 2)
        assert [it.model for it in client.all(SelectionChanged)] == [SCRIPTED, ECHO]
        assert [chat.model for chat in await archive.list_chats()] == [ECHO, SCRIPTED]
        opened = await archive.open_chat("c")
    assert opened.selection == SelectionChanged(ECHO, "plan", "low")


async def test_each_model_tells_its_variants_to_its_chat(tmp_path: Path) -> None:
    async with talking(tmp_path, "fail") as (client, archive):
        told = await choose(client, Selection(SCRIPTED, variant="high"))
        assert (told.chat_id, told.variants, told.variant) == ("c", ("low", "high"), "high")
        told = await choose(client, Selection(ECHO, variant="high"))
        assert (told.chat_id, told.variants, told.variant) == ("c", ("low",), "")
        opened = await archive.open_chat("c")
        assert opened.selection == SelectionChanged(ECHO, "code", "")


async def test_an_agent_leaves_model_and_variant_as_they_are(tmp_path: Path) -> None:
    async with talking(tmp_path, "fail") as (client, archive):
        await choose(client, Selection(ECHO, variant="low"))
        told = await choose(client, Selection(ECHO, "plan", "low"))
        assert (told.model, told.variants, told.variant) == (ECHO, ("low",), "low")
        opened = await archive.open_chat("c")
    assert opened.selection == SelectionChanged(ECHO, "plan", "low")

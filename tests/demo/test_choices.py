"""Choices for a chat of the demo agent, as a client sees them."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.agents.client import Client
from tests.demo.talks import talk, talking

from eca_nvim.agents.eca.prompts import Selection

pytestmark = pytest.mark.anyio

SCRIPTED, ECHO = "demo/scripted", "demo/echo"


async def choose(client: Client, chosen: Selection) -> tuple[Sequence[str], str | bool]:
    """Choose for the chat `c`; returns the variants that its agent then offers, and the variant."""
    heard = client.heard.count("config/updated")
    client.choose("c", chosen)
    await client.until(lambda: client.heard.count("config/updated") > heard)
    variants = client.option("c", "variant")
    return [it.value for it in variants.offers], variants.value


async def test_a_prompt_is_answered_by_the_model_it_names(tmp_path: Path) -> None:
    async with talking(tmp_path, "fail") as (client, archive):
        await talk(client, "c", "fail", Selection(ECHO, "plan", "low"))
        assert client.selection("c").model == ECHO
        assert [chat.model for chat in await archive.list_chats()] == [ECHO, SCRIPTED]
        await archive.open_chat("c")
        assert client.selection("c") == Selection(ECHO, "plan", "low")


async def test_each_model_tells_its_variants_to_its_chat(tmp_path: Path) -> None:
    async with talking(tmp_path, "fail") as (client, archive):
        client.agent.open_chat("c")
        assert await choose(client, Selection(variant="high")) == (["", "low", "high"], "high")
        assert await choose(client, Selection(ECHO)) == (["", "low"], "")
        await archive.open_chat("c")
        assert client.selection("c") == Selection(ECHO, "code", "")


async def test_an_agent_leaves_model_and_variant_as_they_are(tmp_path: Path) -> None:
    async with talking(tmp_path, "fail") as (client, archive):
        client.agent.open_chat("c")
        await choose(client, Selection(ECHO))
        await choose(client, Selection(variant="low"))
        assert await choose(client, Selection(agent="plan")) == (["", "low"], "low")
        await archive.open_chat("c")
        assert client.selection("c") == Selection(ECHO, "plan", "low")

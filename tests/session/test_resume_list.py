"""What `:Eca resume` lists of a chat, from the agent, from checkpoints and from this Neovim."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from tests.session.rig import Rig, Value

from eca_nvim.agents.abilities import ChatSummary
from eca_nvim.chat.vocabulary.events import Role, TextReceived
from eca_nvim.chat.vocabulary.intents import SendPrompt
from eca_nvim.chat.vocabulary.query_intents import ListChats
from eca_nvim.chat.vocabulary.turn_events import TurnBegan, TurnEnded

pytestmark = pytest.mark.anyio


class Listing(Rig):
    """A session in a repository, whose agent has saved three chats."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folders=(str(folder / "work"),), saved_in=str(folder / "store"))
        self._number = 1000

    async def begin(self) -> None:
        agent = await self.ready()
        titles = {"a": "Fix the flaky test", "b": "Docs", "aside-1": "Docs of a rewrite"}
        agent.archive.chats = [ChatSummary(it, title) for it, title in titles.items()]

    async def listed(self, words: str = "") -> dict[str, Value]:
        self._number += 1
        rows = await self.ask(ListChats(self._number, words=words))
        return {row["id"]: row for row in rows}


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Listing]:
    (tmp_path / "work").mkdir()
    await anyio.run_process(["git", "init", "-q", str(tmp_path / "work")])
    rig = Listing(tmp_path)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rig.session.run)
        yield rig
        tasks.cancel_scope.cancel()


async def test_last_words_and_changed_files_are_listed(rig: Listing, tmp_path: Path) -> None:
    await rig.begin()
    assert {*await rig.listed()} == {"a", "b"}
    assert not {"last", "files"} & {*(await rig.listed())["a"]}
    rig.do(SendPrompt("a", "why is it flaky?"))
    await rig.view.until(lambda: rig.agent.told)
    assert (await rig.listed())["a"]["last"] == "why is it flaky?"
    (tmp_path / "work" / "new.py").write_text("1\n")
    told = TextReceived(Role.ASSISTANT, "The clock\nis to blame.")
    rig.agent.say("a", TurnBegan(), told, TurnEnded())
    rows = await rig.listed()
    while "files" not in rows["a"]:
        rows = await rig.listed()
    assert (rows["a"]["last"], rows["a"]["files"]) == ("The clock is to blame.", 1)
    assert "files" not in rows["b"]


async def test_words_are_looked_for_in_titles_and_texts(rig: Listing) -> None:
    await rig.begin()
    rig.do(SendPrompt("b", "Explain the CLOCK"))
    await rig.view.until(lambda: rig.agent.told)
    rig.agent.say("b", TurnBegan(), TextReceived(Role.ASSISTANT, "It ticks."), TurnEnded())
    await rig.done()
    for words, found in {
        "flaky": {"a"},
        "TEST  fix": {"a"},
        "clock ticks": {"b"},
        "docs clock": {"b"},
        "rewrite": set[str](),
        "flaky clock": set[str](),
        "  ": {"a", "b"},
    }.items():
        assert {*await rig.listed(words)} == found, words

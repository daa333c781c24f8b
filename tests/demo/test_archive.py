"""The chats that the demo agent keeps, requested as from any server."""

from pathlib import Path

import pytest
from tests.demo.talks import talk, talking

from eca_nvim.agents.abilities import AgentRefused, ChatUnknown, CursorExpired
from eca_nvim.chat.user_actions.earlier_messages import Page
from eca_nvim.chat.vocabulary.contexts import FileContext
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import (
    ChatCleared,
    ChatDeleted,
    FlagReceived,
    TextReceived,
    TitleChanged,
    ToolFinished,
)

pytestmark = pytest.mark.anyio

OLD = "demo-yesterday"


def texts(page: Page) -> list[str]:
    """Return the texts in a page."""
    return [it.event.text.strip() for it in page.events if isinstance(it.event, TextReceived)]


def said_ids(page: Page) -> list[str]:
    """Return the ids of the user's messages in a page."""
    found = [it.event.content_id for it in page.events if isinstance(it.event, TextReceived)]
    return [it for it in found if it is not None]


async def test_a_talk_is_listed_and_replayed(tmp_path: Path) -> None:
    async with talking(tmp_path, "fix the greeting") as (client, archive):
        chats = await archive.list_chats()
        assert [chat.id for chat in chats] == ["c", OLD]
        opened = await archive.open_chat("c")
        lived = "".join(it.text for it in client.all(TextReceived) if it.role.value == "assistant")
    assert texts(opened.page)[0] == "fix the greeting"
    assert texts(opened.page)[-1][-40:] == lived.strip()[-40:]
    assert any(isinstance(it.event, ToolFinished) for it in opened.page.events)


async def test_names_of_files_that_go_along_are_no_topic(tmp_path: Path) -> None:
    async with talking(tmp_path, "hello") as (client, archive):
        await talk(client, "c", "and now?", contexts=(FileContext("/crash/fail.py", 1, 2),))
        page = (await archive.open_chat("c")).page
    hello, greeting, question, answer = texts(page)
    assert (hello, question) == ("hello", "and now?")
    assert answer == greeting


async def test_an_old_chat_is_read_by_the_page(tmp_path: Path) -> None:
    async with talking(tmp_path) as (_, archive):
        opened = await archive.open_chat(OLD, 100)
        assert (opened.page.returned, opened.page.total) == (100, 240)
        assert opened.page.older is not None
        second = await archive.history(OLD, opened.page.older, 100)
        assert second.older is not None
        last = await archive.history(OLD, second.older, 100)
        assert (last.returned, last.older) == (40, None)
        assert texts(last)[:2] == ["question 1", "Answer **1**: all is well."]
        with pytest.raises(CursorExpired):
            await archive.history(OLD, "900")
        with pytest.raises(ChatUnknown):
            await archive.history("unknown", "1")
        with pytest.raises(ChatUnknown):
            await archive.open_chat("unknown")


async def test_a_history_is_edited(tmp_path: Path) -> None:
    async with talking(tmp_path, "fail", "fail again") as (client, archive):
        first, second = said_ids((await archive.open_chat("c")).page)
        flag = await archive.add_flag("c", second, "here")
        page = (await archive.open_chat("c")).page
        assert any(isinstance(it.event, FlagReceived) for it in page.events)
        await archive.remove_flag("c", flag)
        copy, opened = await archive.fork("c", second)
        assert said_ids(opened.page) == [first, second]
        assert copy != "c"
        await archive.rollback("c", second, messages=True, tools=True)
        assert said_ids((await archive.open_chat("c")).page) == [first]
        with pytest.raises(AgentRefused):
            await archive.fork("c", "unknown")
        with pytest.raises(AgentRefused):
            await archive.add_flag("c", "unknown", "x")
        assert not client.all(ChatCleared)


async def test_a_chat_is_renamed_emptied_and_deleted(tmp_path: Path) -> None:
    async with talking(tmp_path, "fail") as (client, archive):
        await archive.rename("c", " a\ntitle ")
        assert client.all(TitleChanged)[-1].title == "a title"
        assert (await archive.list_chats())[0].title == "a title"
        await archive.clear("c")
        assert len(client.all(ChatCleared)) == 1
        assert (await archive.open_chat("c")).page.events[2:] == []
        await archive.delete("c")
        assert len(client.all(ChatDeleted)) == 1
        assert [chat.id for chat in await archive.list_chats()] == [OLD]


async def test_a_chat_that_is_deleted_says_no_more(tmp_path: Path) -> None:
    async with talking(tmp_path, "fail") as (client, archive):
        before = len(client.all(TextReceived))
        client.agent.prompt(Prompt("c", "stream 1000000"))
        await client.until(lambda: len(client.all(TextReceived)) > before + 9)
        await archive.delete("c")
        said = len(client.all(TextReceived))
        await archive.list_chats()
        assert len(client.all(TextReceived)) == said


async def test_a_chat_that_goes_on_keeps_its_title(tmp_path: Path) -> None:
    async with talking(tmp_path, "fail") as (client, archive):
        [said] = said_ids((await archive.open_chat("c")).page)
        copy, _ = await archive.fork("c", said)
        await archive.open_chat(OLD)
        for chat in (copy, OLD, "c"):
            await talk(client, chat, "fail again")
        titles = {chat.id: chat.title for chat in await archive.list_chats()}
    assert titles == {"c": "fail", copy: "fail (2)", OLD: "A long chat from yesterday"}


async def test_a_chat_that_was_deleted_can_begin_anew(tmp_path: Path) -> None:
    async with talking(tmp_path, "fail") as (client, archive):
        await archive.delete("c")
        await talk(client, "c", "fail anew")
        assert (await archive.list_chats())[0].title == "fail anew"


def files(folder: Path) -> dict[str, str]:
    """Return the files in the demo agent's folder."""
    [workshop] = folder.glob("eca-demo-*")
    return {path.name: path.read_text() for path in workshop.iterdir() if path.is_file()}


async def test_what_tools_did_to_files_is_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    async with talking(tmp_path) as (client, archive):
        untouched = files(tmp_path)
        await talk(client, "c", "fix the greeting")
        fixed = files(tmp_path)
        await talk(client, "c", "refactor")
        assert set(files(tmp_path)) == {"greet.py", "greeting.py", "NOTES.md"}
        first, second = said_ids((await archive.open_chat("c")).page)
        await archive.rollback("c", second, messages=False, tools=True)
        assert files(tmp_path) == fixed != untouched
        assert said_ids((await archive.open_chat("c")).page) == [first, second]
        await archive.rollback("c", first, messages=True, tools=True)
        assert files(tmp_path) == untouched


async def test_files_stay_when_only_messages_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    async with talking(tmp_path, "fix the greeting") as (_, archive):
        fixed = files(tmp_path)
        [said] = said_ids((await archive.open_chat("c")).page)
        await archive.rollback("c", said, messages=True, tools=False)
        assert files(tmp_path) == fixed
        assert "name.lower()" not in fixed["greet.py"]

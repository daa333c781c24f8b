"""Every request about a file gets its answer: in a stop, of a forgotten chat, of very many."""

from __future__ import annotations

import anyio
import pytest
from tests.agents.acp.acp_client import CHAT
from tests.agents.acp.file_turns import Run, answer, read, write
from tests.agents.acp.terminal_turns import CHOICES, ends, update
from tests.agents.acp.test_official_sdk import requested

from eca_nvim.agents.acp.link import EXCESS
from eca_nvim.agents.acp.requests import files
from eca_nvim.agents.acp.requests.files import STOPPED
from eca_nvim.chat.vocabulary.agent_events import MessageShown
from eca_nvim.chat.vocabulary.call_details import FileUsed, Use
from eca_nvim.chat.vocabulary.events import (
    ToolRequested,
)
from eca_nvim.chat.vocabulary.options import OptionsChanged
from eca_nvim.chat.vocabulary.states import TurnEnd

pytestmark = pytest.mark.anyio


async def test_a_stop_and_a_withdrawal_answer_what_waits(run: Run) -> None:
    file = run.folder / "a.txt"
    cancelled = [write(file, "x"), read(file), {"wait": "session/cancel"}, {"end": "cancelled"}]
    async with run.start(cancelled, [write(file, "y")]) as client:
        client.agent.open_chat(CHAT)
        client.prompt("go")
        await requested(client, 1)
        client.agent.stop(CHAT)
        await client.until(lambda: client.ends == [TurnEnd.STOPPED])
        client.prompt("again")
        await requested(client, 2)
    assert run.answers[0] == {"code": -32800, "error": "not done, the user has stopped the turn"}
    assert not file.exists()


async def test_a_chat_that_is_forgotten_answers_and_shows_nothing_more(run: Run) -> None:
    file = run.folder / "a.txt"
    async with run.start([write(file, "x")]) as client:
        client.agent.open_chat(CHAT)
        client.prompt("go")
        await requested(client, 1)
        shown = len(client.events)
        client.agent.forget(CHAT)
    assert client.events[shown:] == []
    assert "error" in run.answers[0]
    assert not file.exists()


async def test_a_chat_that_is_forgotten_before_the_question_answers(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neovim takes its time to say whether the file has unsaved changes."""
    reads, may_read = anyio.Event(), anyio.Event()
    read_text = run.editor.read_text

    async def read_late(path: str) -> str:
        reads.set()
        await may_read.wait()
        return await read_text(path)

    monkeypatch.setattr(run.editor, "read_text", read_late)
    other = run.folder / "b.txt"
    other.write_text("b")
    turn = [write(run.folder / "a.txt", "x"), read(other, "scripted-2")]
    async with run.start(turn) as client:
        client.agent.open_chat(CHAT)
        client.prompt("go")
        await reads.wait()
        client.agent.open_chat("another")
        await client.until(lambda: len(client.all(OptionsChanged)) == 2)
        client.agent.forget(CHAT)
        may_read.set()
        await client.first(FileUsed)  # after the first answer
    assert "error" in run.answers[0]


async def test_more_requests_than_some_are_refused_at_once(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_OPEN", 3)
    turn = [{"all": [write(run.folder / str(it), "x")["request"] for it in range(4)]}]
    async with run.start(turn) as client:
        client.agent.open_chat(CHAT)
        client.prompt("go")
        await requested(client, 3)
        assert (await client.first(MessageShown)).text == EXCESS
        client.agent.stop(CHAT)
        await client.until(lambda: client.ends)
    assert sorted(run.refusals) == [STOPPED] * 3 + ["too many requests wait"]


async def test_a_question_ends_with_the_agent(run: Run) -> None:
    async with run.start([write(run.folder / "a.txt", "x")]) as client:
        client.agent.open_chat(CHAT)
        client.prompt("go")
        await requested(client, 1)
        client.agent.kill()
        await client.until(lambda: client.exit)
    assert not (run.folder / "a.txt").exists()


async def test_many_at_once_are_all_answered(run: Run) -> None:
    """Writes of one file come in their order, and the user is asked once."""
    file = run.folder / "a.txt"
    turn = [{"all": [write(file, f"{number}\n")["request"] for number in range(50)]}]
    turn += [{"all": [read(file)["request"] for _ in range(200)]}]
    async with run.start(turn) as client:
        client.agent.open_chat(CHAT)
        client.prompt("go")
        await answer(client, 1, "always")
        await client.until(lambda: client.ends == [TurnEnd.DONE])
        assert len([it for it in client.all(ToolRequested) if it.needs_approval]) == 1
    assert file.read_text() == "49\n"
    assert [it["content"] for it in run.answers[50:]] == ["49\n"] * 200


async def test_a_file_is_counted_under_the_name_that_calls_have_for_it(run: Run) -> None:
    """Requests lead to the real file; else a file behind a link would be listed twice."""
    file, link, outside = run.folder / "a.txt", run.folder / "link", run.folder / "outside"
    file.write_text("a")
    link.symlink_to(file)
    outside.symlink_to(run.outside / "b.txt")
    place, diff = {"path": str(link)}, {"type": "diff", "path": str(link), "newText": "x"}
    diff["oldText"] = "a"
    edit = {"toolCallId": "2", "kind": "edit", "content": [diff]}
    turn = [
        update("tool_call", "1", kind="read", status="in_progress", locations=[place]), read(file),
        ends("1"), {"ask": {"toolCall": edit, "options": CHOICES}}, write(file, "x"), ends("2"),
        read(link), write(link, "y"), write(outside, "z"),
    ]  # fmt: skip
    async with run.start(turn) as client:
        client.agent.open_chat(CHAT)
        client.prompt("go")
        for count, choice in enumerate(("yes", "once", "once"), 1):
            await answer(client, count, choice)
        await client.until(lambda: client.ends == [TurnEnd.DONE])
        uses = [(it.path, it.use) for it in client.all(FileUsed)]
    assert uses == [
        (str(link), Use.READ),
        (str(link), Use.WRITTEN),
        (str(link), Use.READ),
        (str(file), Use.WRITTEN),  # as our call names it, about which the user was asked
        (str(run.outside / "b.txt"), Use.WRITTEN),
    ]
    assert (file.read_text(), (run.outside / "b.txt").read_text()) == ("y", "z")

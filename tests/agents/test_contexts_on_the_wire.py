"""The contexts that a server gets with the prompts of a chat."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.agents.client import Client, make_agent, running
from tests.agents.test_eca_mentions import read_by_server
from tests.support import script
from tests.support.factories import PrepareScript
from tests.support.screen import Value

from eca_nvim.chat.vocabulary.contexts import (
    Context,
    CursorContext,
    FileContext,
    ImageContext,
    Position,
    TextContext,
)
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import Addressed, NoticeReceived, TextReceived
from eca_nvim.chat.vocabulary.turn_events import TurnEnded

pytestmark = pytest.mark.anyio

OUTPUT = TextContext("term://make", "boom")
CURSOR = CursorContext("/ws/a.py", Position(1, 1), Position(1, 1))


async def say(client: Client, text: str, *contexts: Context) -> None:
    """Send a prompt and wait until its turn has ended."""
    await client.until(client.ready.is_set)
    ended = len(client.all(TurnEnded))
    client.agent.prompt(Prompt("c", text, contexts))
    await client.until(lambda: len(client.all(TurnEnded)) > ended)


@pytest.fixture
def lines(tmp_path: Path) -> FileContext:
    """Return lines of a file that is there."""
    path = tmp_path / "io.py"
    path.write_text("one\ntwo\nthree\n")
    return FileContext(str(path), 2, 3)


async def test_what_is_added_later_is_read_with_its_prompt_and_not_again(
    scripted_server: PrepareScript, tmp_path: Path, lines: FileContext
) -> None:
    answer = script.turn(script.text("well"))
    server = scripted_server(script.handshake(), *[answer] * 3)
    async with running(make_agent(server.command, tmp_path)) as client:
        await say(client, "hello")
        await say(client, "why?", lines, OUTPUT)
        await say(client, "and now?", lines, OUTPUT)
        shown = [it.text for it in client.all(TextReceived) if it.role == "user"]
    sent = [it["params"] for it in server.received("chat/prompt")]
    assert [read_by_server(it["message"]) for it in sent] == [[], [(lines.path, "2", "3")], []]
    text: Value = {"type": "text", "label": "term://make", "content": "boom"}
    assert [it.get("contexts", []) for it in sent] == [[], [text], []]
    assert [it.strip() for it in shown] == ["hello", "why?", "and now?"]


async def test_what_a_summary_took_the_place_of_is_sent_again(
    scripted_server: PrepareScript, tmp_path: Path, lines: FileContext
) -> None:
    answer = script.turn(script.text("well"))
    compacted = script.turn(script.text("well"), script.text("Auto-compacted chat", role="system"))
    server = scripted_server(script.handshake(), answer, compacted, answer)
    async with running(make_agent(server.command, tmp_path)) as client:
        for text in ("hello", "why?", "and now?"):
            await say(client, text, *([] if text == "hello" else [lines]))
    sent = [it["params"]["message"] for it in server.received("chat/prompt")]
    assert [len(read_by_server(it)) for it in sent] == [0, 1, 1]


async def test_a_prompt_that_no_model_answered_took_nothing_along(
    scripted_server: PrepareScript, tmp_path: Path, lines: FileContext
) -> None:
    failed = script.turn(script.text("401", role="system"))
    server = scripted_server(script.handshake(), script.turn(), failed, script.turn())
    async with running(make_agent(server.command, tmp_path)) as client:
        for text in ("hello", "why?", "why?"):
            await say(client, text, *([] if text == "hello" else [lines]))
    sent = [it["params"]["message"] for it in server.received("chat/prompt")]
    assert [len(read_by_server(it)) for it in sent] == [0, 1, 1]


async def test_a_cleared_chat_begins_anew(
    scripted_server: PrepareScript, tmp_path: Path, lines: FileContext
) -> None:
    cleared = [*script.expect("chat/clear"), *script.reply("chat/clear", {})]
    answer = script.turn(script.text("well"))
    server = scripted_server(script.handshake(), answer, cleared, answer)
    async with running(make_agent(server.command, tmp_path)) as client:
        await say(client, "hello")
        await client.agent.archive.clear("c")
        await say(client, "why?", lines)
    first, second = [it["params"] for it in server.received("chat/prompt")]
    assert "contexts" not in first
    assert second["message"] == "why?"
    [context] = second["contexts"]
    assert context["linesRange"] == {"start": 2, "end": 3}


async def test_lines_that_a_file_lost_meanwhile_do_not_fail_the_prompt(
    scripted_server: PrepareScript, tmp_path: Path, lines: FileContext
) -> None:
    server = scripted_server(script.handshake(), script.turn())
    gone = FileContext(lines.path, 7, 8)
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        client.agent.prompt(Prompt("c", "why?", (gone, FileContext(lines.path, 2, 9))))
        await client.until(lambda: "chat/prompt" in client.heard)
        told = [it.event for it in client.events if isinstance(it, Addressed)]
    assert NoticeReceived(f"context not sent: {lines.path} has no line 7") in told
    [params] = [it["params"] for it in server.received("chat/prompt")]
    [context] = params["contexts"]
    assert context["linesRange"] == {"start": 2, "end": 3}


async def test_what_is_left_out_is_said(scripted_server: PrepareScript, tmp_path: Path) -> None:
    """What a prompt names is reported each time, what belongs to every prompt once."""
    (tmp_path / "prog").write_bytes(b"\0")
    always = FileContext(str(tmp_path / "prog"))
    picture = ImageContext(str(tmp_path / "a.png"), "@a.png")
    diff = TextContext("git diff", "-a", "@diff")
    server = scripted_server(script.handshake(), *[script.turn()] * 3)
    async with running(make_agent(server.command, tmp_path)) as client:
        for text, context in (("hello", always), ("again @prog", replace(always, token="@prog"))):
            await say(client, text, always, context)
        await say(client, "/review @diff @a.png", always, diff, picture)
        client.agent.steer("c", "and @diff", [always, diff, CURSOR])
    told = [it.text for it in client.all(NoticeReceived)]
    assert told == [
        f"only the name is sent: {always.path} is not a text",
        "only the name is sent: @prog is not a text",
        "a command takes only names of files, not sent: @diff, @a.png",
        "not sent to the running turn: @diff; <M-CR> or :Eca queue sends a prompt after it",
    ]

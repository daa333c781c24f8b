"""An agent on the official SDK: what we send is valid, and what no recording shows works."""

from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.agents.acp.acp_client import CHAT, AcpClient, make_agent, running
from tests.agents.acp.scripted import Scripted

from eca_nvim.agents.acp.inbox import Inbox
from eca_nvim.chat.vocabulary.agent_events import MessageShown
from eca_nvim.chat.vocabulary.contexts import FileContext
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import (
    ApprovalWithdrawn,
    NoticeReceived,
    ToolFinished,
    ToolRequested,
)
from eca_nvim.chat.vocabulary.states import TurnEnd
from eca_nvim.chat.vocabulary.turn_events import TurnEnded

pytestmark = pytest.mark.anyio

Value: TypeAlias = Any

SETTINGS = "session/set_config_option"
CHOICES = [
    {"optionId": "one", "name": "Once", "kind": "allow_once"},
    {"optionId": "here", "name": "Always here", "kind": "allow_always"},
    {"optionId": "there", "name": "Always there", "kind": "allow_always"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


@pytest.fixture
def scripted(tmp_path: Path) -> Scripted:
    """Return the files of an agent on the official SDK."""
    return Scripted(tmp_path, "official")


def asks(call: str) -> Value:
    """Request permission for a call that was not announced."""
    shown = {"toolCallId": call, "title": "run it", "kind": "execute"}
    return {"toolCall": shown | {"rawInput": {"command": "make it"}}, "options": CHOICES}


OPTIONS = [
    {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": False},
    {
        "id": "model",
        "name": "Model",
        "category": "model",
        "type": "select",
        "currentValue": "a",
        "options": [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}],
    },
]
DIFFS = [
    {"type": "diff", "path": "one.txt", "oldText": "one\n", "newText": "ONE\n"},
    {"type": "diff", "path": "new.txt", "newText": "new\n"},
    {"type": "diff", "path": "one.txt", "oldText": "two\n", "newText": "TWO\n"},
]


def edits(call: str) -> Value:
    """Request permission to change several files."""
    shown = {"toolCallId": call, "title": "change two files", "kind": "edit", "content": DIFFS}
    return {"toolCall": shown, "options": CHOICES}


def update(kind: str, **members: Value) -> Value:
    return {"update": {"sessionUpdate": kind} | members}


async def requested(client: AcpClient, count: int) -> ToolRequested:
    """Wait for a request."""
    await client.until(lambda: len(client.all(ToolRequested)) >= count)
    return client.all(ToolRequested)[-1]


async def test_a_whole_turn_is_valid(scripted: Scripted, tmp_path: Path) -> None:
    text = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hi"}}
    scripted.play(
        [{"update": text}, {"ask": asks("a")}, {"request": ["odd/method", {}]}],
        [{"ask": asks("b")}, {"ask": asks("a")}, {"wait": "session/cancel"}, {"end": "cancelled"}],
        [{"fail": [-32603, "the model is out"]}],
        initialize={"agentCapabilities": {"promptCapabilities": {"embeddedContext": True}}},
    )
    (tmp_path / "file.txt").write_text("one\ntwo\n")
    async with running(make_agent(scripted.command, tmp_path)) as client:
        client.agent.open_chat(CHAT)
        file = FileContext(str(tmp_path / "file.txt"))
        client.agent.prompt(Prompt(CHAT, "first", (file,)))
        asked = await requested(client, 1)
        assert [it.name for it in asked.choices] == [it["name"] for it in CHOICES]
        client.agent.decide(CHAT, asked.call.id, asked.choices[2].id)
        await client.until(lambda: client.ends == [TurnEnd.DONE])
        client.agent.prompt(Prompt(CHAT, "second"))
        client.agent.decide(CHAT, (await requested(client, 2)).call.id, None)
        await requested(client, 3)
        client.agent.stop(CHAT)
        await client.until(lambda: len(client.ends) == 2)
        client.agent.prompt(Prompt(CHAT, "third"))
        await client.until(lambda: len(client.ends) == 3)
        assert client.ends[2] is TurnEnd.FAILED
        assert "the model is out" in (client.all(TurnEnded)[2].message or "")
    assert scripted.faults() == []
    assert scripted.answers() == [
        {"outcome": {"outcome": "selected", "optionId": "there"}},
        {"error": "odd/method is not known here", "code": -32601},
        {"outcome": {"outcome": "selected", "optionId": "no"}},
        {"outcome": {"outcome": "cancelled"}},
    ]


async def test_what_no_recording_shows_is_shown(scripted: Scripted, tmp_path: Path) -> None:
    said = [{"type": "text", "text": "in short"}]
    scripted.play(
        [
            {"ask": edits("a")},
            update("tool_call_update", toolCallId="a", status="completed"),
            update("notice", severity="warning", title="Slow", description="The model waits"),
            update("compaction_update", compactionId="c", status="in_progress"),
            update("compaction_summary_chunk", compactionId="c", content=said[0]),
            update("compaction_update", compactionId="c", status="completed", summary=said),
        ],
        [{"withdraw": asks("b")}, update("tool_call_update", toolCallId="b", status="completed")],
        session={"configOptions": OPTIONS},
    )
    async with running(make_agent(scripted.command, tmp_path)) as client:
        client.agent.open_chat(CHAT)
        for option, value in (("fast", True), ("model", "b")):
            client.agent.set_option(CHAT, option, value)
        client.agent.prompt(Prompt(CHAT, "first"))
        asked = await requested(client, 1)
        changed = [(Path(it.path).name, it.old, it.new) for it in asked.call.changes or ()]
        assert changed == [
            ("one.txt", "one\n", "ONE\n"), ("new.txt", None, "new\n"),
            ("one.txt", "two\n", "TWO\n"),
        ]  # fmt: skip
        client.agent.decide(CHAT, asked.call.id, asked.choices[0].id)
        await client.until(lambda: client.ends == [TurnEnd.DONE])
        assert client.all(NoticeReceived) == [NoticeReceived("Slow\nThe model waits")]
        assert [it.outputs for it in client.all(ToolFinished)][1:] == [("in short",)]
        client.agent.prompt(Prompt(CHAT, "second"))
        await client.until(lambda: len(client.ends) == 2)
        withdrawn = [it.call.id for it in client.all(ApprovalWithdrawn)]
        assert withdrawn == [client.all(ToolRequested)[-1].call.id]
    assert scripted.faults() == []
    assert {"error": "the request was cancelled", "code": -32800} in scripted.answers()
    sent = [it["params"] for it in scripted.report if it.get("method") == SETTINGS]
    assert [it["value"] for it in sent] == [True, "b"]


async def test_a_request_that_we_fail_to_read_is_answered(
    scripted: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("a bug of ours")

    monkeypatch.setattr(Inbox, "requested", fail)
    scripted.play([{"ask": asks("a")}])
    async with running(make_agent(scripted.command, tmp_path)) as client:
        client.agent.open_chat(CHAT)
        assert (await client.say("first")).end is TurnEnd.DONE
        assert any("a bug of ours" in it.text for it in client.all(MessageShown))
    [answer] = scripted.answers()
    assert answer["code"] == -32603

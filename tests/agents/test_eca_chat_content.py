"""Every kind of content, and of tool details, turned into its event."""

import json

import pytest
from tests.support.calls import eca_call
from tests.support.screen import Value

from eca_nvim.agents.eca.contents import ToolCallReader, choices, content_event
from eca_nvim.agents.eca.older.draft import shown
from eca_nvim.agents.eca.older.forms import read_notification
from eca_nvim.chat.vocabulary import call_details as d
from eca_nvim.chat.vocabulary import events as e
from eca_nvim.chat.vocabulary.call_details import ToolCall
from eca_nvim.chat.vocabulary.events import ChatEvent, Role
from eca_nvim.chat.vocabulary.turn_events import (
    HookFinished,
    HookStarted,
    ImageReceived,
    LinkReceived,
    UsageCategory,
    UsageReported,
)
from eca_nvim.protocol.eca import tool_call as eca
from eca_nvim.protocol.eca.content import ContentReceived


def event_of(
    content: Value, role: str = "assistant", calls: ToolCallReader | None = None
) -> ChatEvent:
    """Read a content as it comes from the wire."""
    params = {"chatId": "c", "role": role, "content": content}
    received = read_notification("chat/contentReceived", params)
    assert isinstance(received, ContentReceived)
    if isinstance(received.content, eca.ToolCall):
        return (calls or ToolCallReader()).event(received.content)
    return content_event(received)


PLAIN = [
    ({"type": "text", "text": "Hi"}, e.TextReceived(Role.ASSISTANT, "Hi")),
    ({"type": "url", "title": "T", "url": "u:1"}, LinkReceived("T", "u:1")),
    ({"type": "url", "url": "u:1"}, LinkReceived("u:1", "u:1")),
    (
        {"type": "image", "mediaType": "image/png", "base64": "AAAA"},
        ImageReceived("image/png", "AAAA"),
    ),
    ({"type": "progress", "state": "running", "text": "Busy"}, e.ProgressChanged("Busy")),
    (
        {"type": "progress", "state": "running", "text": "Oh. Retrying in 2s (attempt 1/10)"},
        e.ProgressChanged("Oh. Retrying in 2s (attempt 1/10)", is_retry=True),
    ),
    ({"type": "reasonStarted", "id": "r"}, e.ReasoningStarted("r")),
    ({"type": "reasonText", "id": "r", "text": "Hm"}, e.ReasoningText("r", "Hm")),
    ({"type": "reasonFinished", "id": "r", "totalTimeMs": 12}, e.ReasoningFinished("r", 12)),
    (
        {"type": "hookActionStarted", "id": "h", "name": "lint", "actionType": "shell"},
        HookStarted("h", "lint"),
    ),
    (
        {"type": "hookActionFinished", "id": "h", "name": "lint", "status": 1, "output": "out",
         "error": "err", "toolCallId": "t"},
        HookFinished("h", "lint", 1, "out", "err"),
    ),
    ({"type": "metadata", "title": "A title"}, e.TitleChanged("A title")),
    ({"type": "flag", "text": "Here", "contentId": "f"}, e.FlagReceived("Here", "f")),
]  # fmt: skip


@pytest.mark.parametrize(("content", "event"), PLAIN)
def test_a_content_becomes_its_event(content: Value, event: ChatEvent) -> None:
    assert event_of(content) == event


@pytest.mark.parametrize(
    ("role", "ours"),
    [
        ("user", Role.USER),
        ("assistant", Role.ASSISTANT),
        ("system", Role.SYSTEM),
        ("robot", Role.SYSTEM),
    ],
)
def test_text_keeps_its_role_and_id(role: str, ours: Role) -> None:
    content = {"type": "text", "text": "Hi", "contentId": "x"}
    assert event_of(content, role) == e.TextReceived(ours, "Hi", "x")


def test_usage_is_read_whole() -> None:
    category = {"name": "Skills", "tokens": 28, "color": "#e5c07b", "emoji": "🟨"}
    breakdown = {"categories": [category], "freeTokens": 90, "freeColor": "#5c6370"}
    content = {
        "type": "usage",
        "sessionTokens": 10,
        "lastMessageCost": "0.01",
        "sessionCost": "0.02",
        "limit": {"context": 100, "output": 50},
        "autoCompactPercentage": 75,
        "contextBreakdown": breakdown,
    }
    assert event_of(content, "system") == UsageReported(
        session_tokens=10,
        context_limit=100,
        output_limit=50,
        last_message_cost="0.01",
        session_cost="0.02",
        auto_compact_percentage=75,
        categories=(UsageCategory("Skills", 28, "#e5c07b"),),
        free_tokens=90,
        free_color="#5c6370",
    )


def test_usage_of_an_unknown_model_has_tokens_only() -> None:
    event = event_of({"type": "usage", "sessionTokens": 10, "limit": None})
    assert event == UsageReported(session_tokens=10)


def test_the_limit_may_be_told_by_the_breakdown() -> None:
    content = {"type": "usage", "sessionTokens": 1, "contextBreakdown": {"contextLimit": 7}}
    assert event_of(content) == UsageReported(session_tokens=1, context_limit=7)


CALL = {"id": "t", "name": "edit", "server": "eca", "origin": "native", "summary": "Editing"}
OURS = eca_call("t", "edit", "eca", "native", "Editing")


def called(**more: Value) -> ToolCall:
    """Build the call of the messages below, with its arguments."""
    return eca_call("t", "edit", "eca", "native", "Editing", arguments={"a": 1}, **more)


def test_a_call_goes_through_all_its_states() -> None:
    arguments = {**CALL, "arguments": {"a": 1}}
    output = {"type": "text", "text": "done"}
    assert event_of({**CALL, "type": "toolCallPrepare", "argumentsText": '{"a'}) == (
        e.ToolPreparing(OURS, '{"a')
    )
    assert event_of({**arguments, "type": "toolCallRun", "manualApproval": True}) == (
        e.ToolRequested(called(), needs_approval=True, choices=choices(called()))
    )
    assert event_of({**arguments, "type": "toolCallRunning"}) == (
        e.ToolRunning(called(), is_approved=True)
    )
    finished = {**arguments, "type": "toolCalled", "outputs": [output], "totalTimeMs": 5}
    assert event_of(finished) == e.ToolFinished(called(), ("done",), total_ms=5)
    assert event_of({**finished, "error": True}) == (
        e.ToolFinished(called(), ("done",), failed=True, total_ms=5)
    )
    assert event_of({**arguments, "type": "toolCallRejected", "reason": "user"}) == (
        e.ToolRejected(called(), "user")
    )


def test_a_replayed_call_waits_for_nobody() -> None:
    event = event_of({**CALL, "type": "toolCallRun", "arguments": {"a": 1}})
    assert event == e.ToolRequested(called(), needs_approval=False)


def test_a_call_may_be_known_by_its_id_only() -> None:
    nothing = dict.fromkeys(("name", "server", "origin", "summary", "details", "totalTimeMs"))
    event = event_of({"type": "toolCalled", "id": "t", "error": None, **nothing})
    assert event == e.ToolFinished(eca_call("t"))


def test_a_cleared_plan_belongs_to_no_call() -> None:
    event = event_of({"type": "toolCalled", "details": {"type": "task", "tasks": []}})
    assert event == e.ToolFinished(eca_call("", details=d.TaskList(())))


DETAILS = [
    ({"type": "jsonOutputs", "jsons": ["{}", "[]"]}, d.JsonOutputs(("{}", "[]"))),
    (
        {"type": "subagent", "subagentChatId": "s", "agentName": "explorer", "model": "m",
         "variant": "high", "step": 1, "maxSteps": 9},
        d.Subagent("explorer", "s", "m", "high", 1, 9),
    ),
    (
        {"type": "task", "activeSummary": "Doing", "tasks": [
            {"id": 2, "subject": "S", "description": "D", "status": "in-progress",
             "priority": "high", "isBlocked": True, "blockedBy": [1]}]},
        d.TaskList(
            (d.Task("2", "S", d.TaskStatus.IN_PROGRESS, "D", "high", ("1",), blocked=True),),
            "Doing",
        ),
    ),
    (
        {"type": "shellCommand", "background": True, "commands": [
            {"command": "git", "args": ["status"], "approvalKey": "git status",
             "remembered": True},
            {"command": "sudo"}]},
        d.ShellCommand(
            (d.ShellPart("git", ("status",), "git status", remembered=True), d.ShellPart("sudo")),
            background=True,
        ),
    ),
    ({"type": "hologram", "text": "3D"}, d.UnknownDetails("hologram", "3D")),
]  # fmt: skip


@pytest.mark.parametrize(("details", "ours"), DETAILS)
def test_details_of_a_call(details: Value, ours: d.Details) -> None:
    event = event_of({"type": "toolCallRun", "id": "t", "details": details})
    assert isinstance(event, e.ToolRequested)
    assert event.call.details == ours


@pytest.mark.parametrize(("counts", "added", "removed"), [((2, 1), 2, 1), ((), 0, 0)])
def test_a_change_of_a_file(counts: tuple[int, ...], added: int, removed: int) -> None:
    counted = dict(zip(("linesAdded", "linesRemoved"), counts, strict=False))
    details = {"type": "fileChange", "path": "/a", "diff": "@@", **counted}
    event = event_of({"type": "toolCallRun", "id": "t", "details": details})
    assert isinstance(event, e.ToolRequested)
    assert event.call.changes == (d.FileChange("/a", "@@", added, removed),)


def test_an_unknown_kind_is_shown_by_its_text() -> None:
    event = event_of({"type": "poem", "text": "Roses", "rhyme": 3})
    assert event == e.UnknownReceived("poem", "Roses")


def test_an_unknown_kind_without_text_is_shown_whole() -> None:
    event = event_of({"type": "chart", "points": [1, 2]}, "system")
    assert isinstance(event, e.UnknownReceived)
    assert event.kind == "chart"
    assert json.loads(event.text) == {"points": [1, 2]}


def test_a_proposal_of_the_first_draft_is_shown_plainly() -> None:
    change = {"kind": "change", "content": "new text"}
    content = {"type": "fileChange", "description": "Fix", "file": "/a", "changes": [change]}
    params = {"chatId": "c", "role": "assistant", "content": content}
    received = read_notification("chat/contentReceived", params)
    assert isinstance(received, ContentReceived)
    assert content_event(shown(received)) == e.UnknownReceived("fileChange", "Fix\n/a\nnew text")


@pytest.mark.parametrize("more", [{}, {"name": "gone"}, {"server": "files"}])
def test_a_call_that_waits_without_name_and_server_is_of_a_tool_that_does_not_exist(
    more: dict[str, str],
) -> None:
    waits = {"type": "toolCallRun", "id": "t", "manualApproval": True, **more}
    event = event_of(waits)
    assert isinstance(event, e.ToolRequested)
    assert (event.call.origin == "unknown") == (not more)
    runs = event_of({**waits, "manualApproval": False})
    assert isinstance(runs, e.ToolRequested)
    assert runs.call.origin != "unknown"


def test_a_call_that_is_repeated_is_the_same_value_until_anything_of_it_changes() -> None:
    calls = ToolCallReader()
    same = {"id": "c", "name": "read_file", "server": "eca", "arguments": {"path": "a", "limit": 1}}

    def read(kind: str, **more: Value) -> ToolCall:
        event = event_of({"type": kind, **same, **more}, calls=calls)
        assert isinstance(event, e.ToolRequested | e.ToolRunning | e.ToolFinished)
        return event.call

    requested = read("toolCallRun")
    assert read("toolCallRunning") is requested
    assert read("toolCalled", outputs=[], error=False) is requested
    changed = read("toolCallRunning", arguments={"path": "a", "limit": True})
    assert changed is not requested
    assert changed.arguments is not None
    assert changed.arguments["limit"] is True
    assert read("toolCallRunning", id="d").id == "d"

"""Updates of ACP agents that are no tool calls: messages, thoughts, plans, notices and more."""

from __future__ import annotations

import copy
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.agents.acp.played import RECORDINGS, recorded
from tests.agents.acp.wire import Wired, raw, text
from tests.protocol.test_mutations import CHANGES, mutated, paths_within

from eca_nvim.agents.acp.updates.quirks import MODE_IN_TEXT
from eca_nvim.chat.vocabulary.call_details import FileNamed, TaskStatus
from eca_nvim.chat.vocabulary.completion import Command, CommandsChanged
from eca_nvim.chat.vocabulary.events import (
    NoticeReceived,
    PlanChanged,
    ReasoningFinished,
    ReasoningStarted,
    ReasoningText,
    Role,
    TextReceived,
    TitleChanged,
    ToolFinished,
    UnknownReceived,
)
from eca_nvim.chat.vocabulary.options import OptionsChanged, Unasked
from eca_nvim.chat.vocabulary.states import Turn
from eca_nvim.chat.vocabulary.turn_events import ImageReceived, LinkReceived, UsageReported
from eca_nvim.protocol.acp import DecodeError, decode_agent_request, decode_notification
from eca_nvim.protocol.acp.tool_call import RequestPermission
from eca_nvim.protocol.acp.updates import SessionUpdated


@pytest.fixture
def wired() -> Wired:
    return Wired()


def says(wired: Wired, words: str, message: str | None = None) -> None:
    more = {} if message is None else {"messageId": message}
    wired.update("agent_message_chunk", content=text(words), **more)


def thinks(wired: Wired, words: str) -> None:
    wired.update("agent_thought_chunk", content=text(words))


# --- messages -----------------------------------------------------------------------------------


def test_another_message_begins_a_paragraph(wired: Wired) -> None:
    for words, message in [("one", "1"), (" more", "1"), ("", "2"), ("two", "2"), (".", "2")]:
        says(wired, words, message)
    assert wired.lines == ["one more", "", "two."]


def test_without_ids_a_message_goes_on(wired: Wired) -> None:
    for words in ("one", "", " more"):
        says(wired, words)
    assert wired.lines == ["one more"]


def test_a_thought_ends_with_what_is_shown_next(wired: Wired) -> None:
    thinks(wired, "hm")
    wired.update("usage_update", used=1, size=2)
    says(wired, "")
    thinks(wired, " well")
    says(wired, "yes")
    thinks(wired, "again")
    wired.call(title="look", kind="read")
    kinds = (ReasoningStarted, ReasoningText, ReasoningFinished, TextReceived)
    told = [event for event in wired.events if isinstance(event, kinds)]
    assert told == [
        ReasoningStarted("thought"),
        ReasoningText("thought", "hm"),
        ReasoningText("thought", " well"),
        ReasoningFinished("thought"),
        TextReceived(Role.ASSISTANT, "yes"),
        ReasoningStarted("thought#2"),
        ReasoningText("thought#2", "again"),
        ReasoningFinished("thought#2"),
    ]


def test_an_agent_that_was_started_again_has_thoughts_of_its_own(wired: Wired) -> None:
    thinks(wired, "hm")
    wired.start_again()
    thinks(wired, "well")
    wired.end()
    thoughts = [line for line in wired.driver.view.lines if "thought" in line]
    assert thoughts == ["▸ thought", "▸ thought"]


def test_a_thought_ends_with_its_turn(wired: Wired) -> None:
    thinks(wired, "hm")
    wired.end()
    assert wired.events[-1] == ReasoningFinished("thought")


def test_the_echo_of_a_prompt_is_not_shown_again(wired: Wired) -> None:
    link = {"type": "resource_link", "uri": "file:///workspace/a", "name": "a"}
    for content in (text("hel"), text("lo"), link):
        wired.update("user_message_chunk", content=content, messageId="u")
    says(wired, "hi")
    assert wired.driver.view.lines == ["hello", "hi"]


def test_what_the_user_said_before_is_one_message(wired: Wired) -> None:
    wired.end()
    wired.update("user_message_chunk", content=text("one "))
    wired.update("user_message_chunk", content=text("message"))
    wired.update("user_message_chunk", content=text("another"), messageId="2")
    says(wired, "hi")
    assert wired.lines[-3:] == ["one message", "another", "hi"]


@pytest.mark.parametrize(
    ("block", "event"),
    [
        (
            {"type": "image", "data": "AA", "mimeType": "image/png"},
            ImageReceived("image/png", "AA"),
        ),
        ({"type": "image", "data": "", "uri": "http://x/y"}, LinkReceived("image", "http://x/y")),
        ({"type": "audio", "data": "AA"}, LinkReceived("audio, 1 KB", "")),
        (
            {"type": "resource_link", "uri": "file:///a%20b/c%20d"},
            LinkReceived("c d", "file:///a%20b/c%20d"),
        ),
        ({"type": "resource_link", "uri": "u", "name": "n", "title": "t"}, LinkReceived("t", "u")),
        ({"type": "resource", "resource": {"uri": "a/b", "text": "x"}}, UnknownReceived("b", "x")),
        (
            {"type": "resource", "resource": {"uri": "b", "blob": "AA", "mimeType": "image/x"}},
            ImageReceived("image/x", "AA"),
        ),
        ({"type": "resource", "resource": {"uri": "a/b", "blob": "AA"}}, LinkReceived("b", "a/b")),
        ({"type": "hologram", "x": [1], "_meta": {}}, UnknownReceived("hologram", '{"x": [1]}')),
    ],
)
def test_each_block_is_shown(wired: Wired, block: object, event: object) -> None:
    assert wired.update("agent_message_chunk", content=block)[0] == event


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a%20b/c%20d", "/a b/c d"),
        ("file:///a/b#L3-L7", "/a/b"),
        ("file:///a/b#L3:9", "/a/b"),
        ("file:///a/b#Latin", "/a/b#Latin"),
        ("/a/./b", "/a/b"),
        ("file://elsewhere/a", None),
        ("https://x/a", None),
        ("a", None),
        ("", None),
        ("file:///a%00b", None),
    ],
)
def test_files_that_are_linked_or_contained_are_named(
    wired: Wired, uri: str, path: str | None
) -> None:
    link: dict[str, object] = {"type": "resource_link", "uri": uri, "name": "n"}
    inside: dict[str, object] = {"type": "resource", "resource": {"uri": uri, "text": "x"}}
    image: dict[str, object] = {"type": "image", "data": "AA", "uri": uri}
    named = [] if path is None else [FileNamed(path)]
    for block in (link, inside, image):
        events = wired.update("agent_message_chunk", content=block)
        assert [it for it in events if isinstance(it, FileNamed)] == named
    content = [{"type": "content", "content": block} for block in (link, inside)]
    wired.call(kind="read", locations=[{"path": "/a/b"}], content=content)
    events = wired.changes(status="completed")
    named = [it for it in named * 2 if it.path != "/a/b"]
    assert [it for it in events if isinstance(it, FileNamed)] == named
    wired.call("t2", content=content)
    assert not [it for it in wired.changes("t2", status="failed") if isinstance(it, FileNamed)]


def test_a_mode_in_the_text_is_no_text(wired: Wired) -> None:
    [changed] = wired.update("agent_message_chunk", content=text(f"{MODE_IN_TEXT}yolo\n"))
    assert isinstance(changed, OptionsChanged)
    assert changed.options[0].value == "yolo"
    assert changed.options[0].unasked == {"yolo": Unasked.ALL}
    says(wired, f"{MODE_IN_TEXT}is what it prints")
    assert wired.lines == [f"{MODE_IN_TEXT}is what it prints"]


# --- everything else ----------------------------------------------------------------------------


def test_a_plan_is_a_list_of_tasks(wired: Wired) -> None:
    entries = [
        {"content": "Look", "priority": "medium", "status": "completed"},
        {"content": "Change", "priority": "high", "status": "in_progress"},
        {"content": "Test", "status": "blocked"},
    ]
    [plan] = wired.update("plan", entries=entries)
    assert isinstance(plan, PlanChanged)
    assert [task.status for task in plan.tasks.tasks] == [
        TaskStatus.DONE,
        TaskStatus.IN_PROGRESS,
        TaskStatus.PENDING,
    ]
    assert wired.lines == [
        "▢ tasks 1/3 · Change",
        "  ✓ 1. Look",
        "  ◐ 2. Change  high",
        "  ▢ 3. Test",
    ]
    wired.update("plan", entries=[])
    assert wired.driver.chat.task_list is None


def test_commands_have_hints(wired: Wired) -> None:
    commands = [
        {"name": "memory show", "description": "Show it", "input": None, "_meta": {"skill": "…"}},
        {"name": "init", "description": None, "input": {"hint": "folder"}},
        {"description": "without a name"},
    ]
    assert wired.update("available_commands_update", availableCommands=commands) == [
        CommandsChanged((Command("memory show", "Show it"), Command("init", "", "folder")))
    ]


def test_a_title_may_be_missing(wired: Wired) -> None:
    assert wired.update("session_info_update", title="Greeting") == [TitleChanged("Greeting")]
    ours = "Greeting The cursor is in line 1, column 2 of /a"
    assert wired.update("session_info_update", title=ours) == [TitleChanged("Greeting")]
    for title in (None, ""):
        assert wired.update("session_info_update", title=title, updatedAt="2026") == []


@pytest.mark.parametrize(
    ("cost", "amount", "currency"),
    [
        (None, None, "USD"),
        ({"amount": 0.02, "currency": "EUR"}, "0.02", "EUR"),
        ({"amount": 0.00001}, "0.00001", "USD"),
        ({"amount": 3}, "3", "USD"),
        ({"amount": "much"}, None, "USD"),
    ],
)
def test_usage_has_tokens_and_costs(
    wired: Wired, cost: object, amount: str | None, currency: str
) -> None:
    assert wired.update("usage_update", used=53, size=200, cost=cost) == [
        UsageReported(53, 200, session_cost=amount, currency=currency)
    ]


def test_usage_without_a_cost_costs_as_much_as_before(wired: Wired) -> None:
    wired.update("usage_update", used=1, size=200, cost={"amount": 0.5, "currency": "EUR"})
    assert wired.update("usage_update", used=2, size=200) == [
        UsageReported(2, 200, session_cost="0.5", currency="EUR")
    ]


@pytest.mark.parametrize("severity", ["info", "warning", "error", "doom"])
def test_a_notice_is_shown(wired: Wired, severity: str) -> None:
    notice = wired.update("notice", severity=severity, title="Slow", description="The model waits")
    assert notice == [NoticeReceived("Slow\nThe model waits", is_error=severity == "error")]


def test_a_compaction_is_a_call_with_its_summary(wired: Wired) -> None:
    wired.update("compaction_update", compactionId="c", status="in_progress")
    assert wired.lines == ["● compact"]
    for words in ("What was ", "said."):
        wired.update("compaction_summary_chunk", compactionId="c", content=text(words))
    summary = [text("What was said, in short.")]
    wired.update("compaction_update", compactionId="c", status="completed", summary=summary)
    done = wired.events[-1]
    assert isinstance(done, ToolFinished)
    assert done.outputs == ("What was said, in short.",)
    assert wired.lines == ["✓ compact"]


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_a_compaction_may_fail(wired: Wired, status: str) -> None:
    wired.update("compaction_update", compactionId="c", status=status, error="too long")
    assert wired.lines == ["✗ compact", "  too long"]


def test_a_compaction_is_no_call_of_the_agent(wired: Wired) -> None:
    wired.call("compaction c", title="look", kind="read")
    wired.update("compaction_update", compactionId="c", status="completed")
    assert wired.lines == ["… read look", "✓ compact"]


def test_of_an_unknown_variant_the_first_is_a_line(wired: Wired) -> None:
    for number in range(3):
        wired.update("terminal_output_chunk", data=f"{number}\n", more={"x": "y" * 500})
    wired.update("", what="else")
    assert wired.lines[0] == "· terminal_output_chunk"
    assert len(wired.lines) == 4
    assert len(wired.lines[1]) < 250


def test_updates_may_come_when_no_turn_runs(wired: Wired) -> None:
    wired.end()
    says(wired, "one more thing")
    assert wired.lines[-1] == "one more thing"
    assert wired.driver.chat.turn.state is Turn.IDLE


# --- messages with changed fields -----------------------------------------------------------------


def _shapes() -> list[tuple[str, dict[str, Any]]]:
    shapes: dict[object, tuple[str, dict[str, Any]]] = {}
    for name in RECORDINGS:
        for line in recorded(name):
            message = line["msg"]
            if line["dir"] != "a2c" or not isinstance(message, dict):
                continue
            method, params = message.get("method", ""), message.get("params", {})
            if method not in ("session/update", "session/request_permission"):
                continue
            part = params.get("update") or params["toolCall"]
            kind = part.get("sessionUpdate")
            shapes.setdefault((kind, part.get("status"), *sorted(part)), (method, params))
    return [*shapes.values()]


SHAPES = _shapes()


@given(st.data())
@settings(max_examples=400, deadline=None)
def test_changed_messages_lose_nothing_but_themselves(data: st.DataObject) -> None:
    wired = Wired()
    for _ in range(data.draw(st.integers(1, 4))):
        method, params = data.draw(st.sampled_from(SHAPES))
        changed: Any = copy.deepcopy(params)
        for _ in range(data.draw(st.integers(0, 2))):
            place = data.draw(st.sampled_from([*paths_within(changed)]))
            changed = mutated(changed, place, data.draw(CHANGES))
        _send(wired, method, changed)
    says(wired, "still here")
    assert wired.lines[-1].endswith("still here")
    wired.end()
    assert wired.driver.chat.turn.state is Turn.IDLE
    assert wired.driver.items == []


def _send(wired: Wired, method: str, params: dict[str, Any]) -> None:
    """Send a message as it is; one that cannot be read is skipped."""
    with suppress(DecodeError):
        if method == "session/update":
            update = decode_notification(method, raw(params))
            assert isinstance(update, SessionUpdated)
            wired.take(wired.inbox.receive(update.update))
        else:
            asked = decode_agent_request(method, raw(params))
            assert isinstance(asked, RequestPermission)
            before, event = wired.inbox.requested("1", asked)
            wired.take([*before, event])

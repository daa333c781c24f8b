"""Failures and empty results are shown where they happened, as they were."""

import pytest
from tests.chat.driver import ENDED, Driver, call, said
from tests.support.calls import eca_call

from eca_nvim.agents.eca.replay import original_event
from eca_nvim.chat.render.whole_chat import transcript
from eca_nvim.chat.user_actions.earlier_messages import Page, show_history
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    AgentGone,
    ChatEvent,
    InsteadWanted,
    ReasoningText,
    Role,
    TextReceived,
    ToolFinished,
    ToolPreparing,
    ToolRejected,
    ToolRequested,
)
from eca_nvim.chat.vocabulary.ops import BlockKind
from eca_nvim.chat.vocabulary.turn_events import HookStarted

INSTEAD = "Tell the agent what to do differently"


@pytest.fixture
def driver() -> Driver:
    driver = Driver()
    driver.run("go")
    return driver


def test_an_answer_that_is_empty_is_called_so(driver: Driver) -> None:
    driver.hear(ENDED)
    told = "The agent ended its turn without an answer: send your prompt again, or see :Eca log."
    assert driver.view.lines[-1] == told


@pytest.mark.parametrize("events", [said("Hi"), [ToolPreparing(call(), "")]])
def test_an_answer_is_not_called_empty(driver: Driver, events: list[ChatEvent]) -> None:
    driver.hear(*events, ENDED)
    assert not any("without an answer" in line for line in driver.view.lines)


def test_neither_a_stop_nor_a_command_is_called_an_empty_answer(driver: Driver) -> None:
    driver.stop()
    driver.hear(ENDED)
    driver.run("/clear")
    driver.hear(ENDED)
    assert not any("without an answer" in line for line in driver.view.lines)


def test_a_call_that_the_model_did_not_complete_is_not_called_stopped(driver: Driver) -> None:
    driver.hear(ToolPreparing(call(), '{"path": "a", "x": '), ENDED)
    header, *told = driver.view.lines[-2:]
    assert header.startswith("✗ read a")
    assert "not valid JSON" in told[0]
    assert told[-1].endswith("Ask it to try again.")


@pytest.mark.parametrize(
    ("arguments", "header"), [("", "· read no result"), ('{"path": "a"}', "· read a no result")]
)
def test_no_reason_is_given_for_a_call_that_was_never_asked_for(
    driver: Driver, arguments: str, header: str
) -> None:
    driver.hear(ToolPreparing(call(), arguments), ENDED)
    assert driver.view.lines[-1] == header


def test_a_call_that_is_stopped_is_called_so(driver: Driver) -> None:
    driver.hear(ToolPreparing(call(), '{"path": "a", "x": '))
    driver.stop()
    driver.hear(ENDED)
    assert driver.view.lines[-1] == "⊘ read a stopped"


def test_the_reason_of_a_crash_comes_last_and_the_log_is_closed(driver: Driver) -> None:
    driver.hear(AgentGone("the server ended", ("INFO one", "INFO two")))
    assert driver.view.lines[-2:] == ["· the last lines of the server's log", "the server ended"]
    log = next(block for block in driver.chat.blocks.values() if block.kind == "note")
    driver.toggle(log.id)
    assert [line.strip("│ ") for line in driver.view.lines[-3:-1]] == ["INFO one", "INFO two"]


def test_the_next_process_may_use_the_ids_of_thoughts_and_hooks_again(driver: Driver) -> None:
    last = [ReasoningText("1", "as before"), HookStarted("1", "lint")]
    driver.hear(*last, AgentGone("the server ended"))
    before = len(driver.chat.blocks)
    driver.run("again")
    driver.hear(*last)
    kinds = [block.kind for block in [*driver.chat.blocks.values()][before:]]
    assert kinds == [BlockKind.USER, BlockKind.REASONING, BlockKind.HOOK]


def test_what_to_do_instead_is_not_asked_where_it_was_said(driver: Driver) -> None:
    driver.hear(ToolRequested(call("t1"), needs_approval=True))
    driver.reject("t1", "use pathlib")
    driver.hear(ToolRejected(call("t1")), InsteadWanted(INSTEAD))
    assert INSTEAD not in driver.view.lines
    driver.hear(ENDED)
    driver.hear(ToolRequested(call("t2"), needs_approval=True))
    driver.reject("t2")
    driver.hear(ToolRejected(call("t2")), InsteadWanted(INSTEAD))
    assert driver.view.lines[-1] == INSTEAD


@pytest.mark.parametrize(
    ("text", "content_id", "body"),
    [
        ("I rejected one or more tool calls with the following reason", None, ""),
        ("A user hook rejected one or more tool calls with the following reason\nno", None, "no"),
        (
            "The conversation was compacted/summarized, consider this summary:\nWe did\nmuch.",
            None,
            "We did\nmuch.",
        ),
        ("Background job job-1 (`sleep 7; exit 4`) failed with exit code 4.", "u2", ""),
        ("Background job job-12 (`x (y)`) completed.\nLast 20 lines of output:\nok", "u2", "ok"),
    ],
)
def test_what_the_server_told_the_model_is_no_prompt(
    text: str, content_id: str | None, body: str
) -> None:
    driver = Driver()
    told = TextReceived(Role.USER, f"\n{text}", content_id)
    prompt = TextReceived(Role.USER, "\ngo on", "u3")
    page = Page([original_event(Addressed("chat", it)) for it in (told, prompt)])
    driver.take(show_history(driver.chat, page, driver.now))
    title = text.partition("\n")[0]
    note, user = driver.chat.root.blocks
    assert user.kind is BlockKind.USER
    assert note.kind is not BlockKind.USER
    assert driver.view.lines[0].removeprefix("· ") == title
    assert not note.is_open or not body
    exported = transcript(driver.chat, driver.now)
    assert exported.count("## User") == 1
    assert exported.index(title) < exported.index("## User")
    assert body in exported


@pytest.mark.parametrize(
    ("text", "content_id"),
    [
        ("I rejected one or more tool calls, go on", "u2"),
        ("The conversation was compacted/summarized, consider this summary: x", "u2"),
        ("Background job job-1 (`make`) failed with exit code 4. Why?", "u2"),
        ("Background job job-1 is slow.", "u2"),
    ],
)
def test_what_the_user_wrote_like_the_server_stays_his(text: str, content_id: str) -> None:
    typed = Addressed("chat", TextReceived(Role.USER, text, content_id))
    assert original_event(typed) is typed


def test_a_replayed_rejected_call_without_a_name_says_what_it_was_about(driver: Driver) -> None:
    lost = eca_call("t9", arguments={"limit": 3, "path": "/workspace/a.py"})
    page = Page([original_event(Addressed("chat", ToolFinished(lost)))])
    driver.take(show_history(driver.chat, page, driver.now))
    assert driver.view.lines[-1] == "⊘ a call /workspace/a.py rejected"

"""Requests for permission of ACP agents: what they ask about, and what comes between."""

from __future__ import annotations

from typing import Any, TypeAlias

import pytest
from tests.agents.acp.no_process import NoProcess
from tests.agents.acp.wire import NO, YES, Wired, raw, shows
from tests.agents.client import Projects
from tests.support.growth import Work, is_linear

from eca_nvim.agents.acp.requests.grants import Granted
from eca_nvim.agents.acp.requests.permissions import Permissions
from eca_nvim.agents.acp.session import Session
from eca_nvim.chat.vocabulary.events import (
    ToolFinished,
    ToolOutput,
    ToolRunning,
)
from eca_nvim.protocol.acp import decode_agent_request
from eca_nvim.protocol.acp.tool_call import RequestPermission

Fields: TypeAlias = dict[str, Any]
RUN: Fields = {"title": "tidy up", "kind": "execute", "rawInput": {"command": "rm -rf x"}}
EDIT: Fields = {"title": "Edit a.txt", "kind": "edit"}
DIFF: Fields = {"type": "diff", "path": "/workspace/a.txt", "oldText": "two", "newText": "TWO"}


@pytest.fixture
def wired() -> Wired:
    return Wired()


def test_a_call_may_run_before_it_asks_1(wired: Wired) -> None:
    wired.call(status="in_progress", **RUN)
    request = wired.asks(status="pending")
    assert wired.waiting == ["$ rm -rf x"]
    wired.answer(request, "y")
    wired.changes(status="completed", content=[shows("gone")])
    assert wired.lines == ["✓ $ rm -rf x"]


def test_that_it_runs_is_held_back_until_the_answer_2(wired: Wired) -> None:
    request = wired.asks(**RUN)
    assert wired.changes(status="in_progress") == []
    assert wired.waiting == ["$ rm -rf x"]
    wired.answer(request, "y")
    assert isinstance(wired.events[-1], ToolRunning)


def test_an_answer_whose_id_another_has_is_not_offered(wired: Wired) -> None:
    wired.asks(NO | {"optionId": "x"}, YES | {"optionId": "x"}, **RUN)
    [item] = wired.driver.items
    assert item["choices"] == [{"id": "x", "name": "No", "kind": "reject_once"}]


def test_after_a_no_it_never_runs_9(wired: Wired) -> None:
    wired.answer(wired.asks(**RUN), "n")
    assert wired.changes(status="in_progress", content=[shows("x")]) == []
    wired.changes(status="failed", content=[shows("the user said no")])
    assert wired.lines == ["⊘ $ rm -rf x rejected"]


def test_what_ran_in_spite_of_a_no_is_shown(wired: Wired) -> None:
    wired.answer(wired.asks(**RUN), "n")
    wired.changes(status="completed")
    assert wired.lines == ["✓ $ rm -rf x"]


def test_a_rejected_call_may_ask_again(wired: Wired) -> None:
    wired.answer(wired.asks(**RUN), "n")
    wired.answer(wired.asks(**RUN), "y")
    wired.changes(status="completed")
    assert [wired.lines[0], wired.lines[-1]] == ["⊘ $ rm -rf x rejected", "✓ $ rm -rf x"]


def test_a_call_may_be_first_heard_of_in_its_request(wired: Wired) -> None:
    wired.answer(wired.asks(), "y")
    wired.changes(status="completed", title="now it has a title")
    assert wired.lines == ["✓ now it has a title"]


def test_a_sparse_request_asks_about_all_that_is_known(wired: Wired) -> None:
    wired.call(status="in_progress", **RUN)
    wired.asks()  # vibe sends the id alone
    assert wired.asked == ["$ rm -rf x"]


def test_arguments_may_change_between_a_call_and_its_request(wired: Wired) -> None:
    wired.call(status="pending", **RUN)
    wired.asks(rawInput={"command": "rm -rf y"})
    assert wired.waiting == ["$ rm -rf y"]
    wired.answer("1", "y")
    wired.changes(status="completed")
    assert wired.lines == ["✓ $ rm -rf y"]


@pytest.mark.parametrize("status", ["pending", "in_progress"])
def test_a_request_shows_nothing_of_earlier_arguments(wired: Wired, status: str) -> None:
    wired.call(status=status, title="do", kind="execute", rawInput={"command": "ls"})
    wired.asks(rawInput={"script": "rm"})
    assert wired.asked == ["script: rm"]
    wired.changes(rawInput={})
    assert wired.asked == ["script: rm"]


def test_what_changes_while_the_user_reads_is_asked_anew(wired: Wired) -> None:
    wired.asks(**RUN)
    before = wired.driver.shown("t1")
    wired.changes(rawInput={"command": "rm -rf /"})
    assert wired.waiting == ["$ rm -rf /"]
    assert wired.driver.shown("t1") != before


def test_a_number_that_becomes_true_is_a_change(wired: Wired) -> None:
    wired.asks(kind="execute", rawInput={"command": "ls", "force": 1})
    before = wired.driver.shown("t1")
    wired.changes(rawInput={"command": "ls", "force": True})
    assert wired.asked == ["$ ls", "force: true"]
    assert wired.driver.shown("t1") != before


def test_the_newest_request_of_a_call_counts(wired: Wired) -> None:
    wired.asks(**RUN)
    second = wired.asks({**YES, "optionId": "z"}, NO)
    wired.withdraw("1")
    assert wired.waiting == ["$ rm -rf x"]
    wired.answer(second, "z")
    assert wired.driver.decided == [("chat", "t1", "z")]


@pytest.mark.parametrize("began", [True, False])
def test_a_request_may_be_withdrawn(wired: Wired, began: bool) -> None:
    wired.call(status="in_progress" if began else "pending", **RUN)
    wired.withdraw(wired.asks())
    wired.withdraw("1")
    assert wired.waiting == []
    wired.changes(status="completed")
    assert wired.lines == ["✓ $ rm -rf x"]


def test_a_call_may_end_while_it_asks(wired: Wired) -> None:
    wired.asks(**RUN)
    wired.changes(status="failed", content=[shows("aborted")])
    assert wired.waiting == []
    assert wired.driver.view.fired("EcaApprovalResolved")[0]["outcome"] == "withdrawn"
    assert wired.lines == ["✗ $ rm -rf x", "  aborted"]


def test_text_before_the_answer_explains_the_call(wired: Wired) -> None:
    wired.asks(content=[shows("because of the dust\n$ rm -rf /")], **RUN)
    assert wired.asked == ["$ rm -rf x", "says: because of the dust", "  $ rm -rf /"]
    wired.answer("1", "y")
    wired.changes(status="completed")
    assert wired.lines == ["✓ $ rm -rf x"]
    assert wired.events[-1] == ToolFinished(wired.known())


def test_what_a_call_has_printed_does_not_explain_it(wired: Wired) -> None:
    wired.asks(content=[shows("because")], **RUN)
    wired.answer("1", "y")
    wired.changes(status="in_progress", content=[shows("printed")])
    wired.asks()
    assert wired.asked == ["$ rm -rf x"]
    wired.answer("2", "y")
    wired.changes(content=[shows("printed more")])
    assert wired.events[-1] == ToolOutput("t1", " more")


def test_an_explanation_that_is_an_argument_is_not_said_twice(wired: Wired) -> None:
    wired.asks(
        kind="execute", rawInput={"command": "ls", "description": "look"}, content=[shows("look")]
    )
    assert wired.asked == ["$ ls", "description: look"]


def test_an_answer_of_an_unknown_kind_is_not_offered(wired: Wired) -> None:
    wired.asks({**YES, "kind": "allow_for_a_week"}, YES, {"optionId": "x", "name": "?"}, NO, **RUN)
    [item] = wired.driver.items
    choices = item["choices"]
    assert isinstance(choices, list)
    assert [choice["id"] for choice in choices] == ["y", "n"]


def test_a_command_that_also_shows_a_diff_is_shown_whole(wired: Wired) -> None:
    command = "echo " + "x" * 300
    wired.asks(kind="execute", title="t", rawInput={"command": command}, content=[DIFF])
    assert wired.asked[:2] == ["path: /workspace/a.txt", f"command: {command}"]


def test_a_title_alone_is_warned_about(wired: Wired) -> None:
    wired.asks(title="harmless", kind="execute")
    assert wired.driver.items[0]["warnings"] == ["only the title says what it will do"]


def test_an_answer_costs_the_same_however_many_requests_are_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def answering(requests: int) -> Work:
        link = NoProcess()
        handler = Permissions(link, Granted(Projects()), ())
        session = Session("chat", "/workspace", link)
        calls: list[str] = []
        for number in range(requests):
            about = {"toolCallId": str(number), "title": "t", "kind": "other"}
            params = raw({"sessionId": "s", "toolCall": about, "options": [YES]})
            asked = decode_agent_request("session/request_permission", params)
            assert isinstance(asked, RequestPermission)
            calls.append(handler.ask(session, asked, request_id=number).call.id)

        def answer_all() -> None:
            for number, call in reversed(list(enumerate(calls))):
                if number % 2:
                    link.cancelled(number)
                else:
                    handler.decide(session, call, "y")
            assert not handler.count(session)

        return answer_all

    assert is_linear(answering, 300)

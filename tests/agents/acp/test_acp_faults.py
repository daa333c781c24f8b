"""Errors of agents in one line, in their words."""

import json
from typing import cast

import pytest
from tests.agents.acp.no_process import PROGRAM, NoProcess

from eca_nvim.agents.acp.link import Link
from eca_nvim.agents.process_agent import Tasks, events_of
from eca_nvim.chat.vocabulary.agent_events import AgentEvent
from eca_nvim.jsonrpc import MessageId, Request
from eca_nvim.transport import Connection, RemoteError


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (None, "it failed: no luck"),
        ("quota", "it failed: no luck: quota"),
        ({"details": "a\nb"}, "it failed: no luck: a b"),
        ({"message": "no"}, "it failed: no luck"),
        ([json], "it failed: no luck"),
    ],
)
def test_an_error_is_in_the_agents_words(data: object, line: str) -> None:
    assert NoProcess().line("it failed", RemoteError(400, "no\nluck", data)) == line


def test_a_request_that_met_a_bug_is_not_taken_back_later() -> None:
    failed, taken_back = list[MessageId](), list[int]()

    class Answers:
        def respond_error(self, request_id: MessageId, *_error: object) -> None:
            failed.append(request_id)

    connection, tasks = cast("Connection", Answers()), cast("Tasks", None)
    link = Link(connection, tasks, PROGRAM, list[AgentEvent]().extend)

    def stumble(_message: object) -> list[AgentEvent]:
        link.on_cancel(1, lambda: taken_back.append(1))
        raise KeyError("odd")

    assert len(events_of(Request(1, "ask", None), stumble, link.refuse)) == 1
    link.cancelled(1)
    assert (failed, taken_back) == ([1], [])

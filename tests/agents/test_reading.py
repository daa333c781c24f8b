"""Messages that meet a bug of ours: it is shown, a request is answered, and the next is read."""

from pathlib import Path

import pytest
from tests.agents.client import make_agent, running
from tests.support import script
from tests.support.factories import PrepareScript

from eca_nvim.agents.eca import requests
from eca_nvim.agents.process_agent import events_of
from eca_nvim.chat.vocabulary.agent_events import AgentEvent, MessageShown
from eca_nvim.chat.vocabulary.events import TextReceived
from eca_nvim.jsonrpc import INTERNAL_ERROR, MessageId, Notification, Request
from eca_nvim.transport import Incoming

pytestmark = pytest.mark.anyio


def stumble(*_: object) -> list[AgentEvent]:
    """Be the bug."""
    raise KeyError("odd")


class Answers:
    """Keeps which requests got an error."""

    def __init__(self) -> None:
        self.failed: list[MessageId] = []

    def respond_error(self, request_id: MessageId, *_error: object) -> None:
        self.failed.append(request_id)


def test_a_notification_is_shown_as_an_error() -> None:
    answers = Answers()
    message = Notification("chat/\x07odd\nx", None)
    [shown] = events_of(message, stumble, answers.respond_error)
    assert isinstance(shown, MessageShown)
    assert (shown.level, shown.text) == ("error", "cannot read chat/␇odd x: 'odd'; see :Eca log")
    assert answers.failed == []


def test_a_request_is_answered_too() -> None:
    answers = Answers()
    message: Incoming = Request(7, "ask", None)
    assert len(events_of(message, stumble, answers.respond_error)) == 1
    assert answers.failed == [7]


async def test_a_server_waits_for_no_answer_that_a_bug_has_eaten(
    scripted_server: PrepareScript, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "decode_server_request", stumble)
    asked = script.ask("editor/getDiagnostics", {})
    server = scripted_server(script.handshake(), asked, script.text("the end"))
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.first(TextReceived)
        assert [it.level for it in client.all(MessageShown)] == ["error"]
    [answer] = server.answers()
    assert answer["error"] == {
        "code": INTERNAL_ERROR,
        "message": "the client failed to read the request",
    }

"""Messages of ACP agents as they are on the wire, read by an inbox and shown in a chat."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
from tests.chat.driver import Driver

from eca_nvim.agents.acp.inbox import Inbox
from eca_nvim.chat.model.blocks import ToolBlock
from eca_nvim.chat.vocabulary.call_details import ToolCall
from eca_nvim.chat.vocabulary.events import AgentGone, ChatEvent
from eca_nvim.chat.vocabulary.turn_events import TurnBegan, TurnEnded
from eca_nvim.protocol.acp import decode_agent_request, decode_notification
from eca_nvim.protocol.acp.tool_call import RequestPermission
from eca_nvim.protocol.acp.updates import SessionUpdated

YES: Final = {"optionId": "y", "name": "Yes", "kind": "allow_once"}
NO: Final = {"optionId": "n", "name": "No", "kind": "reject_once"}
FOLDER: Final = "/workspace"


def text(words: str) -> dict[str, object]:
    return {"type": "text", "text": words}


def shows(words: str) -> dict[str, object]:
    return {"type": "content", "content": text(words)}


def raw(params: Mapping[str, Any]) -> msgspec.Raw:
    return msgspec.Raw(json.dumps(params).encode())


class Wired:
    """An agent's session, and the chat that shows it; a turn runs."""

    def __init__(self) -> None:
        self.inbox = Inbox(FOLDER, "")
        self.driver = Driver((FOLDER,))
        self.events: list[ChatEvent] = []
        self.requests = 0
        self.calls: dict[str, str] = {}
        """The calls that are asked about, by the newest request."""
        self.begin()

    def begin(self, prompt: str = "hello") -> None:
        self.driver.send(prompt)
        self.take(self.inbox.turn_began())
        self.driver.hear_exactly(TurnBegan())

    def start_again(self) -> None:
        """Let the agent end, and another one take its place."""
        self.driver.hear_exactly(AgentGone("exit code 1"))
        self.inbox = Inbox(FOLDER, "second ")
        self.begin("again")

    def end(self) -> None:
        self.take(self.inbox.turn_ended())
        self.driver.hear_exactly(TurnEnded())

    def update(self, variant: str, /, **fields: object) -> Sequence[ChatEvent]:
        """Send an update; returns its events."""
        params = {"sessionId": "s", "update": {"sessionUpdate": variant, **fields}}
        message = decode_notification("session/update", raw(params))
        assert isinstance(message, SessionUpdated)
        return self.take(self.inbox.receive(message.update))

    def call(self, call_id: str = "t1", /, **fields: object) -> Sequence[ChatEvent]:
        return self.update("tool_call", toolCallId=call_id, **fields)

    def changes(self, call_id: str = "t1", /, **fields: object) -> Sequence[ChatEvent]:
        return self.update("tool_call_update", toolCallId=call_id, **fields)

    def asks(self, *options: object, call: str = "t1", **fields: object) -> str:
        """Ask for permission; returns the id of the request."""
        self.requests += 1
        request = str(self.requests)
        about = {"toolCallId": call, **fields}
        params = {"sessionId": "s", "toolCall": about, "options": options or (YES, NO)}
        asked = decode_agent_request("session/request_permission", raw(params))
        assert isinstance(asked, RequestPermission)
        before, event = self.inbox.requested(request, asked)
        self.take([*before, event])
        older = [it for it, call in self.calls.items() if call == event.call.id]
        for it in older:
            del self.calls[it]
        self.calls[request] = event.call.id
        return request

    def answer(self, request: str, option: str, call: str | None = None) -> None:
        """Answer a request as the user does; `call`: if others wait, too."""
        [item] = [it for it in self.driver.items if call in (None, it["call"])]
        block, digest = item["block"], item["digest"]
        assert isinstance(block, int)
        assert isinstance(digest, str)
        asked = self.driver.chat.blocks[block]
        assert isinstance(asked, ToolBlock)
        [choice] = [it for it in asked.choices if it.id == option]
        self.driver.decide_shown((block, digest), option)
        event = self.inbox.calls.decided(self.calls[request], choice)
        self.take([] if event is None else [event])

    def withdraw(self, request: str) -> None:
        if request in self.calls:
            self.take(self.inbox.calls.withdrawn(self.calls[request]))

    @property
    def lines(self) -> list[str]:
        """What the chat shows below the first prompt."""
        return self.driver.view.lines[1:]

    @property
    def waiting(self) -> list[object]:
        return [item["title"] for item in self.driver.items]

    @property
    def asked(self) -> list[str]:
        """The body of the only request that waits."""
        [item] = self.driver.items
        lines = item["lines"]
        assert isinstance(lines, (list, tuple))
        return [*map(str, lines)]

    def known(self) -> ToolCall:
        """Return what the last event says of its call."""
        call = getattr(self.events[-1], "call", None)
        assert isinstance(call, ToolCall)
        return call

    def take(self, events: Iterable[ChatEvent]) -> Sequence[ChatEvent]:
        taken = [*events]
        self.events += taken
        self.driver.hear_exactly(*taken)
        return taken

"""Turns in which an agent on the official SDK runs commands in terminals of ours."""

from tests.agents.acp.acp_client import CHAT, AcpClient
from tests.agents.acp.scripted import Scripted, Value

from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import (
    ToolFinished,
    ToolOutput,
    ToolRequested,
)
from eca_nvim.chat.vocabulary.states import TurnEnd

CHOICES = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
]
ALWAYS = 2
"""The place of that answer."""
STUBBORN = "trap '' TERM HUP; printf ready; while :; do sleep 1; done"
WAIT = ["terminal/wait_for_exit", {"terminalId": "TERMINAL"}]
READ = ["terminal/output", {"terminalId": "TERMINAL"}]
KILL = ["terminal/kill", {"terminalId": "TERMINAL"}]
RELEASE = ["terminal/release", {"terminalId": "TERMINAL"}]
SHOWN = [{"type": "terminal", "terminalId": "TERMINAL"}]


def asks(line: str, call: str = "c") -> Value:
    """Request permission for a command."""
    shown = {"toolCallId": call, "title": "run it", "kind": "execute"}
    return {"ask": {"toolCall": shown | {"rawInput": {"command": line}}, "options": CHOICES}}


def create(line: str, **more: Value) -> Value:
    """Run a line as a shell does."""
    return {"request": ["terminal/create", {"command": "/bin/sh", "args": ["-c", line], **more}]}


def update(variant: str = "tool_call_update", call: str = "c", /, **members: Value) -> Value:
    return {"update": {"sessionUpdate": variant, "toolCallId": call} | members}


def ends(call: str) -> Value:
    return update("tool_call_update", call, status="completed")


def request(method_and_params: Value) -> Value:
    return {"request": method_and_params}


class Chatting:
    """A client that answers what it is asked."""

    def __init__(self, client: AcpClient, scripted: Scripted) -> None:
        self.client = client
        self.scripted = scripted
        self._answered = 0

    @property
    def asked(self) -> list[ToolRequested]:
        return [it for it in self.client.all(ToolRequested) if it.needs_approval]

    @property
    def printed(self) -> str:
        return "".join(it.text for it in self.client.all(ToolOutput))

    async def answer(self, place: int = 0) -> ToolRequested:
        """Wait for the next question, and answer it."""
        self._answered += 1
        await self.client.until(lambda: len(self.asked) >= self._answered)
        asked = self.asked[self._answered - 1]
        self.client.agent.decide(CHAT, asked.call.id, asked.choices[place].id, asked.call)
        return asked

    async def prints(self, text: str) -> None:
        await self.client.until(lambda: text in self.printed)

    async def ends(self, end: TurnEnd = TurnEnd.DONE) -> list[Value]:
        """Wait for the end of the turn; returns the answers that the agent got."""
        await self.client.until(lambda: self.client.ends)
        assert self.client.ends == [end]
        assert self.scripted.faults() == []
        return self.scripted.answers()

    async def finished(self) -> ToolFinished:
        return await self.client.first(ToolFinished)


async def chatting(client: AcpClient, scripted: Scripted) -> Chatting:
    client.agent.open_chat(CHAT)
    client.agent.prompt(Prompt(CHAT, "go"))
    return Chatting(client, scripted)

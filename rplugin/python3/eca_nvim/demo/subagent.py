"""A subagent of the demo: a chat of its own inside a tool call.

Rules kept here: messages as the real server sends them. Its contents name the parent's chat, its
status does not; it is never opened; a call of its that is rejected goes back to its model.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from eca_nvim.demo.tools import Outcome, Plan
from eca_nvim.demo.turn import Chat, Turn

MOST_STEPS = 25

Work = Callable[["Helper"], Awaitable[str]]
"""What a subagent does; returns what it reports to the model that sent it."""


@dataclass(frozen=True, slots=True)
class Errand:
    """What a subagent is sent for."""

    agent: str
    activity: str
    task: str


class Helper:
    """A subagent at work."""

    def __init__(self, parent: Turn, errand: Errand, work: Work) -> None:
        call_id = str(uuid.uuid4())
        self._call_id = call_id
        self._chat = Chat(f"subagent-{call_id}")
        self._parent = parent
        self._errand = errand
        self._work = work
        self._step = 1
        self.turn = parent.inner(self._chat, errand.task)

    async def run(self) -> Outcome:
        """Work inside a tool call of the parent."""
        self._parent.chat.helpers.append(self._chat)
        try:
            return await self._parent.call(self._plan(), self._call_id)
        finally:
            self._parent.chat.helpers.remove(self._chat)

    def step(self) -> None:
        """Begin the next step, and tell so."""
        self._step += 1
        self._parent.runs(self._call_id, self._plan())

    def _plan(self) -> Plan:
        errand = self._errand
        details = {
            "type": "subagent",
            "subagentChatId": self._chat.id,
            "model": "demo/scripted",
            "agentName": errand.agent,
            "step": self._step,
            "maxSteps": MOST_STEPS,
        }
        arguments = {"agent": errand.agent, "task": errand.task, "activity": errand.activity}
        summary = f"{errand.agent}: {errand.activity}"
        return Plan("spawn_agent", summary, arguments, self._answer, details)

    async def _answer(self) -> Outcome:
        turn = self.turn
        turn.content("user", {"type": "text", "text": f"{self._errand.task}\n"})
        turn.status("running")
        turn.progress("Waiting model")
        result = await self._work(self)
        turn.status("idle")
        turn.finished()
        turn.usage()
        return Outcome((f"## Agent '{self._errand.agent}' Result\n\n{result}",))

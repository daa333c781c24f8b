"""A subagent of the demo: a chat of its own inside a tool call.

Rules kept here: it sends messages as the real server does. Its contents name the parent's chat, its
status does not. It sends no chat/opened. When one of its calls is rejected, it goes on.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from eca_nvim.demo.tools import Outcome, Plan
from eca_nvim.demo.turn import Chat, Turn

MOST_STEPS = 25

Work = Callable[["Subagent"], Awaitable[str]]
"""What a subagent does; returns its report to the parent's model."""


@dataclass(frozen=True, slots=True)
class SubagentTask:
    """The task of a subagent."""

    agent: str
    activity: str
    task: str


class Subagent:
    """A running subagent."""

    def __init__(self, parent: Turn, task: SubagentTask, work: Work) -> None:
        call_id = str(uuid.uuid4())
        self._call_id = call_id
        self._chat = Chat(f"subagent-{call_id}")
        self._parent = parent
        self._task = task
        self._work = work
        self._step = 1
        self.turn = parent.subagent_turn(self._chat, task.task)

    async def run(self) -> Outcome:
        """Run inside a tool call of the parent."""
        self._parent.chat.subagents.append(self._chat)
        try:
            return await self._parent.call(self._plan(), self._call_id)
        finally:
            self._parent.chat.subagents.remove(self._chat)

    def step(self) -> None:
        """Begin the next step, and report it."""
        self._step += 1
        self._parent.report_running(self._call_id, self._plan())

    def _plan(self) -> Plan:
        task = self._task
        details = {
            "type": "subagent",
            "subagentChatId": self._chat.id,
            "model": "demo/scripted",
            "agentName": task.agent,
            "step": self._step,
            "maxSteps": MOST_STEPS,
        }
        arguments = {"agent": task.agent, "task": task.task, "activity": task.activity}
        summary = f"{task.agent}: {task.activity}"
        return Plan("spawn_agent", summary, arguments, self._answer, details)

    async def _answer(self) -> Outcome:
        turn = self.turn
        turn.content("user", {"type": "text", "text": f"{self._task.task}\n"})
        turn.status("running")
        turn.progress("Waiting model")
        result = await self._work(self)
        turn.status("idle")
        turn.finished()
        turn.usage()
        return Outcome((f"## Agent '{self._task.agent}' Result\n\n{result}",))

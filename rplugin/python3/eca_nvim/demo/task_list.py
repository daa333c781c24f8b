"""The demo's task tool: each call sends the whole list of tasks, as the real server does."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from eca_nvim.demo.tools import Outcome, Plan

WORK_S = 0.4
"""Seconds that a step pretends to take, so that it can be seen."""


class TaskList:
    """Tasks, each of which waits for the one before it."""

    def __init__(self, *subjects: str) -> None:
        self._subjects = subjects
        self._states = ["pending"] * len(subjects)

    def plan(self) -> Plan:
        """Create the list."""
        return self._call({"op": "plan", "tasks": [{"subject": it} for it in self._subjects]})

    def start(self, number: int) -> Plan:
        """Begin a task, counted from 1."""
        self._states[number - 1] = "in-progress"
        return self._call({"op": "start", "ids": [number]}, self._subjects[number - 1])

    def complete(self, number: int) -> Plan:
        """End a task, counted from 1."""
        self._states[number - 1] = "done"
        return self._call({"op": "complete", "ids": [number]})

    def _call(self, arguments: Mapping[str, object], doing: str | None = None) -> Plan:
        async def run() -> Outcome:
            await asyncio.sleep(WORK_S)
            return Outcome((f"{arguments['op']}: done",))

        details = {"type": "task", "tasks": self._tasks(), "activeSummary": doing}
        return Plan("task", "Working on the plan", arguments, run, details)

    def _tasks(self) -> list[Mapping[str, object]]:
        return [
            {
                "id": number,
                "subject": subject,
                "status": state,
                "priority": "high" if number == 1 else "medium",
                "blockedBy": [number - 1] if number > 1 else [],
                "isBlocked": number > 1 and self._states[number - 2] != "done",
            }
            for number, (subject, state) in enumerate(
                zip(self._subjects, self._states, strict=True), 1
            )
        ]

"""Many things at once cost as much as one, times their number: counted in work, not seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import FrameType
from typing import TypeAlias

import pytest
from tests.review.desk import Trees
from tests.support.calls import eca_call
from tests.support.told import Recorder

from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.vocabulary.agent_events import AgentEvent
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    QuestionAsked,
    Role,
    TextReceived,
    ToolFinished,
    ToolPreparing,
    ToolRequested,
    ToolRunning,
)
from eca_nvim.chat.vocabulary.ops import ViewOp
from eca_nvim.nvim.frames import FrameQueue, packed
from eca_nvim.redaction import Redactor
from eca_nvim.session.chats import Chats
from eca_nvim.session.incoming import IncomingEvents
from eca_nvim.session.options import Options
from eca_nvim.session.persistence import Persistence
from eca_nvim.session.trust import Trust

FEW, MANY = 100, 1000
MOST = 13
"""How many times the work ten times as much may be: linear work is 10 times."""
LESS = 0.4
"""How much of the work many events may be that come together."""
Batch: TypeAlias = Sequence[AgentEvent]
"""Events that come together."""


class Screen:
    """Takes ops, cuts frames of them and packs these, as they are due."""

    def __init__(self) -> None:
        self._queue = FrameQueue()
        self._clock = 0.0
        self.bytes = self.ops = 0

    def push(self, ops: Iterable[ViewOp]) -> None:
        self._queue.push(ops)

    def draw(self) -> None:
        """Draw the next frame if it is due, as after each read."""
        self._clock += 0.001
        frame = self._queue.take(self._clock)
        if frame is not None:
            self._draw(frame.number, frame.ops)

    def finish(self) -> None:
        """Draw all that waits."""
        while (frame := self._queue.take(self._clock)) is not None:
            self._draw(frame.number, frame.ops)
            self._clock += 1

    def _draw(self, number: int, ops: Iterable[ViewOp]) -> None:
        drawn = list(ops)
        self.ops += len(drawn)
        self.bytes += len(packed(drawn))
        self._queue.drawn(number, 1.0)


def question(number: int) -> Batch:
    asked = QuestionAsked(f"q{number}", f"which of these is number {number}?", (("a", "b"),))
    return [Addressed("chat", asked)]


def approval(number: int) -> Batch:
    call = eca_call(f"c{number}", "shell_command", arguments={"command": f"ls {number}"})
    return [Addressed("chat", ToolRequested(call, needs_approval=True))]


def read(number: int) -> Batch:
    call = eca_call(f"c{number}", "read_file", arguments={"path": f"/workspace/{number}"})
    return [Addressed("chat", ToolFinished(call, ("text",)))]


def command(number: int) -> Batch:
    call = eca_call(f"c{number}", "shell_command", arguments={"command": f"make test-{number}"})
    steps = (
        *(ToolPreparing(call), ToolPreparing(call, '{"command": "make test"}')),
        *(ToolRequested(call), ToolRunning(call), ToolFinished(call, ("text",))),
    )
    return [Addressed("chat", step) for step in steps]


def stranger(number: int) -> Batch:
    return [Addressed(f"chat {number}", TextReceived(Role.ASSISTANT, "hello"))]


def work(batches: Sequence[Batch]) -> tuple[int, int, int]:
    """Hear events, some at a time; gives calls of functions, ops and bytes for the screen."""
    screen, persistence = Screen(), Persistence(None, Screen(), 0)
    chats = Chats(
        screen, RenderSettings(folders=("/workspace",)), Trees(Path("/workspace"), None).ledger
    )
    chats.outside = lambda _server: Recorder()
    options = Options("eca", chats, persistence, screen, lambda: None, dict)
    trust = Trust("eca", chats, persistence)
    incoming = IncomingEvents(
        *("eca", chats, options, trust, screen, Redactor(), lambda _needed: None)
    )
    calls = 0

    def profile(_frame: FrameType, what: str, _argument: object) -> None:
        nonlocal calls
        calls += what == "call"

    sys.setprofile(profile)
    try:
        for batch in batches:
            incoming.receive(batch)
            screen.draw()
        screen.finish()
    finally:
        sys.setprofile(None)
    return calls, screen.ops, screen.bytes


@pytest.mark.parametrize("batch", [question, approval, read, command, stranger])
def test_ten_times_as_many_are_ten_times_the_work(batch: Callable[[int], Batch]) -> None:
    few, many = (work([batch(number) for number in range(count)]) for count in (FEW, MANY))
    told = dict(zip(("calls", "ops", "bytes"), zip(few, many, strict=True), strict=True))
    assert all(after <= MOST * before for before, after in told.values()), told


def test_calls_that_come_together_are_drawn_once_and_cost_less() -> None:
    told = [event for number in range(FEW) for event in command(number)]
    together, apart = work([told]), work([[event] for event in told])
    assert together[0] < LESS * apart[0]
    assert together[1] < apart[1]

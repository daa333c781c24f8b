"""Many things at once cost so many times what one costs: counted in work, not in seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import FrameType

import msgpack
import pytest

from eca_nvim.chat.details import ToolCall
from eca_nvim.chat.events import (
    Addressed,
    AgentEvent,
    QuestionAsked,
    Role,
    TextReceived,
    ToolFinished,
    ToolRequested,
)
from eca_nvim.chat.ops import ViewOp
from eca_nvim.chat.settings import RenderSettings
from eca_nvim.nvim.queue import FrameQueue
from eca_nvim.nvim.wire import wire_form
from eca_nvim.review.snapshots import Snapshot
from eca_nvim.session.chats import Chats
from eca_nvim.session.choices import Choices
from eca_nvim.session.hearing import Hearing
from eca_nvim.session.keeping import Keeper
from eca_nvim.session.trust import Trust

FEW, MANY = 100, 1000
MOST = 13
"""How many times the work ten times as much may be: linear work is 10 times."""


class Screen:
    """Takes ops, cuts frames of them and packs these, as they are due."""

    def __init__(self) -> None:
        self._queue = FrameQueue()
        self._clock = 0.0
        self.bytes = self.ops = 0

    def push(self, ops: Iterable[ViewOp]) -> None:
        self._queue.push(ops)
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
        packed = [wire_form(op) for op in ops]
        self.ops += len(packed)
        self.bytes += len(msgpack.packb(packed))
        self._queue.drawn(number, 1.0)


def question(number: int) -> AgentEvent:
    asked = QuestionAsked(f"q{number}", f"which of these is number {number}?", (("a", "b"),))
    return Addressed("chat", asked)


def approval(number: int) -> AgentEvent:
    call = ToolCall(f"c{number}", "shell_command", arguments={"command": f"ls {number}"})
    return Addressed("chat", ToolRequested(call, needs_approval=True))


def read(number: int) -> AgentEvent:
    call = ToolCall(f"c{number}", "read_file", arguments={"path": f"/workspace/{number}"})
    return Addressed("chat", ToolFinished(call, ("text",)))


def stranger(number: int) -> AgentEvent:
    return Addressed(f"chat {number}", TextReceived(Role.ASSISTANT, "hello"))


def work(event: Callable[[int], AgentEvent], count: int) -> tuple[int, int, int]:
    """Hear so many events one by one; gives calls of functions, ops and bytes for the screen."""
    screen, keeper = Screen(), Keeper(None, Screen(), 0)
    chats = Chats(
        screen,
        RenderSettings(folders=("/workspace",)),
        lambda _effect: None,
        lambda *_: None,
        lambda *_: Snapshot(None),
    )
    hearing = Hearing(chats, Choices(keeper), Trust(chats, keeper), screen)
    calls = 0

    def profile(_frame: FrameType, what: str, _argument: object) -> None:
        nonlocal calls
        calls += what == "call"

    events = [event(number) for number in range(count)]
    sys.setprofile(profile)
    try:
        for each in events:
            hearing.hear([each])
        screen.finish()
    finally:
        sys.setprofile(None)
    return calls, screen.ops, screen.bytes


@pytest.mark.parametrize("event", [question, approval, read, stranger])
def test_ten_times_as_many_are_ten_times_the_work(event: Callable[[int], AgentEvent]) -> None:
    few, many = work(event, FEW), work(event, MANY)
    told = dict(zip(("calls", "ops", "bytes"), zip(few, many, strict=True), strict=True))
    assert all(after <= MOST * before for before, after in told.values()), told

"""Ops that cannot be sent to Neovim are reported, and all others are drawn."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import anyio
import anyio.lowlevel
import msgpack
import pytest

from eca_nvim.chat.vocabulary.ops import (
    Answer,
    AppendText,
    BlockKind,
    CloseBlock,
    Notify,
    OpenBlock,
    RemoveBlock,
    SetPending,
    ViewOp,
)
from eca_nvim.nvim.app import report_lost
from eca_nvim.nvim.editor import CallFailed, EditorCalls
from eca_nvim.nvim.frames import FrameSender, plain, wire

pytestmark = pytest.mark.anyio

ODD = [2**64, -(2**63) - 1, 10**400]
DEEP: list[object] = []
for _ in range(5000):
    DEEP = [DEEP]


class Screen:
    """Takes frames as Neovim does."""

    def __init__(self) -> None:
        self.drawn: list[str] = []
        self.lost: list[ViewOp] = []
        self.sender = FrameSender(self.take, asyncio.get_running_loop(), self.lose)

    def take(self, number: int, ops: bytes) -> None:
        for op in msgpack.unpackb(ops, strict_map_key=False):
            self.drawn.append(f"{op['op']} {op['text']}")
        asyncio.get_running_loop().call_soon(self.sender.drawn, number, 1.0)

    def lose(self, ops: Sequence[ViewOp]) -> None:
        self.lost += ops


@pytest.mark.parametrize("odd", [object(), DEEP, "\ud800"], ids=["type", "depth", "character"])
async def test_the_frames_after_one_that_cannot_be_sent_are_drawn(
    odd: object, caplog: pytest.LogCaptureFixture
) -> None:
    screen = Screen()
    bad = Answer(1, odd)
    screen.sender.push([AppendText("a", 1, "before"), bad, AppendText("a", 1, "after")])
    with anyio.fail_after(60):
        while len(screen.drawn) < 2:
            await anyio.lowlevel.checkpoint()
        screen.sender.push([AppendText("a", 1, "next")])
        while len(screen.drawn) < 3:
            await anyio.lowlevel.checkpoint()
    assert screen.drawn == ["append before", "append after", "append next"]
    assert screen.lost == [bad]
    assert "cannot send to Neovim: answer" in caplog.text


@pytest.mark.parametrize("number", ODD)
def test_a_number_of_more_than_64_bits_is_none(number: int) -> None:
    assert plain({"a": number, "b": [number, 1]}) == {"b": [None, 1]}
    assert plain(2**63 - 1) == 2**63 - 1


def test_what_is_lost_is_said_in_its_chat() -> None:
    said: list[tuple[str, str]] = []
    told: list[ViewOp] = []

    def warn(chat: str, line: str) -> bool:
        said.append((chat, line))
        return chat == "known"

    lost: list[ViewOp] = [
        CloseBlock("known", 1),
        RemoveBlock("known", 1),
        CloseBlock("other", 1),
        Answer(1, 0),
    ]
    report_lost(lost, warn, told.extend)
    assert said[0] == ("known", "cannot draw close, remove; see :Eca log")
    assert [op.text for op in told if isinstance(op, Notify)] == [
        "cannot draw close; see :Eca log",
        "cannot draw answer; see :Eca log",
    ]


async def test_what_cannot_be_asked_is_a_failed_call() -> None:
    def run(_code: str, arguments: Sequence[object]) -> None:
        msgpack.packb(arguments)

    with pytest.raises(CallFailed, match="cannot be sent"):
        await EditorCalls(run).call("locations", {"line": 2**64})


def test_what_is_empty_is_sent_unless_that_is_its_default() -> None:
    assert wire(SetPending([], ())) == {"op": "pending", "items": [], "gone": ()}
    assert wire(SetPending([])) == {"op": "pending", "items": []}
    block = OpenBlock("a", 0, BlockKind.NOTE)
    assert wire(block) == {"op": "open", "chat": "a", "block": 0, "kind": BlockKind.NOTE}

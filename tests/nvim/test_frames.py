"""The thin shell that sends frames when they are due, on a real event loop."""

import asyncio

from eca_nvim.chat.ops import AppendText
from eca_nvim.nvim.frames import FrameSender
from eca_nvim.nvim.queue import BURST, INTERVAL

TURNS = 5
"""More turns of the loop than anything that is due takes."""


def text(words: str) -> AppendText:
    return AppendText("chat", 1, words)


async def some_turns() -> None:
    for _ in range(TURNS):
        await asyncio.sleep(0)


async def send_a_burst_after_a_word() -> list[int]:
    numbers: list[int] = []
    loop = asyncio.get_running_loop()
    frames = FrameSender(lambda number, _ops: numbers.append(number), loop)
    frames.push([text("a")])
    await some_turns()
    frames.drawn(1, 1.0)
    frames.push([text("b")])
    started = loop.time()
    await some_turns()
    assert numbers == [1] or loop.time() - started > INTERVAL, "a word more waits"
    frames.push([text("c" * BURST)])
    await some_turns()
    return numbers


def test_a_burst_goes_though_a_word_before_it_waits_for_its_time() -> None:
    assert asyncio.run(send_a_burst_after_a_word()) == [1, 2]

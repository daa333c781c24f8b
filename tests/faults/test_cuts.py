"""A server or agent that dies anywhere costs nothing; `make faults` has it die everywhere."""

from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import pytest
from tests.agents import recorded as eca
from tests.agents.acp.test_acp_recordings import life
from tests.faults.cuts import Cut, Story, play, recordings
from tests.faults.dying import AFTER, BEFORE, FLOODS, TWICE

pytestmark = pytest.mark.anyio


def sample() -> Iterator[Cut]:
    """Yield a place in every fourth recording: before, inside of and after a message in turn."""
    for turn, (protocol, name) in enumerate([*recordings()][::4]):
        events = eca.cut(name) if protocol == "eca" else life(name)
        count = sum(it.direction == "s2c" for it in events)
        chance = crc32(name.encode())
        part = (BEFORE, 1 + chance % 999, AFTER)[turn % 3]
        yield Cut(protocol, name, 1 + chance % (count * 3 // 4), part)


@pytest.mark.parametrize("cut", [*sample()], ids=str)
async def test_a_server_that_dies_anywhere_costs_nothing(cut: Cut, tmp_path: Path) -> None:
    story = Story(cut, tmp_path)
    losses = await play(story)
    assert story.has_died
    assert losses.lost == []
    assert losses.counts["prompts"] > 1


@pytest.mark.parametrize("cut", [Cut("eca", "edit_rejected"), Cut("acp", "qwen-edit-diff")])
@pytest.mark.parametrize("flood", [*FLOODS, TWICE, None])
async def test_too_much_or_too_little_at_once_costs_nothing(
    cut: Cut, flood: str | None, tmp_path: Path
) -> None:
    """100,000 messages, 200 KB without a line break, 50 MB; each id twice; single bytes."""
    options = ["--bytewise"] if flood is None else ["--flood", flood]
    story = Story(cut, tmp_path, options)
    wanted = "".join(FLOODS[flood]()) if flood and flood in FLOODS else ""
    losses = await play(story, wanted.strip())
    assert losses.lost == []
    assert losses.counts["answers"] == 1 + bool(wanted)

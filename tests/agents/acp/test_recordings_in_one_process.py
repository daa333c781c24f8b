"""All recordings of real agents, from their bytes to what the chat shows; no process, no clock."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from tests.agents.acp.played import (
    RECORDINGS,
    Cut,
    Player,
    in_threes,
    noisy,
    recorded,
    transcript,
)
from tests.support.golden import assert_golden
from tests.support.used_files import used_files

from eca_nvim.chat.vocabulary.states import Turn
from eca_nvim.protocol.acp.updates import SessionUpdated

GOLDEN = Path(__file__).parent / "golden"


def test_all_recordings_are_here() -> None:
    assert len(RECORDINGS) == 63


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_recording_reads_as_before(name: str) -> None:
    player = Player(name)
    assert_golden(transcript(player), GOLDEN / f"{name}.txt")
    for session in player.sessions.values():
        assert session.driver.items == [], "a request that nobody can answer any more"
        assert not session.asked, "a request that was never shown"
        assert session.driver.chat.turn.state is Turn.IDLE
        assert len(session.driver.ends) == session.turns


@pytest.mark.parametrize(
    "name",
    [
        *("claudezed-edit-diff", "claudezed-sessions", "codex-shell", "fastagent-shell"),
        *("pyexample-content", "qwen-edit-diff", "qwen-write-new", "vibe-perm-allow-once"),
    ],
)
def test_the_files_of_a_recording(name: str) -> None:
    drivers = [session.driver for session in Player(name).sessions.values()]
    used = "--\n".join(used_files(driver.chat, driver.effects) for driver in drivers)
    assert_golden(used, GOLDEN / "files" / f"{name}.txt")


def test_no_update_needs_the_slow_reader() -> None:
    sent = (line["msg"] for name in RECORDINGS for line in recorded(name) if line["dir"] == "a2c")
    updates = [it for it in sent if isinstance(it, dict) and it.get("method") == "session/update"]
    for update in updates:
        msgspec.json.decode(json.dumps(update["params"]), type=SessionUpdated)
    assert len(updates) > 800


@pytest.mark.parametrize("cut", [in_threes, noisy])
def test_pieces_and_noise_change_nothing(cut: Cut) -> None:
    for name in RECORDINGS:
        assert transcript(Player(name, cut)) == transcript(Player(name)), name

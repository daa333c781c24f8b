"""Fixtures for tests of the protocol: the recorded sessions of a real server."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

RECORDINGS = sorted((Path(__file__).parents[1] / "fixtures/traffic/eca").glob("*.jsonl"))


@dataclass(frozen=True)
class Recording:
    """A recorded session; each line is a message `msg` sent in the direction `dir`."""

    name: str
    lines: tuple[dict[str, Any], ...]

    def sent_by(self, direction: str) -> Iterator[dict[str, Any]]:
        """Yield the requests and notifications of one side ("c2s" or "s2c")."""
        for line in self.lines:
            if line["dir"] == direction and "method" in line["msg"]:
                yield line["msg"]

    def answers(self) -> Iterator[tuple[str, Any]]:
        """Yield the server's good answers: the method of the request, and the result."""
        asked = {message["id"]: message for message in self.sent_by("c2s") if "id" in message}
        for line in self.lines:
            message = line["msg"]
            if line["dir"] == "s2c" and "result" in message and message["id"] in asked:
                yield asked[message["id"]]["method"], message["result"]


def read_recording(path: Path) -> Recording:
    """Read a recorded session."""
    # Split only at line feeds: texts contain other characters that Unicode calls line ends.
    lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    messages = [json.loads(line) for line in lines]
    return Recording(path.stem, tuple(it for it in messages if isinstance(it["msg"], dict)))


@pytest.fixture(params=RECORDINGS, ids=lambda path: path.stem)
def recording(request: pytest.FixtureRequest) -> Recording:
    return read_recording(request.param)

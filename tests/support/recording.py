"""Recordings of ECA sessions: their lines, their translation to a live run, and the report."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tests.support.wire import Message

Value: TypeAlias = Any

WORKSPACE = "/workspace"
COMPARED = (
    *("toolCallId", "contentId", "save", "include", "answer"),
    *("cancelled", "text", "name", "jobId"),
)


@dataclass(frozen=True)
class Event:
    """One line of a recording; `time` in seconds from its start."""

    time: float
    direction: Literal["c2s", "s2c"]
    message: Message

    @property
    def name(self) -> str:
        """Its method, or "response"."""
        method: str = self.message.get("method", "response")
        return method


@dataclass
class Report:
    """What differed from the recording."""

    missing: list[str] = field(default_factory=list)
    unexpected: list[str] = field(default_factory=list)
    different: list[dict[str, Value]] = field(default_factory=list)
    matched: int = 0

    def compare(self, recorded: Message, live: Message) -> None:
        """Add differences in the parameters of a message, or in the result of an answer."""
        if live.get("method") == "chat/prompt":
            return
        part = "params" if "method" in live else "result"
        old, new = _dictionary(recorded.get(part)), _dictionary(live.get(part))
        for key in COMPARED:
            if old.get(key) != new.get(key):
                difference = {"key": key, "recorded": old.get(key), "live": new.get(key)}
                self.different.append({"method": live.get("method", "response"), **difference})

    def save(self, path: Path) -> None:
        """Write it as JSON, atomically."""
        fresh = path.with_name(path.name + ".new")
        fresh.write_text(json.dumps(asdict(self), indent=1))
        fresh.replace(path)


class Translation:
    """Translates recorded strings to live ones, learnt from what the client sends."""

    def __init__(self) -> None:
        self._strings: dict[str, str] = {}

    def learn(self, recorded: Message, live: Message) -> None:
        """Learn the id of a chat or a rewrite, and the workspace folder, from a live message."""
        old, new = recorded.get("params"), live.get("params")
        if not isinstance(old, dict) or not isinstance(new, dict):
            return
        key = "id" if live.get("method") == "rewrite/prompt" else "chatId"
        if isinstance(old.get(key), str) and isinstance(new.get(key), str):
            self._strings[old[key]] = new[key]
        if live.get("method") == "initialize" and (folders := new.get("workspaceFolders")):
            self._strings[WORKSPACE] = folders[0]["uri"].removeprefix("file://").rstrip("/")

    def apply(self, value: Value) -> Value:
        """Return a recorded value with live strings."""
        match value:
            case dict():
                return {key: self.apply(item) for key, item in value.items()}
            case list():
                return [self.apply(item) for item in value]
            case str() if value in self._strings:
                return self._strings[value]
            case str():
                return value.replace(WORKSPACE, self._strings.get(WORKSPACE, WORKSPACE))
        return value


def read_recording(path: Path) -> list[Event]:
    """Read a recording, without messages that are not objects (batches)."""
    with path.open(encoding="utf-8") as file:  # `splitlines` would split at U+2028 in a string
        lines = list(map(json.loads, file))
    return [Event(it["t"], it["dir"], it["msg"]) for it in lines if isinstance(it["msg"], dict)]


def _dictionary(value: Value) -> dict[str, Value]:
    return value if isinstance(value, dict) else {}

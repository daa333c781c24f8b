"""Runs of the whole plugin: all that a server said in a recording, changed as some bytes say.

Besides what it tells and asks, a run has answers to requests of the client, of which the prompt's
comes where it was recorded.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from tests.fuzz.mutations import LONGEST, Choices, change_anywhere
from tests.fuzz.player import REWRITE, SESSION
from tests.support.servers import ACP_RECORDINGS, RECORDINGS

Value: TypeAlias = Any

FOLDERS: Final[Mapping[str, Path]] = {"eca": RECORDINGS, "acp": ACP_RECORDINGS}
PROMPTS: Final = ("chat/prompt", "session/prompt")
BEGINNINGS: Final = ("initialize", "session/new")
RARE: Final = (2, 4, 12)
"""One of so many messages of a run is changed."""
ANSWERS: Final = 2
"""Answers to a method in a run."""


class Recording(NamedTuple):
    """What a server said: its messages in their order, and its answers by method, as JSON.

    `rewrites`: the texts of rewrites, which come when the client asks for one.
    """

    name: str
    said: tuple[str, ...]
    rewrites: tuple[str, ...]
    answers: tuple[tuple[str, str], ...]
    chats: tuple[str, ...]
    folder: str


class Run(NamedTuple):
    """A changed recording; `script`: what `player.py` reads, `messages`: how many it says."""

    recording: str
    script: Mapping[str, Value]
    messages: int


@cache
def recordings(protocol: str) -> tuple[Recording, ...]:
    """Return all recordings in which a server says something."""
    read = map(_read, sorted(FOLDERS[protocol].glob("*.jsonl")))
    return tuple(it for it in read if it.said)


def _read(path: Path) -> Recording:
    said: list[str] = []
    rewrites: list[str] = []
    answers: list[tuple[str, str]] = []
    asked: dict[str, str] = {}  # methods of the client's requests
    chats: dict[str, None] = {}
    folder = "/workspace"
    for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
        event = json.loads(line)
        message = event.get("msg")
        if not isinstance(message, dict) or len(line) > LONGEST:
            continue
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        if event["dir"] in ("c2s", "c2a"):
            asked[json.dumps(message.get("id"))] = message.get("method", "")
            folder = str(params.get("cwd") or folder)
            if message.get("method") in PROMPTS:
                chats[params.get("chatId") or params.get("sessionId") or ""] = None
            if said and "wait" not in json.loads(said[-1]):
                said.append(json.dumps({"wait": True}))
        elif event["dir"] in ("s2c", "a2c") and "rewriteId" in params:
            rewrites.append(
                json.dumps({"message": {**message, "params": {**params, "rewriteId": REWRITE}}})
            )
        elif event["dir"] in ("s2c", "a2c") and "method" in message:
            said.append(json.dumps({"message": message}))
        elif event["dir"] in ("s2c", "a2c"):
            method = asked.get(json.dumps(message.get("id")), "")
            answer = {key: message[key] for key in ("result", "error") if key in message}
            if method in PROMPTS:
                said.append(json.dumps({"answer": answer}))
            else:
                answers.append((method, _with_session(answer)))
    return Recording(path.stem, tuple(said), tuple(rewrites), tuple(answers), tuple(chats), folder)


def _with_session(answer: Value) -> str:
    if isinstance(answer.get("result"), dict) and "sessionId" in answer["result"]:
        answer["result"]["sessionId"] = SESSION
    return json.dumps(answer)


@cache
def _answers(protocol: str) -> Mapping[str, tuple[str, ...]]:
    """Return all answers to each request of the client."""
    found: dict[str, dict[str, None]] = {}
    for recording in recordings(protocol):
        for method, answer in recording.answers:
            found.setdefault(method, {})[answer] = None
    return {method: tuple(each) for method, each in found.items()}


@cache
def _rewrites(protocol: str) -> tuple[tuple[str, ...], ...]:
    return tuple(it.rewrites for it in recordings(protocol) if it.rewrites)


def changed_answer(protocol: str, method: str, data: bytes) -> Value:
    """Return one of the recorded answers to a method, changed."""
    choices = Choices(data)
    return _changed_answer(_answers(protocol)[method], choices)


def _changed_answer(all_answers: tuple[str, ...], choices: Choices) -> Value:
    answer = json.loads(all_answers[choices.below(len(all_answers))])
    for _ in range(choices.below(3)):
        change_anywhere(answer, choices)
    return answer


def changed_run(protocol: str, folder: Path, data: bytes) -> Run:
    """Return a recording, some of whose messages are changed, with paths in a folder."""
    choices = Choices(data)
    recording = recordings(protocol)[choices.below(len(recordings(protocol)))]
    rare = RARE[choices.below(len(RARE))]
    said = _changed(recording.said, rare, choices)
    rewrites: list[Value] = []
    if every := _rewrites(protocol):
        rewrites = _changed(every[choices.below(len(every))], rare, choices)
    answers = {
        method: [_changed_answer(every, choices) for _ in range(ANSWERS)]
        for method, every in _answers(protocol).items()
        if method not in BEGINNINGS
    }
    script = {"said": said, "rewrites": rewrites, "answers": answers}
    script["chats"] = recording.chats
    script = json.loads(json.dumps(script).replace(recording.folder, str(folder)))
    return Run(recording.name, script, sum("wait" not in it for it in said))


def _changed(texts: Sequence[str], rare: int, choices: Choices) -> list[Value]:
    """Change one of so many messages, and leave some out, or say them twice."""
    said: list[Value] = []
    for text in texts:
        each = json.loads(text)
        if "wait" not in each and not choices.below(rare):
            _spoil(each, choices)
        said += [each] * (1 if choices.below(20) else choices.below(3))
    return said


def _spoil(each: dict[str, Value], choices: Choices) -> None:
    """Change some fields of a message; sometimes also those which all messages have."""
    message = each.get("message")
    for _ in range(1 + choices.below(3)):
        if message is None:
            change_anywhere(each["answer"], choices)
        elif choices.below(12):
            change_anywhere(message.get("params"), choices)
        else:
            change_anywhere(message, choices)

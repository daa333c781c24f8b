"""Runs of the whole plugin: all that a server said in a recording, changed as some bytes say.

Besides what it tells and asks, a run has answers to requests of the client. The prompt's comes
where it was recorded. Of a long stream three pieces are left.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from tests.fuzz.mutations import LONGEST, Choices, change_anywhere
from tests.fuzz.player import CHAT, REWRITE, SESSION, renamed
from tests.support.servers import ACP_RECORDINGS, RECORDINGS

Value: TypeAlias = Any
Item = TypeVar("Item")

FOLDERS: Final[Mapping[str, Path]] = {"eca": RECORDINGS, "acp": ACP_RECORDINGS}
PROMPTS: Final = ("chat/prompt", "session/prompt")
BEGINNINGS: Final = ("initialize", "session/new")
RARE: Final = (2, 4, 12)
"""One of so many messages of a run is changed."""
ANSWERS: Final = 2
"""Answers to a method in a run."""
ASKED: Final = 3
"""Requests of any recording that come in a run beside its own: few recordings have some."""
STREAM: Final = 4
"""A message is left out after three of its kind in a row: most are pieces of a text."""
PAUSED: Final = 10
"""Messages for each pause, in which what came before is drawn: else all is drawn at once."""
FOLDER: Final = "/workspace"
"""Stands for the folder of the recording."""
WAIT: Final = json.dumps({"wait": True})
"""Stands for what the recorded client said, and for a pause."""


class Recording(NamedTuple):
    """What a server said: its messages in their order, and its answers by method, as JSON.

    `asked` are those which are requests, `rewrites` the texts of rewrites, which come when the
    client asks for one.
    """

    name: str
    said: list[str]
    asked: list[str]
    rewrites: list[str]
    answers: list[tuple[str, str]]


class Run(NamedTuple):
    """A changed recording; `script`: what `player.py` reads, `messages`: how many it says."""

    recording: str
    script: Mapping[str, Value]
    messages: int


@cache
def recordings(protocol: str) -> tuple[Recording, ...]:
    """Return all recordings that have words of a server."""
    read = map(_read, sorted(FOLDERS[protocol].glob("*.jsonl")))
    return tuple(it for it in read if it.said)


def _read(path: Path) -> Recording:
    read = Recording(path.stem, [], [], [], [])
    methods: dict[str, str] = {}  # of the client's requests
    folder, kinds = FOLDER, deque[Value](maxlen=STREAM)
    chats: dict[Value, None] = {}
    for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
        event = json.loads(line)
        message = event.get("msg")
        if not isinstance(message, dict) or len(line) > LONGEST:
            continue
        params = message.get("params") or {}
        if event["dir"] in ("c2s", "c2a"):
            methods[json.dumps(message.get("id"))] = message.get("method", "")
            folder = str(params.get("cwd") or folder)
            chat = params.get("chatId") or params.get("sessionId")
            if message.get("method") in PROMPTS and chat:
                chats[chat] = None
            if read.said and read.said[-1] != WAIT:
                read.said.append(WAIT)
        elif event["dir"] in ("s2c", "a2c"):
            for each in chats:
                message = renamed(message, each, CHAT)
            message = json.loads(json.dumps(message).replace(folder, FOLDER))
            kinds.append(kind := _kind(message))
            if "method" not in message or kinds.count(kind) < STREAM:
                _sort(read, message, methods)
    return read


def _kind(message: Value) -> Value:
    params = message.get("params") or {}
    content = params.get("content") or params.get("update")
    content = content if isinstance(content, dict) else {}
    return message.get("method"), content.get("type"), content.get("sessionUpdate")


def _sort(read: Recording, message: Value, methods: Mapping[str, str]) -> None:
    """Put a message of the server where it belongs."""
    said = json.dumps({"message": message})
    if "rewriteId" in (message.get("params") or {}):
        message["params"]["rewriteId"] = REWRITE
        read.rewrites.append(json.dumps({"message": message}))
    elif "method" in message:
        read.said.append(said)
        if "id" in message:
            read.asked.append(said)
    else:
        method = methods.get(json.dumps(message.get("id")), "")
        answer = {key: message[key] for key in ("result", "error") if key in message}
        if method in PROMPTS:
            read.said.append(json.dumps({"answer": answer}))
        else:
            read.answers.append((method, _with_session(answer)))


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
def _rewrites(protocol: str) -> tuple[Sequence[str], ...]:
    return tuple(it.rewrites for it in recordings(protocol) if it.rewrites)


@cache
def _asked(protocol: str) -> tuple[str, ...]:
    return tuple(text for it in recordings(protocol) for text in it.asked)


def changed_answer(protocol: str, method: str, data: bytes) -> Value:
    """Return one of the recorded answers to a method, changed."""
    choices = Choices(data)
    return _changed_answer(_answers(protocol)[method], choices)


def _changed_answer(all_answers: tuple[str, ...], choices: Choices) -> Value:
    answer = json.loads(_one_of(all_answers, choices))
    for _ in range(choices.below(3)):
        change_anywhere(answer, choices)
    return answer


def _one_of(items: Sequence[Item], choices: Choices) -> Item:
    return items[choices.below(len(items))]


def changed_run(protocol: str, folder: Path, data: bytes) -> Run:
    """Return a recording, some of whose messages are changed, with paths in a folder."""
    choices = Choices(data)
    recording = _one_of(recordings(protocol), choices)
    rare = _one_of(RARE, choices)
    said = _changed(recording.said, rare, choices)
    for _ in range(len(said) // PAUSED):
        said.insert(choices.below(len(said)), json.loads(WAIT))
    for number in range(ASKED):
        asked = _one_of(_asked(protocol), choices)
        for each in _changed([asked], 2, choices):
            each["message"].setdefault("id", f"asked {number}")
            said.insert(choices.below(len(said) + 1), each)
    every = _rewrites(protocol)
    rewrites = _changed(_one_of(every, choices), rare, choices) if every else []
    answers = {
        method: [_changed_answer(every, choices) for _ in range(ANSWERS)]
        for method, every in _answers(protocol).items()
        if method not in BEGINNINGS
    }
    script = {"said": said, "rewrites": rewrites, "answers": answers}
    script = json.loads(json.dumps(script).replace(FOLDER, str(folder)))
    return Run(recording.name, script, sum("wait" not in it for it in said))


def _changed(texts: Sequence[str], rare: int, choices: Choices) -> list[Value]:
    """Change one of so many messages, and leave some out, or say them twice."""
    said: list[Value] = []
    for text in texts:
        each = json.loads(text)
        if text != WAIT and not choices.below(rare):
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

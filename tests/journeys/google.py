"""The protocol of Gemini: contents that are generated."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from tests.journeys.script import Answer, Message, Table, Tool, text_of

_numbers = count(1)
_NUMERIC = ("number", "integer")


def messages_of(body: Table) -> Sequence[Message]:
    """Return the messages of a call."""
    return [_message(it.get("role", "user"), it.get("parts") or []) for it in body["contents"]]


def _message(role: str, parts: Sequence[Table]) -> Message:
    results = sum("functionResponse" in it for it in parts)
    return Message(text_of(parts), role == "user", results)


def offered_by(body: Table) -> Mapping[str, Tool]:
    """Return the tools that a call offers."""
    listed = [it for tools in body.get("tools") or [] for it in tools["functionDeclarations"]]
    return {
        it["name"]: Tool((it.get("parametersJsonSchema") or it.get("parameters"))["properties"])
        for it in listed
    }


def form_of(body: Table) -> str | None:
    """Return the filled form if a call wants one: the agent asks such things for itself."""
    wanted = body.get("generationConfig") or {}
    schema = wanted.get("responseJsonSchema") or wanted.get("responseSchema")
    if schema is None:
        return None
    properties = schema.get("properties", {}).items()
    return json.dumps(
        {key: 1 if str(it.get("type")).lower() in _NUMERIC else "user" for key, it in properties}
    )


def whole(text: str) -> Table:
    """Give a text as one answer."""
    return _chunk({"text": text}, is_last=True)


def chunks(answer: Answer) -> Iterator[Table]:
    """Give an answer in pieces."""
    if answer.thought:
        yield _chunk({"text": f"**Thinking** {answer.thought}", "thought": True})
    for piece in answer.pieces:
        yield _chunk({"text": piece})
        time.sleep(answer.pause)
    last: Table = {"text": ""}
    if answer.call:
        name, arguments = answer.call
        last = {"functionCall": {"name": name, "args": arguments, "id": f"fc{next(_numbers)}"}}
    yield _chunk(last, is_last=True)


def _chunk(part: Table, *, is_last: bool = False) -> Table:
    candidate = {"content": {"role": "model", "parts": [part]}, "index": 0}
    counts = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}
    if is_last:
        candidate["finishReason"] = "STOP"
    return {"candidates": [candidate], "modelVersion": "scripted", "usageMetadata": counts}

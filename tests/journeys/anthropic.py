"""The protocol of Anthropic: messages."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from tests.journeys.script import Answer, Message, Table, Tool, text_of

_numbers = count(1)
_USAGE = {"input_tokens": 100, "output_tokens": 20}


def messages_of(body: Table) -> Sequence[Message]:
    """Return the messages of a call."""
    return [_message(it["role"], it.get("content")) for it in body["messages"]]


def _message(role: str, content: object) -> Message:
    parts = content if isinstance(content, list) else []
    results = sum(it.get("type") == "tool_result" for it in parts)
    return Message(text_of(content), role == "user", results)


def offered_by(body: Table) -> Mapping[str, Tool]:
    """Return the tools that a call offers."""
    listed = body.get("tools") or []
    return {
        it["name"]: Tool((it.get("input_schema") or {}).get("properties") or {}) for it in listed
    }


def whole(answer: Answer) -> Table:
    """Give an answer as one message."""
    return _head() | {"content": [{"type": "text", "text": answer.text}], "stop_reason": "end_turn"}


def events(answer: Answer) -> Iterator[Table]:
    """Give an answer as the events of a message."""
    yield {"type": "message_start", "message": _head()}
    number = count()
    if answer.thought:
        yield from _block(
            next(number),
            {"type": "thinking", "thinking": "", "signature": ""},
            [
                {"type": "thinking_delta", "thinking": answer.thought},
                {"type": "signature_delta", "signature": "c2lnbmVk"},
            ],
        )
    if answer.text:
        pieces = ({"type": "text_delta", "text": piece} for piece in answer.pieces)
        yield from _block(next(number), {"type": "text", "text": ""}, pieces, answer.pause)
    if answer.call:
        name, arguments = answer.call
        block = {"type": "tool_use", "id": f"toolu_{next(_numbers)}", "name": name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
        yield from _block(next(number), block, [delta])
    reason = "tool_use" if answer.call else "end_turn"
    yield {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": _USAGE}
    yield {"type": "message_stop"}


def _head() -> dict[str, object]:
    return {
        "id": f"msg_{next(_numbers)}",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _USAGE,
    }


def _block(
    number: int, block: Table, deltas: Sequence[Table] | Iterator[Table], pause: float = 0.0
) -> Iterator[Table]:
    yield {"type": "content_block_start", "index": number, "content_block": block}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": number, "delta": delta}
        time.sleep(pause)
    yield {"type": "content_block_stop", "index": number}

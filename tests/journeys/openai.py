"""The protocols of OpenAI: chat completions, and responses."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from tests.journeys.script import Answer, Message, Table, Tool, text_of

RESULTS = ("function_call_output", "custom_tool_call_output")
"""Types of the results of tools among the messages of `/responses`."""

_USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
_numbers = count(1)


def messages_of(body: Table) -> Sequence[Message]:
    """Return the messages of a call of either."""
    listed = body.get("messages") or body.get("input") or []
    if isinstance(listed, str):
        listed = [{"role": "user", "content": listed}]
    return [
        Message(
            text_of(it.get("content")),
            it.get("role") == "user",
            int(it.get("role") == "tool" or it.get("type") in RESULTS),
        )
        for it in listed
    ]


def offered_by(body: Table) -> Mapping[str, Tool]:
    """Return the tools that a call of either offers."""
    listed = [it | it.get("function", {}) for it in body.get("tools") or []]
    return {
        it["name"]: Tool((it.get("parameters") or {}).get("properties") or {}, it.get("type", ""))
        for it in listed
        if "name" in it
    }


def whole(answer: Answer) -> Table:
    """Give an answer as one chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    if answer.call:
        message["tool_calls"] = [_function(answer.call)]
    end = "tool_calls" if answer.call else "stop"
    choice = {"index": 0, "message": message, "finish_reason": end}
    return {"id": "1", "object": "chat.completion", "choices": [choice], "usage": _USAGE}


def _function(call: tuple[str, Table]) -> Table:
    name, arguments = call
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"index": 0, "id": f"call{next(_numbers)}", "type": "function", "function": function}


def chunks(answer: Answer) -> Iterator[Table | str]:
    """Give an answer as a stream of chat completions."""

    def chunk(delta: Table, end: str | None = None, **more: object) -> Table:
        choice = {"index": 0, "delta": delta, "finish_reason": end}
        fixed = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
        return fixed | {"choices": [choice]} | more

    yield chunk({"role": "assistant", "content": ""})
    if answer.thought:
        yield chunk({"reasoning_content": answer.thought})
    for piece in answer.pieces:
        yield chunk({"content": piece})
        time.sleep(answer.pause)
    if answer.call:
        yield chunk({"tool_calls": [_function(answer.call)]})
    yield chunk({}, "tool_calls" if answer.call else "stop", usage=_USAGE)
    yield "[DONE]"


def events(answer: Answer, offered: Mapping[str, Tool]) -> Iterator[Table | str]:
    """Give an answer as the events of a response."""
    response: dict[str, Any] = {"id": f"resp{next(_numbers)}", "object": "response", "output": []}
    yield {"type": "response.created", "response": response}
    if answer.thought:
        yield from _item(response, {"type": "reasoning", "summary": [_summary(answer.thought)]})
    if answer.text:
        yield from _message(response, answer)
    if answer.call:
        yield from _item(response, _call(answer.call, offered))
    usage = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}
    response |= {"status": "completed", "usage": usage}
    yield {"type": "response.completed", "response": response}


def _summary(text: str) -> Table:
    return {"type": "summary_text", "text": text}


def _item(response: Table, item: dict[str, Any]) -> Iterator[Table]:
    item = {"id": f"item{next(_numbers)}"} | item
    place = {"output_index": len(response["output"]), "item": item}
    response["output"].append(item)
    yield {"type": "response.output_item.added"} | place
    yield {"type": "response.output_item.done"} | place


def _message(response: Table, answer: Answer) -> Iterator[Table]:
    item: dict[str, Any] = {
        "id": f"item{next(_numbers)}",
        "type": "message",
        "role": "assistant",
        "content": [],
    }
    place = {"output_index": len(response["output"]), "content_index": 0, "item_id": item["id"]}
    yield {"type": "response.output_item.added"} | place | {"item": item}
    for piece in answer.pieces:
        yield {"type": "response.output_text.delta", "delta": piece} | place
        time.sleep(answer.pause)
    item = item | {"content": [{"type": "output_text", "text": answer.text, "annotations": []}]}
    response["output"].append(item)
    yield {"type": "response.output_item.done"} | place | {"item": item}


def _call(call: tuple[str, Table], offered: Mapping[str, Tool]) -> dict[str, Any]:
    name, arguments = call
    fixed = {"call_id": f"call{next(_numbers)}", "name": name, "status": "completed"}
    if offered[name].kind == "namespace":
        fixed |= {"namespace": name, "name": arguments["tool"]}
        arguments = {key: value for key, value in arguments.items() if key != "tool"}
    if offered[name].kind == "custom":
        return fixed | {"type": "custom_tool_call", "input": arguments["input"]}
    return fixed | {"type": "function_call", "arguments": json.dumps(arguments)}

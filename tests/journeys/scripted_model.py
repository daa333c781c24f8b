"""A model that follows a script: an HTTP server on loopback, as real agents call models.

The last line of a prompt that begins with `SCRIPT` holds the answers, one a call of the model, as a
JSON list of steps in base 64, so that the prompt does not contain what the model will say:

    {"say": TEXT}                a text, in pieces
    {"think": TEXT}              a thought, before what else the step has
    {"run": COMMAND}             a shell command
    {"read": PATH}               a file, which some agents want before they change it
    {"write": [PATH, TEXT]}      a new file
    {"edit": [PATH, OLD, NEW]}   a change of a file
    {"diagnose": PATH}           what the editor's MCP server knows of a file
    {"slowly": COUNT}            COUNT lines, 20 a second
    {"recall": WORD}             "I remember WORD" if an earlier message has it, else that not
    {"fail": STATUS}             an HTTP error

Each agent has its own names for tools, so a step asks for the first tool of `TOOLS` that the agent
offers. After the last step the model says "done".

It speaks two protocols: chat completions (`/chat/completions`) and responses (`/responses`).
"""

from __future__ import annotations

import json
import shlex
import sys
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, TypeAlias

Table: TypeAlias = Mapping[str, Any]
Arguments: TypeAlias = Callable[..., dict[str, Any]]

MARK = "SCRIPT "
PIECE = 12
"""Characters of a piece of text."""

TOOLS: Mapping[str, Mapping[str, Arguments]] = {
    "run": {
        "run_shell_command": lambda command: {
            "command": command,
            "description": "words of the model",
            "is_background": False,
        },
        "exec_command": lambda command: {"cmd": command},
        "shell_command": lambda command: {"command": command},
    },
    "read": {
        "read_file": lambda path: {"file_path": path},
        "exec_command": lambda path: {"cmd": shlex.join(["cat", path])},
    },
    "write": {
        "write_file": lambda path, text: {"file_path": path, "content": text},
        "apply_patch": lambda path, text: {"input": _patch("Add", path, _marked("+", text))},
        "exec_command": lambda path, text: {
            "cmd": f"apply_patch <<'EOF'\n{_patch('Add', path, _marked('+', text))}\nEOF"
        },
    },
    "edit": {
        "edit": lambda path, old, new: {"file_path": path, "old_string": old, "new_string": new},
        "apply_patch": lambda path, old, new: {"input": _change(path, old, new)},
        "exec_command": lambda path, old, new: {
            "cmd": f"apply_patch <<'EOF'\n{_change(path, old, new)}\nEOF"
        },
    },
    "diagnose": {
        "tool_call": lambda path: {
            "name": "mcp__editor__diagnostics",
            "arguments": {"path": path},
        },
        "mcp__editor": lambda path: {"tool": "diagnostics", "path": path},
    },
}
"""For each kind of step the tools that do it, with their arguments."""

_numbers = count(1)


def _marked(mark: str, text: str) -> str:
    return "\n".join(mark + line for line in text.splitlines())


def _patch(what: str, path: str, body: str) -> str:
    return f"*** Begin Patch\n*** {what} File: {path}\n{body}\n*** End Patch"


def _change(path: str, old: str, new: str) -> str:
    return _patch("Update", path, f"@@\n{_marked('-', old)}\n{_marked('+', new)}")


def scripted(*steps: Table) -> str:
    """Return the line that makes the model follow these steps."""
    return MARK + b64encode(json.dumps(steps).encode()).decode()


def steps_in(text: str) -> Sequence[Table] | None:
    """Return the steps that a text asks for."""
    for line in reversed(text.splitlines()):
        _, found, script = line.partition(MARK)
        if found:
            steps: Sequence[Table] = json.loads(b64decode(script.split()[0]))
            return steps
    return None


class Answer:
    """What the model answers to one call."""

    def __init__(self, step: Table, offered: Mapping[str, Table]) -> None:
        self.status: int = step.get("fail", 200)
        self.thought: str = step.get("think", "")
        self.text: str = step.get("say", "")
        self.pause: float = 0.0
        self.call: tuple[str, Table] | None = None
        if "slowly" in step:
            self.text = "".join(f"line {number}\n" for number in range(1, step["slowly"] + 1))
            self.pause = 0.05
        for kind in TOOLS.keys() & step.keys():
            wanted = step[kind] if isinstance(step[kind], list) else [step[kind]]
            self._choose(TOOLS[kind], wanted, offered)

    def _choose(
        self, tools: Mapping[str, Arguments], wanted: list[str], offered: Mapping[str, Table]
    ) -> None:
        name = next((name for name in tools if name in offered), None)
        if name is None:
            self.text = f"no tool for it among {sorted(offered)}"
        else:
            self.call = name, tools[name](*wanted)

    @property
    def pieces(self) -> Iterator[str]:
        """The text in pieces, each a line or a few characters."""
        if self.pause:
            yield from self.text.splitlines(keepends=True)
        else:
            yield from (self.text[at : at + PIECE] for at in range(0, len(self.text), PIECE))


def text_of(content: object) -> str:
    """Return the text of a message's content: a string, or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


def answer_to(messages: Sequence[Table], offered: Mapping[str, Table]) -> Answer:
    """Choose the answer: the step after those whose tools have a result since the script came.

    A call that offers no tools asks for something beside the conversation, such as a title.
    """
    steps: Sequence[Table] | None = None
    done = 0
    for message in messages:
        if message.get("role") == "user" and (found := steps_in(text_of(message.get("content")))):
            steps, done = found, 0
        elif message.get("role") == "tool" or message.get("type") in RESULTS:
            done += 1
    if steps is None or not offered:
        return Answer({"say": "a title"}, offered)
    step = steps[done] if done < len(steps) else {"say": "done"}
    if "recall" in step:
        knows = any(step["recall"] in text_of(it.get("content")) for it in messages)
        step = {"say": f"I {'remember' if knows else 'do not know'} {step['recall']}"}
    return Answer(step, offered)


RESULTS = ("function_call_output", "custom_tool_call_output")
"""Types of the results of tools among the messages of `/responses`."""


class Model(BaseHTTPRequestHandler):
    """Answers one request."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        """Say nothing on standard error."""

    def do_GET(self) -> None:
        """List the models."""
        model = {"id": "scripted", "object": "model", "owned_by": "test"}
        self._whole(200, {"object": "list", "data": [model], "models": []})

    def do_POST(self) -> None:
        """Answer a call of the model."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answers = {"/chat/completions": self._completions, "/responses": self._responses}
        for path, answer in answers.items():
            if self.path.partition("?")[0].endswith(path):
                answer(body)
                return
        self._whole(404, {"error": {"message": f"no {self.path}"}})

    def _whole(self, status: int, body: Table) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _fail(self, status: int) -> None:
        fault = {"message": f"the scripted model failed with {status}", "type": "scripted"}
        self._whole(status, {"error": fault})

    def _stream(self, events: Iterator[Table | str]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        with suppress(BrokenPipeError):  # the turn was stopped
            self._write(events)

    def _write(self, events: Iterator[Table | str]) -> None:
        for event in events:
            kind = (
                f"event: {event['type']}\n"
                if isinstance(event, Mapping) and "type" in event
                else ""
            )
            data = event if isinstance(event, str) else json.dumps(event)
            self.wfile.write(f"{kind}data: {data}\n\n".encode())
            self.wfile.flush()

    def _completions(self, body: Table) -> None:
        offered = {tool["function"]["name"]: tool for tool in body.get("tools") or []}
        answer = answer_to(body["messages"], offered)
        if answer.status != 200:
            self._fail(answer.status)
        elif body.get("stream"):
            self._stream(chunks(answer))
        else:
            message = {"role": "assistant", "content": answer.text}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            self._whole(200, {"id": "1", "object": "chat.completion", "choices": [choice]})

    def _responses(self, body: Table) -> None:
        offered = {tool["name"]: tool for tool in body.get("tools") or [] if "name" in tool}
        messages = body["input"]
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        answer = answer_to(messages, offered)
        if answer.status != 200:
            self._fail(answer.status)
        else:
            self._stream(events(answer, offered))


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
        name, arguments = answer.call
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"index": 0, "id": f"call{next(_numbers)}", "type": "function", "function": function}
        yield chunk({"tool_calls": [call]})
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    yield chunk({}, "tool_calls" if answer.call else "stop", usage=usage)
    yield "[DONE]"


def events(answer: Answer, offered: Mapping[str, Table]) -> Iterator[Table | str]:
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


def _call(call: tuple[str, Table], offered: Mapping[str, Table]) -> dict[str, Any]:
    name, arguments = call
    fixed = {"call_id": f"call{next(_numbers)}", "name": name, "status": "completed"}
    if offered[name].get("type") == "namespace":
        fixed |= {"namespace": name, "name": arguments["tool"]}
        arguments = {key: value for key, value in arguments.items() if key != "tool"}
    if offered[name].get("type") == "custom":
        return fixed | {"type": "custom_tool_call", "input": arguments["input"]}
    return fixed | {"type": "function_call", "arguments": json.dumps(arguments)}


def main() -> None:
    """Serve until ended; the first line on standard output is the port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()

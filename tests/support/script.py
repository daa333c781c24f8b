"""The steps of a script for the scripted server: what it waits for, sends and does, in order.

Every function returns some steps; `scripted_server(handshake(), turn(text("hi")))` joins them. In
what the server sends, `$chat` stands for the chat id that the client used last, `$chat1` and so on
for those that it used first, `$rewrite1` and so on for the ids of rewrites, `$prompt` for the text
of its last prompt and `$workspace` for its folder. Requests that no later step expects get a
default answer; `shutdown` and `exit` always work.
"""

import base64
import os
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

Value: TypeAlias = Any
Step: TypeAlias = dict[str, Value]
Steps: TypeAlias = list[Step]

MODEL = "mock/mock-1"
OFFSPRING = "offspring"
CONFIG = {
    "chat": {
        "models": [MODEL, "mock/mock-2"],
        "selectModel": MODEL,
        "agents": ["code", "plan"],
        "selectAgent": "code",
    }
}


def expect(method: str) -> Steps:
    """Wait until the client has sent this method."""
    return [{"do": "expect", "method": method}]


def reply(method: str, result: Value) -> Steps:
    """Answer the last expected request of this method."""
    return [{"do": "reply", "method": method, "answer": {"result": result}}]


def fail(method: str, code: int | str, message: str) -> Steps:
    """Answer the last expected request of this method with an error."""
    answer = {"error": {"code": code, "message": message}}
    return [{"do": "reply", "method": method, "answer": answer}]


def send(method: str, parameters: Value) -> Steps:
    """Send a notification."""
    return [{"do": "send", "method": method, "params": parameters}]


def ask(method: str, parameters: Value, number: int = 1) -> Steps:
    """Send a request to the client and wait for the answer, which `received` returns."""
    return [{"do": "ask", "method": method, "params": parameters, "id": number}]


def request(method: str, parameters: Value, number: int) -> Steps:
    """Send a request to the client, and do not wait for the answer."""
    return [{"do": "request", "method": method, "params": parameters, "id": number}]


def answer(number: int, result: Value) -> Steps:
    """Answer the client's request with this id, which is a later one's now for `reply`."""
    return [{"do": "answer", "id": number, "result": result}]


def content(value: Value, role: str = "assistant") -> Steps:
    """Send one `chat/contentReceived` of the current chat."""
    return send("chat/contentReceived", {"chatId": "$chat", "role": role, "content": value})


def text(*pieces: str, role: str = "assistant") -> Steps:
    """Send each piece as one text content."""
    return list(chain(*(content({"type": "text", "text": piece}, role) for piece in pieces)))


def rewriting(*contents: Value, number: int = 1) -> Steps:
    """Send contents of a rewrite; a string is a piece of the text."""
    whole = [{"type": "text", "text": it} if isinstance(it, str) else it for it in contents]
    params = [{"rewriteId": f"$rewrite{number}", "content": it} for it in whole]
    return list(chain(*(send("rewrite/contentReceived", it) for it in params)))


def progress(state: str, words: str = "") -> Steps:
    """Send a content of type progress: `running` with a text, or `finished`."""
    return content({"type": "progress", "state": state, "text": words}, "system")


def status(name: str) -> Steps:
    """Send `chat/statusChanged` of the current chat."""
    return send("chat/statusChanged", {"chatId": "$chat", "status": name})


def stream(
    count: int,
    pieces: Sequence[str] = ("word ",),
    rate: float = 0,
    until: str | None = None,
    chats: Sequence[str] = ("$chat",),
) -> Steps:
    """Send `count` text contents that cycle through `pieces`, in which `$n` is the 0-based number.

    `rate`: chunks per second, 0 for as fast as the client reads. The method `until` ends it. Each
    of `chats` gets every piece.
    """
    fields = {"count": count, "pieces": list(pieces), "rate": rate, "until": until}
    return [{"do": "stream", "chats": list(chats), **fields}]


def pause(milliseconds: float) -> Steps:
    """Send nothing for a while."""
    return [{"do": "pause", "ms": milliseconds}]


def gate(path: Path) -> Steps:
    """Make a named pipe; read nothing and send nothing until somebody has opened it to write."""
    os.mkfifo(path)
    return [{"do": "gate", "path": str(path)}]


def raw(data: bytes) -> Steps:
    """Write bytes to stdout as they are, framed or not."""
    return [{"do": "raw", "base64": base64.b64encode(data).decode()}]


def write(path: Path, words: str) -> Steps:
    """Write a file, as a tool does."""
    return [{"do": "write", "path": str(path), "text": words}]


def stderr(words: str) -> Steps:
    """Write to stderr."""
    return [{"do": "stderr", "text": words}]


def leave(code: int) -> Steps:
    """Exit at once with this status."""
    return [{"do": "leave", "code": code}]


def stubborn() -> Steps:
    """Ignore SIGTERM, SIGHUP, SIGINT, `shutdown`, `exit` and the end of stdin from now on."""
    return [{"do": "stubborn"}]


def offspring() -> Steps:
    """Start a child that ignores all signals it can, and has a child in another process group.

    Both have `OFFSPRING` in their command line. The script continues when both ignore signals.
    """
    return [{"do": "offspring", "name": OFFSPRING}]


def handshake(config: Value = CONFIG) -> Steps:
    """Initialize as the real server does, with two models and two agents, but without a welcome.

    Only empty chats show a welcome, so in a test that types at once it would depend on timing.
    """
    return [
        *(*expect("initialize"), *reply("initialize", {}), *expect("initialized")),
        *send("config/updated", config),
    ]


def turn(*steps: Sequence[Step], model: str = MODEL) -> Steps:
    """Wait for a prompt, begin a turn like the real server, perform these steps, end the turn."""
    prompting = {"chatId": "$chat", "model": model, "status": "prompting"}
    return [
        *(*expect("chat/prompt"), *send("chat/opened", {"chatId": "$chat"})),
        *(*text("$prompt\n", role="user"), *status("running")),
        *reply("chat/prompt", prompting),
        *chain(*steps),
        *(*status("idle"), *progress("finished")),
    ]

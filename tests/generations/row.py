"""A row of the documents' tables: what the document says, what the server sends, what is expected.

The functions below build the messages of the documents' servers, in the forms of the documents. A
row has the steps of `tests/support/generations/peer.py`; a bare content means its notification.
`turn` adds what every prompt had at that time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

Value: TypeAlias = Any
Step: TypeAlias = Mapping[str, Value]
Sent: TypeAlias = tuple[str, Value]
"""A method and required params (see `seen.fits`); None: no params."""

SERVERS: Final = {"000": "behaviors", "001": "tool_servers", "002": "first_draft"}
"""The server of each document."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A statement of one or more documents.

    names: as in the documents' tables ("000-1 001-1"). says: the statement in short. server: what
    it does when it gets the row's name as a prompt. does: what the user does (`stage.Stage`).
    words: those of the server's command line. With words, or `fresh`, the row has a server of its
    own.

    Expected: shown (in the transcript at the end), whole (all of it), hidden (not there), other (in
    the second chat's transcript), status (of the chat, at some time), ends (at the end), completed
    (items of the last completion), listed (rows of the panel), usage, offers, told (messages
    outside of chats), asked (in requests), sent and unsent (to the server), count (of messages
    sent, by method), answered (the client's answers), files (their content, None if they are gone),
    order (of messages in the whole life of the server). `drawn`: tested with Neovim, which decides
    it.

    decided: why it differs from the document.
    """

    names: str
    says: str
    server: Sequence[Step] = ()
    does: Sequence[str] = ("prompt",)
    contexts: Sequence[Mapping[str, Value]] = ()
    words: Sequence[str] = ()
    fresh: bool = False
    kept: Mapping[str, str] = field(default_factory=dict)
    repo_map: bool = True
    shown: Sequence[str] = ()
    whole: str | None = None
    hidden: Sequence[str] = ()
    other: Sequence[str] = ()
    status: Mapping[str, Value] = field(default_factory=dict)
    ends: Mapping[str, Value] = field(default_factory=dict)
    completed: Sequence[str] = ()
    listed: Sequence[str] = ()
    usage: Sequence[str] = ()
    offers: Mapping[str, Value] = field(default_factory=dict)
    told: Sequence[str] = ()
    asked: Mapping[str, Value] = field(default_factory=dict)
    sent: Sequence[Sent] = ()
    unsent: Sequence[str] = ()
    answered: Sequence[Mapping[str, Value]] = ()
    count: Mapping[str, int] = field(default_factory=dict)
    files: Mapping[str, str | None] = field(default_factory=dict)
    order: Sequence[str] = ()
    drawn: bool = False
    decided: str = ""


# --- what servers send ---------------------------------------------------------------------------


def tell(method: str, params: Value, **more: Value) -> Step:
    """Send a notification."""
    return {"do": "tell", "method": method, "params": params, **more}


def ask(method: str, params: Value = None) -> Step:
    """Send a request, and wait for its answer."""
    return {"do": "ask", "method": method, "params": params}


def wait(method: str) -> Step:
    """Wait for a message of the client."""
    return {"do": "await", "method": method}


def content(kind: str, role: str = "assistant", **fields: Value) -> Step:
    """Send a content in the form of 000 and 001."""
    params = {"chatId": "$chat", "role": role, "content": {"type": kind, **fields}}
    return tell("chat/contentReceived", params)


def piece(content: Mapping[str, Value], *, last: bool = False, **more: Value) -> Step:
    """Send a content in the form of 002."""
    params = {"chatId": "$chat", "content": content, "isComplete": last, **more}
    return tell("chat/contentReceived", params)


def text(words: str) -> Step:
    """Send text of the assistant."""
    return content("text", text=words)


def call(kind: str, **fields: Value) -> Step:
    """Send a content about a tool call, with their common fields; 001 adds `server`."""
    base: dict[str, Value] = {"origin": "native", "id": "$chat-call", "name": "eca_read_file"}
    if kind != "toolCallPrepare":
        base["arguments"] = {"path": "$folder/a.py"}
    return content(kind, **(base | fields))


def called(**fields: Value) -> Step:
    """Send the result of a tool call."""
    outputs = [{"type": "text", "text": "what it says"}]
    result = {"error": False, "outputs": outputs, "totalTimeMs": 400}
    return call("toolCalled", **(result | {"arguments": ["$folder/a.py"]} | fields))


def asks(**fields: Value) -> Step:
    """Ask whether a tool may run."""
    return call("toolCallRun", **({"manualApproval": True} | fields))


RUNNING: Final = content("progress", "system", state="running", text="Waiting model")
ECHO: Final = content("text", "user", text="$message\n")
FINISHED: Final = content("progress", "system", state="finished")


def answer(status: str = "prompting", **more: Value) -> Step:
    """Answer the prompt."""
    result = {"chatId": "$chat", "model": "$model", "status": status, **more}
    return {"do": "answer", "result": result}


def turn(*steps: Step) -> Sequence[Step]:
    """Play a whole turn as in the diagrams of 000 and 001."""
    return [RUNNING, ECHO, answer(), *steps, FINISHED]


def config(**chat: Value) -> Step:
    """Return the choices."""
    return tell("config/updated", {"chat": chat})


def drafted(*steps: Step, status: str = "success", message: str = "Prompt sent") -> Sequence[Step]:
    """Play a turn as 002 describes it: its answer, then its pieces."""
    result = {"chatId": "$chat", "status": status, "resultMessage": message}
    return [{"do": "answer", "result": result}, *steps]


def proposal(change: Mapping[str, Value] | None, **fields: Value) -> Step:
    """Propose a change in the form of 002, in the last piece of an answer."""
    told = {"type": "fileChange", "description": "A change", "manualApproval": True, **fields}
    if change is not None:
        told |= {"file": told.get("file", "src/calc.py"), "changes": [change]}
    return piece(told, last=True)

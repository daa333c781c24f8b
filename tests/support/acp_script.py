"""Steps of a script for `scripted_server --lines`: what an ACP agent says, besides `script.py`."""

from collections.abc import Sequence
from itertools import chain

from tests.support.script import Step, Steps, Value, ask, expect, reply, request, send

SESSION = "session-1"
ANSWERS: Value = [
    {"optionId": "o1", "name": "Allow", "kind": "allow_once"},
    {"optionId": "o2", "name": "Always in this project", "kind": "allow_always"},
    {"optionId": "o3", "name": "Always for this user", "kind": "allow_always"},
    {"optionId": "o4", "name": "Reject", "kind": "reject_once"},
]


def handshake(**result: Value) -> Steps:
    """Answer initialize; `result` has more members of the answer."""
    return [*expect("initialize"), *reply("initialize", {"protocolVersion": 1} | result)]


def session(session_id: str = SESSION, **result: Value) -> Steps:
    """Make a session; `result` has more members of the answer."""
    return [*expect("session/new"), *reply("session/new", {"sessionId": session_id, **result})]


def can(*methods: str, load: bool = True) -> Value:
    """Return the capabilities of an agent with these methods of sessions (`session/…`)."""
    has: Value = {"loadSession": load, "sessionCapabilities": {name: {} for name in methods}}
    return {"agentCapabilities": has}


def said(text_of_user: str, text_of_agent: str, session_id: str = SESSION) -> Steps:
    """Replay a prompt and its answer."""
    return [
        *update("user_message_chunk", session_id, content={"type": "text", "text": text_of_user}),
        *text(text_of_agent, session_id=session_id),
    ]


def update(variant: str, session_id: str = SESSION, **members: Value) -> Steps:
    """Send an update."""
    changed = {"sessionUpdate": variant, **members}
    return send("session/update", {"sessionId": session_id, "update": changed})


def text(*pieces: str, session_id: str = SESSION) -> Steps:
    """Send pieces of the answer."""
    contents = ({"type": "text", "text": piece} for piece in pieces)
    told = (update("agent_message_chunk", session_id, content=each) for each in contents)
    return list(chain.from_iterable(told))


def permission(call_id: str, number: int = 1, *, waits: bool = True, **call: Value) -> Steps:
    """Ask whether a call may run, and wait for the answer, or not."""
    told = {"toolCallId": call_id, **call}
    asked = {"sessionId": SESSION, "toolCall": told, "options": ANSWERS}
    return (ask if waits else request)("session/request_permission", asked, number)


def turn(*steps: Sequence[Step], ends: str = "end_turn") -> Steps:
    """Wait for a prompt, perform these steps, and end the turn."""
    end = reply("session/prompt", {"stopReason": ends})
    return [*expect("session/prompt"), *chain(*steps), *end]

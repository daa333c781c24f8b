"""The demo agent as an agent of the Agent Client Protocol: a wire that translates.

The engine speaks ECA. Each of its messages becomes what this protocol has for it: a content becomes
a session/update, a call that needs approval a session/request_permission, a question a form.
"""

import asyncio
import uuid
from collections.abc import Iterator, Mapping
from typing import Final

from eca_nvim.demo.eca import EcaServer
from eca_nvim.demo.engine import REJECTED, STOPPED
from eca_nvim.demo.scenes import welcome
from eca_nvim.demo.tools import Workshop
from eca_nvim.demo.wire import Handler, Refused, Table, Wire
from eca_nvim.jsonrpc import INTERNAL_ERROR, LineFraming

INTRODUCTION: Final[Table] = {
    "protocolVersion": 1,
    "agentInfo": {"name": "eca-demo", "title": "Demo agent", "version": "1"},
    "agentCapabilities": {
        "loadSession": False,
        "promptCapabilities": {"embeddedContext": True},
        "sessionCapabilities": {"close": {}},
    },
    "authMethods": [],
    "_meta": {"welcome": welcome()},
}
COMMANDS = (
    ("fix", "Fix a bug in a file, after approval", None),
    ("run", "Run a command, after approval", None),
    ("ask", "Ask you two questions", None),
    ("plan", "Work through a list of tasks", None),
    ("tokens", "Stream many tokens", {"hint": "how many"}),
)
KINDS: Final[Mapping[object, str]] = {
    "read_file": "read",
    "edit_file": "edit",
    "write_file": "edit",
    "move_file": "move",
    "shell_command": "execute",
    "editor_diagnostics": "search",
}
STATUSES: Final[Mapping[object, str]] = {
    "toolCallRun": "pending",
    "toolCallRunning": "in_progress",
    "toolCallRejected": "failed",
}
TASK_STATUSES: Final[Mapping[object, str]] = {"in-progress": "in_progress", "done": "completed"}
NAMES: Final[Mapping[str, tuple[str, str]]] = {
    "mode": ("Mode", "mode"),
    "model": ("Model", "model"),
    "effort": ("Effort", "thought_level"),
}
"""The name and the category of each option with a list of values."""
Offers = Mapping[str, str]
ASK = "ask"
MODES: Final[Offers] = {ASK: "Ask first", "bypassPermissions": "Bypass permissions"}
MODELS: Final[Offers] = {"demo/scripted": "Scripted", "demo/echo": "Echo"}
EFFORTS: Final[Mapping[object, Offers]] = {
    "demo/scripted": {"low": "Low", "high": "High"},
    "demo/echo": {"low": "Low"},
}


class Session:
    """A session of a client: its options, and the end of its running prompt."""

    def __init__(self, session_id: str) -> None:
        self.id = session_id
        self.trusted = False
        self.failure = ""
        """What the model said when it failed, until the prompt is answered with it."""
        self.end: asyncio.Future[Table] | None = None
        """The answer to the last prompt, once its turn is over."""
        self.chosen: dict[str, object] = {"mode": ASK, "model": "demo/scripted", "effort": "low"}
        self.thinks = True

    def offers(self) -> Mapping[str, Offers]:
        """Return the values of each option, with their names."""
        return {"mode": MODES, "model": MODELS, "effort": EFFORTS[self.chosen["model"]]}

    def choose(self, option: str, value: object) -> None:
        """Change an option, which may change what another offers. Raises Refused."""
        match value:
            case bool() if option == "thoughts":
                self.thinks = value
            case str() if value in self.offers().get(option, {}):
                self.chosen[option] = value
            case _:
                raise Refused(f"{value!r} is not on offer")
        if self.chosen["effort"] not in self.offers()["effort"]:
            self.chosen["effort"] = "low"
        self.trusted = self.chosen["mode"] != ASK

    def options(self) -> list[Table]:
        """Return all options as the protocol has them."""
        selects: list[Table] = [
            {
                "id": option,
                "name": NAMES[option][0],
                "category": NAMES[option][1],
                "type": "select",
                "currentValue": self.chosen[option],
                "options": [{"value": value, "name": name} for value, name in offers.items()],
            }
            for option, offers in self.offers().items()
        ]
        thoughts = {"id": "thoughts", "name": "Thoughts", "type": "boolean"}
        return [*selects, {**thoughts, "currentValue": self.thinks}]


class AcpWire(Wire):
    """The connection to a client that speaks this protocol."""

    def __init__(self, workshop: Workshop) -> None:
        super().__init__(LineFraming())
        self._eca = EcaServer(self, workshop).handlers
        self._sessions: dict[object, Session] = {}
        self.handlers: Mapping[str, Handler] = {
            "initialize": lambda _: INTRODUCTION,
            "session/new": lambda _: self._new(),
            "session/close": self._close,
            "session/set_config_option": self._choose,
            "session/prompt": self._prompt,
            "session/cancel": self._cancel,
        }

    def notify(self, method: str, params: Table) -> None:
        """Translate a message of the engine; what this protocol has no message for is left out."""
        session = self._sessions.get(params.get("parentChatId") or params.get("chatId"))
        content = params.get("content")
        if session is None or method != "chat/contentReceived" or not isinstance(content, dict):
            return
        for update in _updates(params.get("role"), content, session):
            super().notify("session/update", {"sessionId": session.id, "update": update})
        if content.get("manualApproval"):
            self.start(self._ask_permission(session, content))
        if content["type"] == "usage" and "parentChatId" not in params and session.end:
            if session.failure:
                session.end.set_exception(Refused(session.failure, INTERNAL_ERROR))
            else:
                session.end.set_result({"stopReason": "end_turn"})

    async def request(self, method: str, params: Table) -> object:
        """Ask a question with a form of two fields. Raises Refused for any other request."""
        match params:
            case {"chatId": session_id, "question": question, "options": list(options)}:
                offered = [option["label"] for option in options]
            case _:
                raise Refused(f"it has no {method} in this protocol ({len(params)} parameters)")
        chosen = {"type": "string", "title": question, "enum": offered}
        note = {"type": "string", "title": "Why?", "maxLength": 80}
        schema = {"properties": {"part": chosen, "note": note}, "required": ["part"]}
        form = {"mode": "form", "message": "I have two questions.", "requestedSchema": schema}
        match await super().request("elicitation/create", {"sessionId": session_id, **form}):
            case {"content": {"part": part, "note": said}}:
                return {"answer": f"{part} ({said})"}
            case {"content": {"part": part}}:
                return {"answer": part}
        return {"cancelled": True}

    async def _ask_permission(self, session: Session, call: Table) -> None:
        given = {"rawInput": call["arguments"], "content": _diffs(call)}
        options = (
            ("once", "Allow", "allow_once"),
            ("always-tool", f"Always allow {call['name']} in this session", "allow_always"),
            ("always-all", "Always allow everything in this session", "allow_always"),
            ("no", "Reject", "reject_once"),
        )
        params = {
            "sessionId": session.id,
            "toolCall": {**_call(call), **given},
            "options": [{"optionId": it, "name": name, "kind": kind} for it, name, kind in options],
        }
        answer = await super().request("session/request_permission", params)
        decided = {"chatId": session.id, "toolCallId": call["id"]}
        match answer:
            case {"outcome": {"optionId": "once"}}:
                self._eca["chat/toolCallApprove"](decided)
            case {"outcome": {"optionId": "always-tool"}}:
                self._eca["chat/toolCallApprove"]({**decided, "save": "session"})
            case {"outcome": {"optionId": "always-all"}}:
                session.trusted = True
                self._eca["chat/update"]({**decided, "trust": True})
                self._eca["chat/toolCallApprove"](decided)
            case _:
                self._eca["chat/toolCallReject"](decided)

    def _new(self) -> object:
        session = Session(str(uuid.uuid4()))
        self._sessions[session.id] = session
        commands = [
            {"name": name, "description": what, "input": hint} for name, what, hint in COMMANDS
        ]
        update = {"sessionUpdate": "available_commands_update", "availableCommands": commands}
        super().notify("session/update", {"sessionId": session.id, "update": update})
        return {"sessionId": session.id, "configOptions": session.options()}

    def _session(self, params: Table) -> Session:
        session = self._sessions.get(params.get("sessionId"))
        if session is None:
            raise Refused("there is no such session")
        return session

    def _close(self, params: Table) -> object:
        session = self._session(params)
        self._cancel(params)
        del self._sessions[session.id]
        return {}

    def _choose(self, params: Table) -> object:
        session = self._session(params)
        session.choose(str(params.get("configId")), params.get("value"))
        self._eca["chat/update"]({"chatId": session.id, "trust": session.trusted})
        return {"configOptions": session.options()}

    def _prompt(self, params: Table) -> object:
        """Start a turn; its end is the answer to the prompt."""
        session = self._session(params)
        if session.end and not session.end.done():
            raise Refused("a turn is running")
        session.end, session.failure = asyncio.get_running_loop().create_future(), ""
        asked = {"chatId": session.id, "message": _typed(params), "trust": session.trusted}
        self._eca["chat/prompt"](asked)
        return session.end

    def _cancel(self, params: Table) -> None:
        session = self._sessions.get(params.get("sessionId"))
        if session and session.end and not session.end.done():
            self._eca["chat/promptStop"]({"chatId": session.id})
            session.end.set_result({"stopReason": "cancelled"})


def _updates(role: object, content: Table, session: Session) -> Iterator[Table]:
    """Yield the updates that say the same as a content of ECA's chat."""
    match content:
        case {"type": "text", "text": text} if role == "assistant":
            yield _chunk("agent_message_chunk", text)
        case {"type": "text", "text": text} if role == "system" and text == REJECTED:
            yield _chunk("agent_message_chunk", "All right, then I leave it.")
        case {"type": "text", "text": text} if role == "system" and text != STOPPED:
            session.failure = str(text).strip()
        case {"type": "reasonText", "text": text} if session.thinks:
            yield _chunk("agent_thought_chunk", text)
        case {"type": "usage", "sessionTokens": used, "limit": {"context": size}}:
            yield {"sessionUpdate": "usage_update", "used": used, "size": size}
        case {"name": _}:
            yield from _call_updates(content)


def _call_updates(content: Table) -> Iterator[Table]:
    match content:
        case {"name": "task", "type": "toolCallPrepare" | "toolCalled"} | {"name": "ask_user"}:
            return
        case {"name": "task", "details": {"tasks": list(tasks)}}:
            yield {"sessionUpdate": "plan", "entries": [_entry(task) for task in tasks]}
        case {"type": "toolCallPrepare", "argumentsText": ""}:
            yield {"sessionUpdate": "tool_call", "status": "pending", **_call(content)}
        case {"type": "toolCalled", "outputs": list(outputs)}:
            status = "failed" if content["error"] else "completed"
            shown = [{"type": "content", "content": it} for it in outputs]
            yield _change(content, status, content=[*_diffs(content), *shown])
        case {"type": "toolCallRun" | "toolCallRunning" | "toolCallRejected" as kind}:
            given = {"rawInput": content["arguments"], "content": _diffs(content)}
            yield _change(content, STATUSES[kind], **given)


def _typed(params: Table) -> str:
    """Return what the user typed, which comes first: what follows belongs to contexts."""
    match params.get("prompt"):
        case list(blocks):
            return next((str(it["text"]) for it in blocks if it.get("type") == "text"), "")
    return ""


def _chunk(kind: str, text: object) -> Table:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}}


def _call(content: Table) -> Table:
    kind = KINDS.get(content["name"], "other")
    return {"toolCallId": content["id"], "title": content["summary"], "kind": kind}


def _change(call: Table, status: str, **more: object) -> Table:
    return {"sessionUpdate": "tool_call_update", **_call(call), "status": status, **more}


def _entry(task: Table) -> Table:
    status = TASK_STATUSES.get(task["status"], "pending")
    return {"content": task["subject"], "priority": task["priority"], "status": status}


def _diffs(call: Table) -> list[Table]:
    """Return the change of a call as this protocol has it: the whole texts, or those replaced."""
    match call:
        case {"details": {"path": path}, "arguments": {"content": text}}:
            texts = {"newText": text}
        case {
            "details": {"path": path},
            "arguments": {"new_content": new, "original_content": old},
        }:
            texts = {"oldText": old, "newText": new}
        case _:
            return []
    return [{"type": "diff", "path": path, **texts}]

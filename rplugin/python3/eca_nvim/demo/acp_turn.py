"""A turn of the demo as an agent of the Agent Client Protocol tells it.

The scenes and tools are those of the other protocol: each content that they send becomes a
session/update, a request to run a tool a session/request_permission, a question a form.

Rules kept here: what this protocol has no message for is left out. An error of the model is the
answer to the prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from eca_nvim.demo.acp_options import Options
from eca_nvim.demo.memory import Session
from eca_nvim.demo.tools import Plan
from eca_nvim.demo.turn import Chat, Turn
from eca_nvim.demo.wire import RequestFailed, Wire

Table = Mapping[str, object]

KINDS: Final[Mapping[str, str]] = {
    "read_file": "read",
    "edit_file": "edit",
    "write_file": "edit",
    "move_file": "move",
    "shell_command": "execute",
    "editor_diagnostics": "search",
}
STATUSES: Final[Mapping[str, str]] = {
    "toolCallRun": "pending",
    "toolCallRunning": "in_progress",
    "toolCallRejected": "failed",
}
TASK_STATUSES: Final[Mapping[object, str]] = {"in-progress": "in_progress", "done": "completed"}
ONCE, ALWAYS_TOOL, ALWAYS_ALL, NEVER = "once", "always-tool", "always-all", "no"


class ModelFailed(Exception):
    """Raised by an error of the model; the text is its words."""


@dataclass(frozen=True, slots=True)
class Address:
    """The session that a turn belongs to, and its options."""

    session_id: str
    options: Options


class AcpTurn(Turn):
    """One prompt being answered."""

    def __init__(
        self,
        wire: Wire,
        chat: Chat,
        prompt: str,
        session: Session,
        address: Address,
    ) -> None:
        parent = None if address.session_id == chat.id else address.session_id
        super().__init__(wire, chat, prompt, session, parent)
        self._address = address
        self._session_id = address.session_id

    def subagent_turn(self, chat: Chat, prompt: str) -> Turn:
        """Return a turn of a subagent; all it does is part of this session."""
        return AcpTurn(self._wire, chat, prompt, self._session, self._address)

    def content(self, role: str, content: Table) -> None:
        """Send the updates that say the same as one chat/contentReceived."""
        for update in self._updates(role, content):
            self._wire.notify("session/update", {"sessionId": self._session_id, "update": update})

    def _updates(self, role: str, content: Table) -> Iterator[Table]:
        match content.get("type"):
            case "text" if role == "assistant":
                yield _chunk("agent_message_chunk", content)
            case "reasonText" if self._address.options.thinks:
                yield _chunk("agent_thought_chunk", content)
            case "toolCallPrepare" if not content["argumentsText"] and content["name"] != "task":
                yield {"sessionUpdate": "tool_call", "status": "pending", **_call(content)}
            case "toolCalled" if content["name"] != "task":
                status = "failed" if content["error"] else "completed"
                outputs = content["outputs"]
                shown = [_text(it["text"]) for it in outputs] if isinstance(outputs, list) else []
                yield _change(content, status, content=[*_diffs(content), *shown])
            case "toolCallRun" | "toolCallRunning" | "toolCallRejected" as kind:
                if content["name"] == "task":
                    yield _plan(content)
                else:
                    given = {"rawInput": content["arguments"], "content": _diffs(content)}
                    yield _change(content, STATUSES[kind], **given)
            case "usage":
                limit = content["limit"]
                size = limit["context"] if isinstance(limit, dict) else 0
                used = content["sessionTokens"]
                yield {"sessionUpdate": "usage_update", "used": used, "size": size}

    def status(self, status: str) -> None:
        """Say nothing: the answer to the prompt ends the turn."""

    def system(self, text: str) -> None:
        """Fail with the model's words. Raises ModelFailed."""
        raise ModelFailed(text.strip())

    async def ask(self, question: str, options: Sequence[str]) -> str | None:
        """Ask with a form of two fields; returns None if the user gives no answer."""
        chosen = {"type": "string", "title": question, "enum": options}
        note = {"type": "string", "title": "Why?", "maxLength": 80}
        schema = {"properties": {"part": chosen, "note": note}, "required": ["part"]}
        form = {"mode": "form", "message": "I have two questions.", "requestedSchema": schema}
        params = {"sessionId": self._session_id, **form}
        answer = await self._wire.request("elicitation/create", params)
        content = answer.get("content") if isinstance(answer, dict) else None
        if not isinstance(content, dict) or "part" not in content:
            return None
        return f"{content['part']} ({content['note']})" if "note" in content else content["part"]

    async def editor(self, method: str, params: Table) -> object:
        """Raise RequestFailed: this protocol has no such request."""
        raise RequestFailed(f"it has no {method} in this protocol ({len(params)} parameters)")

    async def _approved(self, call_id: str) -> bool:
        plan = self.chat.open_calls[call_id]
        options = [
            {"optionId": ONCE, "name": "Allow", "kind": "allow_once"},
            {
                "optionId": ALWAYS_TOOL,
                "name": f"Always allow {plan.name} in this session",
                "kind": "allow_always",
            },
            {
                "optionId": ALWAYS_ALL,
                "name": "Always allow everything in this session",
                "kind": "allow_always",
            },
            {"optionId": NEVER, "name": "Reject", "kind": "reject_once"},
        ]
        params = {
            "sessionId": self._session_id,
            "toolCall": {"toolCallId": call_id, **_shown(plan)},
            "options": options,
        }
        answer = await self._wire.request("session/request_permission", params)
        outcome = answer.get("outcome") if isinstance(answer, dict) else None
        chosen = outcome.get("optionId") if isinstance(outcome, dict) else None
        if chosen == ALWAYS_TOOL:
            self._session.approved.add(plan.name)
        if chosen == ALWAYS_ALL:
            self._session.trust(self._session_id, value=True)
        return chosen in (ONCE, ALWAYS_TOOL, ALWAYS_ALL)


def _chunk(kind: str, content: Table) -> Table:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": content["text"]}}


def _text(text: object) -> Table:
    return {"type": "content", "content": {"type": "text", "text": text}}


def _call(content: Table) -> Table:
    kind = KINDS.get(str(content["name"]), "other")
    return {"toolCallId": content["id"], "title": content["summary"], "kind": kind}


def _change(call: Table, status: str, **more: object) -> Table:
    return {"sessionUpdate": "tool_call_update", **_call(call), "status": status, **more}


def _shown(plan: Plan) -> Table:
    details = {} if plan.details is None else {"details": plan.details}
    kind = KINDS.get(plan.name, "other")
    shown = {"title": plan.summary, "kind": kind, "rawInput": plan.arguments}
    return {**shown, "content": _diffs({"arguments": plan.arguments, **details})}


def _diffs(content: Table) -> list[Table]:
    """Return the change of a call as this protocol has it: the whole texts, or those replaced."""
    arguments, details = content.get("arguments"), content.get("details")
    if not isinstance(arguments, Mapping) or not isinstance(details, Mapping):
        return []
    if details.get("type") != "fileChange":
        return []
    old, new = arguments.get("original_content"), arguments.get("new_content")
    texts = (
        {"newText": arguments.get("content")} if new is None else {"oldText": old, "newText": new}
    )
    return [{"type": "diff", "path": details["path"], **texts}]


def _plan(content: Table) -> Table:
    details = content["details"]
    tasks = details["tasks"] if isinstance(details, dict) else []
    entries = [
        {
            "content": task["subject"],
            "priority": task["priority"],
            "status": TASK_STATUSES.get(task["status"], "pending"),
        }
        for task in tasks
    ]
    return {"sessionUpdate": "plan", "entries": entries}

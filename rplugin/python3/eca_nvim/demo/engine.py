"""The engine: plays a scene step by step, and tells it in ECA's messages, in the server's order."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from eca_nvim.demo.scenes import EXPLORE, HELLO, SCENES, Step, facts
from eca_nvim.demo.tools import Outputs, Plan, ToolFailed, Workshop
from eca_nvim.demo.wire import Refused, Table, Wire

CHUNK_PAUSE_S = 0.02
WORK_S = 0.4
"""Seconds that a task of a list pretends to take, so that it can be seen."""
ARGUMENT_PIECE = 24
GENERATING = "Generating"
REJECTED = "\nTell the agent what to do differently."
STOPPED = "\nPrompt stopped\n"
CONTEXT_LIMIT = 200_000
CONTEXT = {"System prompt": (4_200, "#61afef"), "Tool definitions": (11_300, "#e8924a")}
"""The parts of the context before the conversation: tokens and colour."""
TOOLS = frozenset({"read", "edit", "write", "move", "shell"})
"""The verbs that call a tool of the workshop; the others are methods of a turn."""


class Rejected(Exception):
    """Raised when the user has rejected a tool call; it ends the turn."""


class SceneOver(Exception):
    """Raised by a step that ends its scene; the text is what the model says to that."""


@dataclass
class Chat:
    """A chat; `calls`: its open tool calls and those of its subagents, by id."""

    id: str
    title: str | None = None
    trusted: bool = False
    tokens: int = 0
    turn: Turn | None = None
    calls: dict[str, Call] = field(default_factory=dict)

    def record(self, role: str, content: Table) -> None:
        """Remember a content that is sent. What a subagent sends is forgotten."""


@dataclass(frozen=True)
class Call:
    """An open tool call of a turn."""

    turn: Turn
    plan: Plan
    approval: asyncio.Future[bool]


class Turn:
    """One prompt being answered. `root`: the user's chat, if this is a turn of a subagent."""

    task: asyncio.Task[object]

    def __init__(
        self, wire: Wire, workshop: Workshop, chat: Chat, prompt: str, root: Chat | None = None
    ) -> None:
        self._wire = wire
        self._workshop = workshop
        self._chat = chat
        self._prompt = prompt
        self._root = root or chat
        self._facts = facts(prompt, workshop.folder, workshop.text)
        self._tasks: dict[str, str] = {}
        self._doing = ""

    def begin(self, **echo: str) -> None:
        """Repeat the prompt, and report that its answer begins."""
        self._tell("user", type="text", text=f"{self._prompt}\n", **echo)
        self._tell_status("running")

    async def run(self) -> None:
        """Play the scene that the prompt asks for."""
        self._progress("Waiting model")
        if self._chat.title is None:
            title = " ".join(self._prompt.split())[:40]
            self._tell("system", type="metadata", title=title or "Demo")
        prompt = self._prompt.partition("\n<contexts>")[0].lower()  # ignore words in file names
        try:
            await self._play(next((it for key, it in SCENES.items() if key.search(prompt)), HELLO))
        except SceneOver as end:
            await self._say(str(end))
        except Rejected:
            self._tell("system", type="text", text=REJECTED)
        except Refused as fault:
            await self._say(f"Your editor could not answer: {fault}")
        except ToolFailed as fault:
            await self._say(f"That did not work, so I stop here: {fault}")
        self._end()

    def stop(self) -> None:
        """Stop as the real server does: open calls are rejected last, and there is no `idle`."""
        self._tell("system", type="text", text=STOPPED)
        self._tell_status("stopping")
        self._tell("system", type="progress", state="finished")
        for call_id, call in reversed(self._root.calls.items()):
            call.turn.tell_call("toolCallRejected", call_id, call.plan, reason="user")
        self._root.calls.clear()
        self.task.cancel()

    async def _play(self, steps: Iterable[Step]) -> None:
        for verb, *words in steps:
            filled = [word.format_map(self._facts) for word in words]
            if verb in TOOLS:
                outputs = await self._call(getattr(self._workshop, verb)(*filled))
                self._facts["output"] = outputs[-1].removeprefix("Stdout:\n")
            else:  # `_say`, `_think` and so on
                await getattr(self, f"_{verb}")(*filled)

    def _end(self) -> None:
        """Report that the turn is over, with its tokens and cost."""
        self._tell_status("idle")
        self._tell("system", type="progress", state="finished")
        context = {**CONTEXT, "Conversation": (self._chat.tokens, "#98c379")}
        tokens = sum(part for part, _ in context.values())
        cost = f"{tokens * 3 / 1_000_000:.2f}"
        self._tell(
            "system",
            type="usage",
            sessionTokens=tokens,
            limit={"context": CONTEXT_LIMIT, "output": 8_000},
            lastMessageCost=cost,
            sessionCost=cost,
            contextBreakdown={
                "categories": [
                    {"name": name, "tokens": part, "color": color}
                    for name, (part, color) in context.items()
                ],
                "usedTokens": tokens,
                "freeTokens": max(0, CONTEXT_LIMIT - tokens),
                "freeColor": "#5c6370",
                "contextLimit": CONTEXT_LIMIT,
            },
            autoCompactPercentage=75,
        )

    async def _say(self, text: str) -> None:
        self._generate()
        await self._stream_words(text, type="text")
        self._chat.tokens += len(text) // 4

    async def _think(self, text: str) -> None:
        self._generate()
        thought, started = str(uuid.uuid4()), time.monotonic()
        self._tell("assistant", type="reasonStarted", id=thought)
        await self._stream_words(text, type="reasonText", id=thought)
        took = round((time.monotonic() - started) * 1000)
        self._tell("assistant", type="reasonFinished", id=thought, totalTimeMs=took)

    async def _stream_words(self, text: str, **content: str) -> None:
        *words, last = text.split(" ")
        for piece in (*(f"{word} " for word in words), last):
            self._tell("assistant", **content, text=piece)
            await asyncio.sleep(CHUNK_PAUSE_S)

    async def _stream(self, count: str) -> None:
        """Send so many tokens as fast as the client reads them, as Markdown of many lines."""
        self._generate()
        for number in range(int(count)):
            token = ("words ", "of ", "the ", "**demo** ", "stream ")[number % 5]
            if number % 12 == 0:
                token = f"line {number}\n"
            if number % 400 == 0:
                token = f"\n\n## Part {number // 400 + 1}\n\n"
            self._tell("assistant", type="text", text=token)
            if number % 64 == 0:
                await self._wire.drain()
                await asyncio.sleep(0)
        self._chat.tokens += int(count)

    async def _call(self, plan: Plan, call_id: str | None = None) -> Outputs:
        """Prepare, run and report a tool call, with approval. Raises Rejected and ToolFailed."""
        call_id = call_id or str(uuid.uuid4())
        call = Call(self, plan, asyncio.get_running_loop().create_future())
        self._root.calls[call_id] = call
        self._generate()
        written = json.dumps(plan.arguments)
        starts = range(0, len(written), ARGUMENT_PIECE)
        for piece in ("", *(written[at : at + ARGUMENT_PIECE] for at in starts)):
            prepared = _identity(call_id, plan)
            self._tell("assistant", type="toolCallPrepare", argumentsText=piece, **prepared)
            await asyncio.sleep(CHUNK_PAUSE_S / 2)
        asks = plan.ask and not self._root.trusted and plan.name not in self._workshop.approved
        self.tell_call("toolCallRun", call_id, plan, manualApproval=asks)
        if asks:
            self._progress("Waiting for tool call approval")
            if not await call.approval:
                self.tell_call("toolCallRejected", call_id, plan, reason="user")
                self._root.calls.pop(call_id, None)
                raise Rejected
        self.tell_call("toolCallRunning", call_id, plan)
        self._progress("Calling tool")
        started, fault = time.monotonic(), None
        try:
            outputs = await self._workshop.run(call_id, plan)
        except ToolFailed as failed:
            outputs, fault = failed.outputs, failed
        self._root.calls.pop(call_id, None)
        self.tell_call(
            "toolCalled",
            call_id,
            plan,
            error=fault is not None,
            outputs=[{"type": "text", "text": text} for text in outputs],
            totalTimeMs=round((time.monotonic() - started) * 1000),
        )
        self._generate()
        if fault:
            raise fault
        return outputs

    async def _need(self, name: str, text: str, otherwise: str) -> None:
        """End the scene unless a file has a text."""
        if text not in self._workshop.text(name):
            raise SceneOver(otherwise)

    async def _ask(self, question: str, *options: str) -> None:
        call_id, request_id = str(uuid.uuid4()), str(uuid.uuid4())
        asked = {"question": question, "options": [{"label": option} for option in options]}
        ids = {"chatId": self._chat.id, "requestId": request_id, "toolCallId": call_id}

        async def run() -> Outputs:
            self._progress("Waiting answer")
            params = {**ids, **asked, "allowFreeform": True}
            answer = await self._wire.request("chat/askQuestion", params)
            if not isinstance(answer, dict) or answer.get("cancelled"):
                raise ToolFailed("User cancelled the question.")
            self._facts["answer"] = str(answer.get("answer") or "")
            return (f"User answered: {self._facts['answer']}",)

        try:
            await self._call(Plan("ask_user", f"Q: {question}", asked, run), call_id)
        except ToolFailed:
            raise SceneOver("Never mind, then.") from None

    async def _diagnose(self) -> None:
        found: list[object] = []

        async def run() -> Outputs:
            answer = await self._wire.request("editor/getDiagnostics", {})
            items = answer.get("diagnostics") if isinstance(answer, dict) else None
            found.extend(items if isinstance(items, list) else [])
            return (f"{len(found)} diagnostics",)

        await self._call(Plan("editor_diagnostics", "Checking all diagnostics", {}, run))
        lines = [_finding(item) for item in found if isinstance(item, dict)]
        told = f"**{len(lines)}**:\n\n" + "\n".join(lines)
        self._facts["findings"] = told if found else "**no diagnostics** for this workspace."

    async def _task(self, op: str, *subjects: str) -> None:
        """Plan tasks, or start or complete one; each call sends the whole list."""
        arguments: dict[str, object] = {"op": op}
        if op == "plan":
            self._tasks = dict.fromkeys(subjects, "pending")
            arguments["tasks"] = [{"subject": it} for it in subjects]
        else:
            self._tasks[subjects[0]] = "in-progress" if op == "start" else "done"
            arguments["ids"] = [list(self._tasks).index(subjects[0]) + 1]
        before = ["done", *self._tasks.values()]  # each task waits for the one before it
        tasks = [
            {
                "id": number,
                "subject": subject,
                "status": state,
                "priority": "high" if number == 1 else "medium",
                "blockedBy": [number - 1] if number > 1 else [],
                "isBlocked": before[number - 1] != "done",
            }
            for number, (subject, state) in enumerate(self._tasks.items(), 1)
        ]

        async def run() -> Outputs:
            await asyncio.sleep(WORK_S)
            return (f"{op}: done",)

        doing = subjects[0] if op == "start" else None
        details = {"type": "task", "tasks": tasks, "activeSummary": doing}
        await self._call(Plan("task", "Working on the plan", arguments, run, details))

    async def _delegate(self, agent: str, activity: str, task: str) -> None:
        """Let a subagent play EXPLORE in a chat of its own, inside a tool call.

        When one of its calls is rejected, it goes on. As from the real server, its contents name
        the parent's chat, its status does not, and there is no chat/opened.
        """
        call_id = str(uuid.uuid4())
        chat = Chat(f"subagent-{call_id}")
        turn = Turn(self._wire, self._workshop, chat, task, self._root)
        details: dict[str, object] = {"type": "subagent", "subagentChatId": chat.id}
        details |= {"model": "demo/scripted", "agentName": agent, "step": 1, "maxSteps": 25}

        async def explore() -> str:
            try:
                for number, steps in enumerate(EXPLORE, 1):
                    if number > 1:
                        details["step"] = number
                        self.tell_call("toolCallRunning", call_id, plan)
                    await turn._play(steps)
            except Rejected:
                await turn._say("The user rejected it.")
                return "I was not allowed to run it."
            except ToolFailed as fault:
                await turn._say(f"That failed: {fault}")
                return f"I found out nothing: {fault}"
            return turn._facts["report"]

        async def run() -> Outputs:
            turn.begin()
            turn._progress("Waiting model")
            self._facts["report"] = await explore()
            turn._end()
            return (f"## Agent '{agent}' Result\n\n{self._facts['report']}",)

        arguments = {"agent": agent, "task": task, "activity": activity}
        plan = Plan("spawn_agent", f"{agent}: {activity}", arguments, run, details)
        await self._call(plan, call_id)

    async def _report(self, text: str) -> None:
        self._facts["report"] = text

    async def _fail(self, text: str) -> None:
        self._tell("system", type="text", text=text)

    async def _crash(self, text: str) -> None:
        raise RuntimeError(text)

    def _generate(self) -> None:
        """Report that the model generates, unless that was reported last."""
        if self._doing != GENERATING:
            self._progress(GENERATING)

    def _progress(self, text: str) -> None:
        self._doing = text
        self._tell("system", type="progress", state="running", text=text)

    def _tell_status(self, status: str) -> None:
        self._wire.notify("chat/statusChanged", {"chatId": self._chat.id, "status": status})

    def tell_call(self, kind: str, call_id: str, plan: Plan, **more: object) -> None:
        """Send a content about a tool call."""
        details = {} if plan.details is None else {"details": plan.details}
        known = {**_identity(call_id, plan), "arguments": plan.arguments, **details}
        self._tell("assistant", type=kind, **known, **more)

    def _tell(self, role: str, **content: object) -> None:
        parent = {} if self._chat is self._root else {"parentChatId": self._root.id}
        params = {"chatId": self._chat.id, "role": role, "content": content, **parent}
        self._wire.notify("chat/contentReceived", params)
        self._chat.record(role, content)


def _identity(call_id: str, plan: Plan) -> dict[str, object]:
    named = {"id": call_id, "name": plan.name, "summary": plan.summary}
    return {**named, "server": "demo", "origin": "native"}


def _finding(item: Mapping[str, object]) -> str:
    place = item.get("range")
    start = place.get("start") if isinstance(place, dict) else None
    line = start.get("line") if isinstance(start, dict) else "?"
    path = unquote(str(item.get("uri", "")).rpartition("/")[2])
    return f"- `{path}:{line}` {item.get('severity')}: {item.get('message')}"

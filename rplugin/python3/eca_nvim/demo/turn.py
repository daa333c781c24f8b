"""A turn of the demo: the actions that its scripted model can take.

Rules kept here: messages are sent in the order of the real server. A rejected call ends the turn; a
stopped turn sends no `idle`.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from eca_nvim.demo.memory import Session
from eca_nvim.demo.tools import Outcome, Plan
from eca_nvim.demo.wire import Wire

GENERATING = "Generating"
CHUNK_PAUSE_S = 0.02
ARGUMENT_PIECE = 24
CONTEXT_LIMIT = 200_000
CONTEXT = (("System prompt", 4_200, "#61afef"), ("Tool definitions", 11_300, "#e8924a"))
"""The parts of the context before the conversation: name, tokens, colour."""


class Rejected(Exception):
    """Raised when the user has rejected a tool call; it ends the turn."""


@dataclass
class Chat:
    """The running state of a chat; `subagents`: the chats of the subagents that run in it."""

    id: str
    tokens: int = 0
    turn: asyncio.Task[None] | None = None
    approvals: dict[str, asyncio.Future[bool]] = field(default_factory=dict)
    open_calls: dict[str, Plan] = field(default_factory=dict)
    subagents: list[Chat] = field(default_factory=list)


class Turn:
    """One prompt being answered."""

    def __init__(
        self, wire: Wire, chat: Chat, prompt: str, session: Session, parent: str | None = None
    ) -> None:
        self.prompt = prompt
        self.chat = chat
        self._wire = wire
        self._session = session
        self._parent = {} if parent is None else {"parentChatId": parent}
        self._doing = ""

    def subagent_turn(self, chat: Chat, prompt: str) -> Turn:
        """Return a turn in the chat of a subagent."""
        return Turn(self._wire, chat, prompt, self._session, self.chat.id)

    def content(self, role: str, content: Mapping[str, object]) -> None:
        """Send one chat/contentReceived."""
        params = {"chatId": self.chat.id, "role": role, "content": content, **self._parent}
        self._wire.notify("chat/contentReceived", params)

    def status(self, status: str) -> None:
        """Send chat/statusChanged."""
        self._wire.notify("chat/statusChanged", {"chatId": self.chat.id, "status": status})

    def progress(self, text: str) -> None:
        """Report what the agent is doing."""
        self._doing = text
        self.content("system", {"type": "progress", "state": "running", "text": text})

    def finished(self) -> None:
        """Report that the turn is over."""
        self.content("system", {"type": "progress", "state": "finished"})

    def system(self, text: str) -> None:
        """Send a text of the system, not of the model."""
        self.content("system", {"type": "text", "text": text})

    async def say(self, text: str) -> None:
        """Stream an answer, word by word."""
        self._generate()
        for piece in _pieces(text):
            self.content("assistant", {"type": "text", "text": piece})
            await asyncio.sleep(CHUNK_PAUSE_S)
        self.chat.tokens += len(text) // 4

    async def say_at_once(self, chunks: Sequence[str]) -> None:
        """Stream chunks as fast as the client reads them."""
        self._generate()
        for number, chunk in enumerate(chunks):
            self.content("assistant", {"type": "text", "text": chunk})
            if number % 64 == 0:
                await self._wire.drain()
                await asyncio.sleep(0)
        self.chat.tokens += len(chunks)

    async def think(self, text: str) -> None:
        """Stream a thought."""
        self._generate()
        thought = {"id": str(uuid.uuid4())}
        started = time.monotonic()
        self.content("assistant", {"type": "reasonStarted", **thought})
        for piece in _pieces(text):
            self.content("assistant", {"type": "reasonText", **thought, "text": piece})
            await asyncio.sleep(CHUNK_PAUSE_S)
        total = round((time.monotonic() - started) * 1000)
        self.content("assistant", {"type": "reasonFinished", **thought, "totalTimeMs": total})

    async def call(self, plan: Plan, call_id: str | None = None) -> Outcome:
        """Prepare, run and report a tool call, with approval if it is needed. Raises Rejected."""
        call_id = call_id or str(uuid.uuid4())
        self.chat.open_calls[call_id] = plan
        await self._prepare(call_id, plan)
        ask = plan.ask and not self._trusted() and plan.name not in self._session.approved
        self._tool("toolCallRun", call_id, plan, manualApproval=ask)
        if ask and not await self._approved(call_id):
            self._tool("toolCallRejected", call_id, plan, reason="user")
            self.chat.open_calls.pop(call_id, None)
            raise Rejected
        return await self._run(call_id, plan)

    async def ask(self, question: str, options: Sequence[str]) -> str | None:
        """Ask the user a question, in a tool call; returns None if the user cancels it."""
        call_id, answers = str(uuid.uuid4()), list[str]()
        asked = {"question": question, "options": [{"label": option} for option in options]}

        async def run() -> Outcome:
            ids = {"chatId": self.chat.id, "requestId": str(uuid.uuid4()), "toolCallId": call_id}
            self.progress("Waiting answer")
            params = {**ids, **asked, "allowFreeform": True}
            answer = await self._wire.request("chat/askQuestion", params)
            given = answer if isinstance(answer, dict) else {"cancelled": True}
            if given.get("cancelled"):
                return Outcome(("User cancelled the question.",), failed=True)
            answers.append(str(given.get("answer") or ""))
            return Outcome((f"User answered: {answers[0]}",))

        await self.call(Plan("ask_user", f"Q: {question}", asked, run), call_id)
        return answers[0] if answers else None

    async def editor(self, method: str, params: Mapping[str, object]) -> object:
        """Send a request to the editor and return its result."""
        return await self._wire.request(method, params)

    def usage(self) -> None:
        """Report tokens and cost."""
        conversation = self.chat.tokens
        tokens = conversation + sum(part for _, part, _ in CONTEXT)
        limit = {"context": CONTEXT_LIMIT, "output": 8_000}
        cost = f"{tokens * 3 / 1_000_000:.2f}"
        parts = (*CONTEXT, ("Conversation", conversation, "#98c379"))
        names = ("name", "tokens", "color")
        self.content(
            "system",
            {
                "type": "usage",
                "sessionTokens": tokens,
                "limit": limit,
                "lastMessageCost": cost,
                "sessionCost": cost,
                "contextBreakdown": {
                    "categories": [dict(zip(names, part, strict=True)) for part in parts],
                    "usedTokens": tokens,
                    "freeTokens": max(0, CONTEXT_LIMIT - tokens),
                    "freeColor": "#5c6370",
                    "contextLimit": CONTEXT_LIMIT,
                },
                "autoCompactPercentage": 75,
            },
        )

    def report_running(self, call_id: str, plan: Plan) -> None:
        """Report that a call runs, or its progress; its end repeats the last reported plan."""
        self.chat.open_calls[call_id] = plan
        self._tool("toolCallRunning", call_id, plan)

    def drop_open_calls(self) -> None:
        """Report the open calls of a stopped turn as rejected, as the real server does."""
        for subagent in self.chat.subagents:
            self.subagent_turn(subagent, "").drop_open_calls()
        for call_id, plan in self.chat.open_calls.items():
            self._tool("toolCallRejected", call_id, plan, reason="user")
        self.chat.open_calls.clear()
        self.chat.approvals.clear()

    def _generate(self) -> None:
        """Report that the model generates, unless that was reported last."""
        if self._doing != GENERATING:
            self.progress(GENERATING)

    def _trusted(self) -> bool:
        """Return whether the user trusts this chat, or for a subagent its parent's chat."""
        return not self._session.trusted.isdisjoint({self.chat.id, *self._parent.values()})

    async def _prepare(self, call_id: str, plan: Plan) -> None:
        self._generate()
        written = json.dumps(plan.arguments)
        pieces = [
            written[at : at + ARGUMENT_PIECE] for at in range(0, len(written), ARGUMENT_PIECE)
        ]
        for piece in ("", *pieces):
            self.content(
                "assistant",
                {
                    "type": "toolCallPrepare",
                    **_identity(call_id, plan),
                    "argumentsText": piece,
                },
            )
            await asyncio.sleep(CHUNK_PAUSE_S / 2)

    async def _approved(self, call_id: str) -> bool:
        self.progress("Waiting for tool call approval")
        approval: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self.chat.approvals[call_id] = approval
        try:
            return await approval
        finally:
            self.chat.approvals.pop(call_id, None)

    async def _run(self, call_id: str, plan: Plan) -> Outcome:
        self.report_running(call_id, plan)
        self.progress("Calling tool")
        started = time.monotonic()
        outcome = await plan.run()
        self._session.undo[call_id] = outcome.before
        plan = self.chat.open_calls.pop(call_id, plan)
        self._tool(
            "toolCalled",
            call_id,
            plan,
            error=outcome.failed,
            outputs=[{"type": "text", "text": text} for text in outcome.outputs],
            totalTimeMs=round((time.monotonic() - started) * 1000),
        )
        self._generate()
        return outcome

    def _tool(self, kind: str, call_id: str, plan: Plan, **more: object) -> None:
        content: dict[str, object] = {"type": kind, **_identity(call_id, plan)}
        content |= {"arguments": plan.arguments, **more}
        if plan.details is not None:
            content["details"] = plan.details
        self.content("assistant", content)


def _identity(call_id: str, plan: Plan) -> dict[str, object]:
    return {
        "id": call_id,
        "name": plan.name,
        "server": "demo",
        "origin": "native",
        "summary": plan.summary,
    }


def _pieces(text: str) -> list[str]:
    """Split a text into words, each with the blank after it."""
    pieces = [f"{word} " for word in text.split(" ")]
    pieces[-1] = pieces[-1][:-1]
    return pieces

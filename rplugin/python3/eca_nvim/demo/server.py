"""The demo agent's server: handles the messages of one client.

Rules kept here: two tables map methods to handlers. Requests with other methods are refused, as the
real server does. Several chats can run at once, with one turn each; a second prompt replaces the
first.
"""

from __future__ import annotations

import asyncio
import sys
import uuid
from collections.abc import Callable, Mapping

from eca_nvim.demo import queries
from eca_nvim.demo.archive import Archive
from eca_nvim.demo.choices import OFFER
from eca_nvim.demo.memory import Session
from eca_nvim.demo.scenes import play
from eca_nvim.demo.texts import welcome
from eca_nvim.demo.tools import Workshop
from eca_nvim.demo.turn import Chat, Rejected, Turn
from eca_nvim.demo.wire import Wire
from eca_nvim.jsonrpc import METHOD_NOT_FOUND, Notification, Request

CRASHED = 3

Params = Mapping[str, object]


class DemoServer:
    """The demo agent for one client."""

    def __init__(self, wire: Wire, workshop: Workshop) -> None:
        self._wire = wire
        self._workshop = workshop
        self._chats: dict[str, Chat] = {}
        self._session = Session()
        self._leaving = asyncio.Event()
        self._exit_code = 0
        self._archive = Archive(wire, self._session)
        self._requests: Mapping[str, Callable[[Params], object]] = {
            **self._archive.requests,
            "initialize": lambda _: {"chatWelcomeMessage": welcome()},
            "shutdown": lambda _: None,
            "chat/prompt": self._prompt,
            "chat/queryContext": lambda params: {
                "contexts": queries.contexts(workshop.folder, _query(params))
            },
            "chat/queryFiles": lambda params: {
                "files": queries.files(workshop.folder, _query(params))
            },
            "chat/queryCommands": lambda params: {"commands": queries.commands(_query(params))},
        }
        self._notifications: Mapping[str, Callable[[Params], None]] = {
            **self._archive.notifications,
            "initialized": lambda _: self._introduce(),
            "exit": lambda _: self._leaving.set(),
            "chat/promptStop": self._stop,
            "chat/toolCallApprove": self._approve,
            "chat/toolCallReject": self._reject,
        }

    async def run(self) -> int:
        """Serve until the client disconnects or a scene crashes; return the exit code."""
        listening = asyncio.create_task(self._listen())
        leaving = asyncio.create_task(self._leaving.wait())
        await asyncio.wait((listening, leaving), return_when=asyncio.FIRST_COMPLETED)
        turns = [chat.turn for chat in self._chats.values() if chat.turn]
        for task in (listening, leaving, *turns):
            task.cancel()
        await asyncio.gather(listening, leaving, *turns, return_exceptions=True)
        return self._exit_code

    async def _listen(self) -> None:
        async for event in self._wire.events():
            match event:
                case Request(request_id, method, params) if method in self._requests:
                    self._wire.respond(request_id, self._requests[method](_table(params)))
                case Request(request_id, method):
                    self._wire.refuse(request_id, METHOD_NOT_FOUND, f"no method {method}")
                case Notification(method, params) if method in self._notifications:
                    self._notifications[method](_table(params))
                case _:
                    continue

    def _introduce(self) -> None:
        self._wire.notify("config/updated", {"chat": {**OFFER, "welcomeMessage": welcome()}})

    def _prompt(self, params: Params) -> object:
        chat_id = str(params.get("chatId") or uuid.uuid4())
        chat = self._chats.setdefault(chat_id, Chat(chat_id))
        if self._archive.find(chat_id) is None:
            self._wire.notify("chat/opened", {"chatId": chat_id})
        self._session.trust(chat_id, params.get("trust"))
        if chat.turn:
            chat.turn.cancel()
        chat.approvals.clear()
        chat.open_calls.clear()
        turn = Turn(self._wire, chat, str(params.get("message", "")), self._session)
        turn.content(
            "user", {"type": "text", "contentId": str(uuid.uuid4()), "text": f"{turn.prompt}\n"}
        )
        turn.status("running")
        chat.turn = asyncio.create_task(self._play(chat, turn))
        chat.turn.add_done_callback(self._note_end)
        model = self._archive.choose(chat_id, params).model
        return {"chatId": chat_id, "model": model, "status": "prompting"}

    async def _play(self, chat: Chat, turn: Turn) -> None:
        turn.progress("Waiting model")
        saved = self._archive.find(chat.id)
        if saved is not None and saved.title is None:
            title = " ".join(turn.prompt.split())[:40]
            turn.content("system", {"type": "metadata", "title": title or "Demo"})
        try:
            await play(turn, self._workshop)
        except Rejected:
            turn.system("\nTell the agent what to do differently.")
        turn.status("idle")
        turn.finished()
        turn.usage()

    def _note_end(self, task: asyncio.Task[None]) -> None:
        fault = None if task.cancelled() else task.exception()
        if fault is not None:
            print(f"demo agent: {fault!r}", file=sys.stderr, flush=True)  # noqa: T201
            self._exit_code = CRASHED
            self._leaving.set()

    def _stop(self, params: Params) -> None:
        chat = self._chats.get(str(params.get("chatId")))
        if chat is None or chat.turn is None or chat.turn.done():
            return
        turn = Turn(self._wire, chat, "", self._session)
        turn.system("\nPrompt stopped\n")
        turn.status("stopping")
        turn.finished()
        turn.drop_open_calls()
        chat.turn.cancel()

    def _chat_or_subagent(self, chat_id: str) -> Chat | None:
        """Return a chat, or the chat of a subagent that runs in one."""
        subagents = (subagent for chat in self._chats.values() for subagent in chat.subagents)
        return self._chats.get(chat_id) or next((it for it in subagents if it.id == chat_id), None)

    def _approve(self, params: Params) -> None:
        chat = self._chat_or_subagent(str(params.get("chatId")))
        call_id = str(params.get("toolCallId"))
        if chat and params.get("save") == "session" and call_id in chat.open_calls:
            self._session.approved.add(chat.open_calls[call_id].name)
        self._decide(chat, call_id, approved=True)

    def _reject(self, params: Params) -> None:
        chat = self._chat_or_subagent(str(params.get("chatId")))
        self._decide(chat, str(params.get("toolCallId")), approved=False)

    def _decide(self, chat: Chat | None, call_id: str, *, approved: bool) -> None:
        approval = chat.approvals.get(call_id) if chat else None
        if approval and not approval.done():
            approval.set_result(approved)


def _table(params: object) -> Params:
    return params if isinstance(params, dict) else {}


def _query(params: Params) -> str:
    return str(params.get("query", ""))

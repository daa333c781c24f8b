"""The demo agent as an agent of the Agent Client Protocol (`python -m eca_nvim.demo --acp`).

Rules kept here: as in `server`, two tables map methods to handlers. A session has one turn at a
time; a second prompt is refused.
"""

from __future__ import annotations

import asyncio
import sys
import uuid
from collections.abc import Callable, Mapping

from eca_nvim.demo.acp_options import Options
from eca_nvim.demo.acp_turn import AcpTurn, Address, ModelFailed
from eca_nvim.demo.memory import Session
from eca_nvim.demo.scenes import play
from eca_nvim.demo.texts import welcome
from eca_nvim.demo.tools import Workshop
from eca_nvim.demo.turn import Chat, Rejected
from eca_nvim.demo.wire import Wire
from eca_nvim.jsonrpc import METHOD_NOT_FOUND, MessageId, Notification, Request

CRASHED = 3
INTERNAL_ERROR = -32603
INVALID_PARAMS = -32602

Params = Mapping[str, object]

INTRODUCTION: Params = {
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
    ("tokens", "Stream many tokens", "how many"),
)


class Refused(Exception):
    """Raised for a request that cannot be done; the text says why."""


class AcpServer:
    """The demo agent for one client."""

    def __init__(self, wire: Wire, workshop: Workshop) -> None:
        self._wire = wire
        self._workshop = workshop
        self._session = Session()
        self._chats: dict[str, Chat] = {}
        self._options: dict[str, Options] = {}
        self._crashed = asyncio.Event()
        self._requests: Mapping[str, Callable[[Params], object]] = {
            "initialize": lambda _: INTRODUCTION,
            "session/new": lambda _: self._new(),
            "session/close": self._close,
            "session/set_config_option": self._set_option,
        }

    async def run(self) -> int:
        """Serve until the client disconnects or a scene crashes; return the exit code."""
        listening = asyncio.create_task(self._listen())
        crashing = asyncio.create_task(self._crashed.wait())
        await asyncio.wait((listening, crashing), return_when=asyncio.FIRST_COMPLETED)
        turns = [chat.turn for chat in self._chats.values() if chat.turn]
        self._chats.clear()
        for task in (listening, crashing, *turns):
            task.cancel()
        await asyncio.gather(listening, crashing, *turns, return_exceptions=True)
        return CRASHED if self._crashed.is_set() else 0

    async def _listen(self) -> None:
        async for event in self._wire.events():
            match event:
                case Request(request_id, "session/prompt", params):
                    self._prompt(request_id, _table(params))
                case Request(request_id, method, params) if method in self._requests:
                    self._answer(request_id, self._requests[method], _table(params))
                case Request(request_id, method):
                    self._wire.refuse(request_id, METHOD_NOT_FOUND, f"no method {method}")
                case Notification("session/cancel", params):
                    self._cancel(_table(params))
                case _:
                    continue

    def _answer(
        self, request_id: MessageId, answer: Callable[[Params], object], it: Params
    ) -> None:
        try:
            self._wire.respond(request_id, answer(it))
        except Refused as fault:
            self._wire.refuse(request_id, INVALID_PARAMS, str(fault))

    def _new(self) -> object:
        session_id = str(uuid.uuid4())
        self._chats[session_id] = Chat(session_id)
        self._options[session_id] = options = Options()
        commands = [
            {"name": name, "description": what, "input": None if hint is None else {"hint": hint}}
            for name, what, hint in COMMANDS
        ]
        update = {"sessionUpdate": "available_commands_update", "availableCommands": commands}
        self._wire.notify("session/update", {"sessionId": session_id, "update": update})
        return {"sessionId": session_id, "configOptions": options.table()}

    def _chat(self, params: Params) -> Chat:
        chat = self._chats.get(str(params.get("sessionId")))
        if chat is None:
            raise Refused("there is no such session")
        return chat

    def _close(self, params: Params) -> object:
        chat = self._chat(params)
        if chat.turn is not None:
            chat.turn.cancel()
        del self._chats[chat.id]
        return {}

    def _set_option(self, params: Params) -> object:
        chat = self._chat(params)
        options = self._options[chat.id]
        if not options.set(str(params.get("configId")), params.get("value")):
            raise Refused(f"{params.get('value')!r} is not on offer")
        self._session.trust(chat.id, value=not options.asks)
        return {"configOptions": options.table()}

    def _cancel(self, params: Params) -> None:
        chat = self._chats.get(str(params.get("sessionId")))
        if chat is not None and chat.turn is not None:
            chat.turn.cancel()

    def _prompt(self, request_id: MessageId, params: Params) -> None:
        try:
            chat = self._chat(params)
        except Refused as fault:
            self._wire.refuse(request_id, INVALID_PARAMS, str(fault))
            return
        if chat.turn is not None and not chat.turn.done():
            self._wire.refuse(request_id, INVALID_PARAMS, "a turn is running")
            return
        address = Address(chat.id, self._options[chat.id])
        text = _text_of(params.get("prompt"))
        turn = AcpTurn(self._wire, chat, text, self._session, address)
        chat.turn = asyncio.create_task(self._play(request_id, chat, turn))

    async def _play(self, request_id: MessageId, chat: Chat, turn: AcpTurn) -> None:
        """Answer a prompt: its answer is the end of the turn."""
        reason = "end_turn"
        try:
            await play(turn, self._workshop)
        except Rejected:
            await turn.say("All right, then I leave it.")
        except ModelFailed as fault:
            self._wire.refuse(request_id, INTERNAL_ERROR, str(fault))
            return
        except asyncio.CancelledError:
            if chat.id not in self._chats:
                raise
            turn.drop_open_calls()
            reason = "cancelled"
        except Exception as fault:
            print(f"demo agent: {fault!r}", file=sys.stderr, flush=True)  # noqa: T201
            self._crashed.set()
            raise
        turn.usage()
        self._wire.respond(request_id, {"stopReason": reason})


def _table(params: object) -> Params:
    return params if isinstance(params, dict) else {}


def _text_of(prompt: object) -> str:
    """Return what the user typed, which comes first: what follows belongs to contexts."""
    blocks = prompt if isinstance(prompt, list) else []
    return next((str(it["text"]) for it in blocks if it.get("type") == "text"), "")

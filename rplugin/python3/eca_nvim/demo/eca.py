"""The demo agent as an ECA server: its messages, its chats, and what they said."""

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from eca_nvim.demo.engine import Call, Chat, Turn
from eca_nvim.demo.scenes import COMMANDS, GREET, complete, welcome
from eca_nvim.demo.tools import Workshop
from eca_nvim.demo.wire import Handler, Table, Wire

VARIANTS: Mapping[str, Sequence[str]] = {"demo/scripted": ("low", "high"), "demo/echo": ("low",)}
"""The variants of each model."""
AGENTS = ("code", "plan")
TOOLS: Mapping[str, str] = {
    "read_file": "Read a file of the scratch folder",
    "edit_file": "Change a part of a file",
    "write_file": "Write a whole file",
    "shell_command": "Run a command after approval",
}
RESOURCE = {
    "type": "mcpResource",
    "uri": "demo://notes",
    "name": "notes",
    "description": "Notes about this demo",
    "mimeType": "text/plain",
    "server": "demo",
}


@dataclass
class Message:
    """A message in the form in which the real server replays it; `id` may be empty.

    `pieces`: what was streamed of its text.
    """

    role: str
    contents: list[Table]
    id: str = ""
    pieces: list[str] = field(default_factory=list)


def _now() -> int:
    return round(time.time() * 1000)


@dataclass
class SavedChat(Chat):
    """A chat that can be replayed; times are ms since 1970."""

    title: str | None = None
    messages: list[Message] = field(default_factory=list)
    created: int = field(default_factory=_now)
    updated: int = field(default_factory=_now)
    model: str = "demo/scripted"
    agent: str = "code"
    variant: str | None = None

    def find(self, content_id: object) -> int | None:
        """Return the index of the last message with an id, or None."""
        places = [place for place, it in enumerate(self.messages) if it.id == content_id]
        return places[-1] if places else None

    def trust(self, params: Table) -> None:
        """Take the trust of a message, if it has one."""
        trusted = params.get("trust")
        self.trusted = trusted if isinstance(trusted, bool) else self.trusted

    def choose(self, params: Table) -> None:
        """Take the choices of a message. Without a variant that the model has, there is none."""
        self.model = str(params.get("model") or self.model)  # used whether it is known or not
        self.agent = str(params.get("agent") or self.agent)
        variant = params.get("variant")
        self.variant = str(variant) if variant in self.variants else None

    @property
    def variants(self) -> Sequence[str]:
        """The variants of the model."""
        return VARIANTS.get(self.model, ())

    def record(self, role: str, content: Table) -> None:
        """Record a content that is sent; called for each piece of streamed text."""
        last = self.messages[-1] if self.messages else None
        match content:
            case {"type": "text", "text": str(text)} if role == "assistant":
                if last is None or not last.pieces:
                    last = Message(role, [])
                    self.messages.append(last)
                last.pieces.append(text)
            case {"type": "text", "contentId": str(content_id), "text": str(text)}:
                replayed = {**content, "text": f"\n{text.strip()}"}
                self.messages.append(Message(role, [replayed], content_id))
                self.updated = _now()
            case {"type": "metadata", "title": str(title)}:
                self.title = title
            case {"type": "reasonStarted", "id": str(thought)}:
                self.messages.append(Message(role, [content], thought))
            case {"type": "reasonText" | "reasonFinished"} if last is not None:
                last.contents.append(content)
            case {"type": "toolCalled", "id": str(call_id)}:
                self.messages.append(Message(role, _call(content), call_id))
            case {"type": "toolCallRejected", "id": str(call_id)}:
                nothing = dict.fromkeys(("name", "server", "origin", "summary", "error"))
                self.messages.append(Message(role, _call({**content, **nothing}, content), call_id))

    def page(self, params: Table) -> tuple[list[Table], Table]:
        """Return the contents of the newest messages before a cursor, and their description."""
        total, limit = len(self.messages), params.get("limit")
        end = int(str(params.get("before") or total))
        start = max(0, end - limit) if isinstance(limit, int) and limit > 0 else 0
        return self.replay(start, end), {
            "total": total,
            "returned": end - start,
            "beforeCursor": str(start) if start else None,
            "afterCursor": str(end) if end < total else None,
            "compactionCursor": None,
        }

    def replay(self, start: int = 0, end: int | None = None) -> list[Table]:
        """Return the parameters of each chat/contentReceived that replays messages."""
        for message in self.messages[start:end]:
            if message.pieces:
                text = "".join(message.pieces).strip()
                message.contents = [{"type": "text", "text": f"\n{text}"}]
        return [
            {"chatId": self.id, "role": message.role, "content": content}
            for message in self.messages[start:end]
            for content in message.contents
        ]


def _call(ended: Table, prepared: Table | None = None) -> list[Table]:
    """Return the four contents of a call that has ended."""
    known = {key: value for key, value in ended.items() if key not in ("outputs", "totalTimeMs")}
    first = {**(prepared or known), "type": "toolCallPrepare", "argumentsText": ""}
    last = {"outputs": [], "totalTimeMs": None, **ended, "type": "toolCalled"}
    steps = [{**known, "type": kind} for kind in ("toolCallRun", "toolCallRunning")]
    return [first, *steps, last]


def yesterday() -> SavedChat:
    """Return a chat of the day before, long enough for several pages."""
    chat = SavedChat("demo-yesterday", title="A long chat from yesterday")
    for number in range(1, 121):
        asked = {"type": "text", "text": f"question {number}", "contentId": f"yesterday-{number}"}
        chat.record("user", asked)
        answered = {"type": "text", "text": f"Answer **{number}**: all is well."}
        chat.record("assistant", answered)
    chat.created -= 90_000_000
    chat.updated -= 86_400_000
    return chat


class EcaServer:
    """The demo agent for one client. Several chats can run at once, with one turn each."""

    def __init__(self, wire: Wire, workshop: Workshop) -> None:
        self._wire = wire
        self._workshop = workshop
        old = yesterday()
        self._chats = {old.id: old}
        self.handlers: Mapping[str, Handler] = {
            "initialize": lambda _: {"chatWelcomeMessage": welcome()},
            "initialized": lambda _: self._introduce(),
            "shutdown": lambda _: None,
            "exit": lambda _: wire.leave(),
            "chat/prompt": self._prompt,
            "chat/promptStop": self._known(_stop),
            "chat/toolCallApprove": self._approve,
            "chat/toolCallReject": lambda params: self._decide(params, approved=False),
            "chat/queryContext": lambda params: {"contexts": self._contexts(_query(params))},
            "chat/queryFiles": lambda params: {"files": self._files(_query(params))},
            "chat/queryCommands": lambda params: {"commands": _commands(_query(params))},
            "completion/inline": _complete,
            "chat/list": lambda _: {"chats": self._listed()},
            "chat/open": self._known(self._open, {"found": False}),
            "chat/history": self._known(_history, _error("chat_not_found", "no such chat")),
            "chat/update": self._known(self._update),
            "chat/clear": self._known(self._clear),
            "chat/delete": self._delete,
            "chat/rollback": self._known(self._roll_back),
            "chat/fork": self._known(self._fork),
            "chat/addFlag": self._known(self._add_flag),
            "chat/removeFlag": self._known(_remove_flag),
            "chat/selectedModelChanged": self._choose_model,
            "chat/selectedAgentChanged": self._choose_agent,
        }

    def _known(
        self, handler: Callable[[SavedChat, Table], object], otherwise: object = None
    ) -> Handler:
        """Return a handler of messages about a chat; `otherwise`: its answer if that is unknown."""

        def handle(params: Table) -> object:
            chat = self._chats.get(str(params.get("chatId")))
            return (otherwise if chat is None else handler(chat, params)) or {}

        return handle

    def _introduce(self) -> None:
        model = next(iter(VARIANTS))
        offer = {"models": list(VARIANTS), "agents": AGENTS, "variants": VARIANTS[model]}
        selected = {"selectModel": model, "selectAgent": AGENTS[0], "welcomeMessage": welcome()}
        tools = [{"name": name, "description": about} for name, about in TOOLS.items()]
        native = {"type": "native", "name": "demo", "status": "running", "tools": tools}
        self._wire.notify("tool/serverUpdated", native)
        self._wire.notify("config/updated", {"chat": offer | selected})

    def _prompt(self, params: Table) -> object:
        chat_id = str(params.get("chatId") or uuid.uuid4())
        if chat_id not in self._chats:
            self._chats[chat_id] = SavedChat(chat_id)
            self._wire.notify("chat/opened", {"chatId": chat_id})
        chat = self._chats[chat_id]
        chat.trust(params)
        if chat.turn is not None:  # a second prompt replaces the first
            chat.turn.task.cancel()
        chat.calls.clear()
        chat.turn = Turn(self._wire, self._workshop, chat, str(params.get("message", "")))
        chat.turn.begin(contentId=str(uuid.uuid4()))
        chat.turn.task = self._wire.start(chat.turn.run())
        chat.choose(params)
        return {"chatId": chat_id, "model": chat.model, "status": "prompting"}

    def _approve(self, params: Table) -> None:
        call = self._decide(params, approved=True)
        if call and params.get("save") == "session":
            self._workshop.approved.add(call.plan.name)

    def _decide(self, params: Table, *, approved: bool) -> Call | None:
        call_id = str(params.get("toolCallId"))
        call = next((it.calls[call_id] for it in self._chats.values() if call_id in it.calls), None)
        if call and not call.approval.done():
            call.approval.set_result(approved)
        return call

    def _files(self, query: str) -> Sequence[Table]:
        folder = self._workshop.folder
        return [
            {"type": "file", "path": str(path)}
            for path in sorted(path for path in folder.rglob("*") if path.is_file())
            if query in str(path.relative_to(folder)).lower()
        ]

    def _contexts(self, query: str) -> Sequence[Table]:
        folder = {"type": "directory", "path": str(self._workshop.folder)}
        resources = [RESOURCE] if query in "notes" else []
        return [{"type": "cursor"}, folder, *self._files(query), *resources]

    def _listed(self) -> Sequence[Table]:
        return [
            {
                "id": chat.id,
                "title": chat.title,
                "status": "idle",
                "messageCount": len(chat.messages),
                "createdAt": chat.created,
                "updatedAt": chat.updated,
                "model": chat.model,
            }
            for chat in sorted(self._chats.values(), key=lambda it: it.updated, reverse=True)
        ]

    def _open(self, chat: SavedChat, params: Table) -> object:
        page, meta = chat.page(params)
        self._wire.notify("chat/cleared", {"chatId": chat.id, "messages": True})
        self._wire.notify("chat/opened", {"chatId": chat.id, "title": chat.title})
        self._send(page)  # before the answer, as the real server does
        selection = {"model": chat.model, "agent": chat.agent, "variant": chat.variant}
        return {"found": True, "chatId": chat.id, "title": chat.title, "meta": meta} | {
            "selection": {**selection, "variants": chat.variants, "trust": chat.trusted}
        }

    def _update(self, chat: SavedChat, params: Table) -> None:
        chat.trust(params)  # counts for later tool calls: pending ones still wait
        if isinstance(title := params.get("title"), str):
            chat.title = " ".join(title.split())[:40]
            self._say(chat, {"type": "metadata", "title": chat.title})

    def _clear(self, chat: SavedChat, _params: Table) -> None:
        chat.messages.clear()
        self._wire.notify("chat/cleared", {"chatId": chat.id, "messages": True})

    def _delete(self, params: Table) -> object:
        chat = self._chats.pop(str(params.get("chatId")), None)
        if chat is not None and chat.turn is not None:
            chat.turn.task.cancel()
        self._wire.notify("chat/deleted", {"chatId": params.get("chatId")})
        return {}

    def _roll_back(self, chat: SavedChat, params: Table) -> None:
        include, place = params.get("include"), chat.find(params.get("contentId"))
        if not isinstance(include, list):
            return
        place = len(chat.messages) if place is None else place
        if "tools" in include:
            for message in reversed(chat.messages[place:]):  # the last change first
                self._workshop.undo(message.id)
        if "messages" in include:
            del chat.messages[place:]
            self._replay(chat)

    def _fork(self, chat: SavedChat, params: Table) -> None:
        place = chat.find(params.get("contentId"))
        if place is None:
            return
        copy = SavedChat(
            str(uuid.uuid4()), f"{chat.title} (2)", messages=chat.messages[: place + 1]
        )
        copy.model, copy.agent, copy.variant = chat.model, chat.agent, chat.variant
        self._chats[copy.id] = copy
        self._wire.notify("chat/opened", {"chatId": copy.id, "title": copy.title})
        self._send(copy.replay())
        self._say(chat, {"type": "text", "text": f"Chat forked to: {copy.title}"})

    def _add_flag(self, chat: SavedChat, params: Table) -> None:
        place = chat.find(params.get("contentId"))
        if place is not None:
            flag_id = str(uuid.uuid4())
            flag = {"type": "flag", "text": str(params.get("text")), "contentId": flag_id}
            chat.messages.insert(place + 1, Message("system", [flag], flag_id))
            self._replay(chat)

    def _choose_model(self, params: Table) -> None:
        chat = self._chats.get(str(params.get("chatId")), SavedChat(""))
        chat.choose(params)
        self._send_choice(chat, {})

    def _choose_agent(self, params: Table) -> None:
        chat = self._chats.get(str(params.get("chatId")), SavedChat(""))
        chat.agent = str(params.get("agent"))
        self._send_choice(chat, {"selectModel": chat.model})

    def _send_choice(self, chat: SavedChat, config: Table) -> None:
        """Send the configuration after a choice: for the chat if it is known, else for all."""
        address = {"chatId": chat.id} if chat.id else {}
        variants = {"variants": chat.variants, "selectVariant": chat.variant}
        self._wire.notify("config/updated", {"chat": {**config, **variants}, **address})

    def _replay(self, chat: SavedChat) -> None:
        self._wire.notify("chat/cleared", {"chatId": chat.id, "messages": True})
        self._send(chat.replay())

    def _say(self, chat: SavedChat, content: Table) -> None:
        self._send([{"chatId": chat.id, "role": "system", "content": content}])

    def _send(self, contents: Sequence[Table]) -> None:
        for params in contents:
            self._wire.notify("chat/contentReceived", params)


def _stop(chat: SavedChat, _params: Table) -> None:
    if chat.turn is not None and not chat.turn.task.done():
        chat.turn.stop()


def _history(chat: SavedChat, params: Table) -> object:
    cursors = map(str, range(len(chat.messages) + 1))
    if str(params.get("before") or len(chat.messages)) not in cursors:
        return _error("cursor_expired", "refetch the latest page")
    page, meta = chat.page(params)
    return {"contents": page, "meta": meta}


def _error(code: str, message: str) -> Table:
    return {"error": {"code": code, "message": message}}


def _remove_flag(chat: SavedChat, params: Table) -> None:
    place = chat.find(params.get("contentId"))
    if place is not None:
        del chat.messages[place]


def _complete(params: Table) -> object:
    match params:
        case {"docText": str(text), "position": {"line": int(line), "character": int(place)} as at}:
            item = {"text": complete(text, line, place), "docVersion": params.get("docVersion")}
            return {"items": [item | {"range": {"start": at, "end": at}}]}
    return _error("invalid_request", "no position")


def _query(params: Table) -> str:
    return str(params.get("query", "")).lower()


def _commands(query: str) -> Sequence[Table]:
    return [
        {
            "name": name,
            "type": "mcpPrompt" if name == GREET else "native",
            "description": description,
            "arguments": list(arguments),
        }
        for name, description, arguments in COMMANDS
        if query in name
    ]

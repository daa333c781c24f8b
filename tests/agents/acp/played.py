"""Played: a recording of a real agent, read by our inbox and shown in chats, in one process.

The bytes that the agent wrote are cut, framed and decoded as those of a process are. What its
client did is done to the chat: prompts are sent, requests answered alike, turns stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from tests.chat.driver import Driver
from tests.support.servers import ACP_RECORDINGS
from tests.support.told import TellForm

from eca_nvim.agents.acp.inbox import Inbox
from eca_nvim.agents.acp.requests.forms import read_form
from eca_nvim.chat.model.blocks import ToolBlock
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.vocabulary.events import ChatEvent, QuestionAsked, ToolRequested
from eca_nvim.chat.vocabulary.states import Turn, TurnEnd
from eca_nvim.chat.vocabulary.turn_events import TurnBegan, TurnEnded
from eca_nvim.jsonrpc import FramingFault
from eca_nvim.jsonrpc.framing import LineFraming
from eca_nvim.protocol.acp import DecodeError, decode_agent_request, decode_notification
from eca_nvim.protocol.acp.elicitation import CreateElicitation
from eca_nvim.protocol.acp.options import OptionsResult
from eca_nvim.protocol.acp.sessions import NewSessionResult, StopReason
from eca_nvim.protocol.acp.tool_call import RequestPermission
from eca_nvim.protocol.acp.updates import SessionUpdated
from eca_nvim.protocol.base.codec import Body, decode_as, decode_body
from eca_nvim.review.snapshots import Blobs, Snapshot
from eca_nvim.session.proposals.whole_writes import CallEvent, with_actual_diff

RECORDINGS: Final = tuple(sorted(path.stem for path in ACP_RECORDINGS.glob("*.jsonl")))
FOLDER: Final = "/workspace"
FILES: Final = {"old.txt": b"one\ntwo\nthree\n"}
_ENDS: Final = {StopReason.CANCELLED: TurnEnd.STOPPED, StopReason.REFUSAL: TurnEnd.DECLINED}

Cut = Callable[[bytes], Iterable[bytes]]
"""Cuts the bytes of a message, and may add noise between messages."""


def whole(line: bytes) -> Iterator[bytes]:
    yield line


def in_threes(line: bytes) -> Iterator[bytes]:
    return (line[at : at + 3] for at in range(0, len(line), 3))


def noisy(line: bytes) -> Iterator[bytes]:
    yield b'\xff\xfe{"jsonrpc": oops\n\n{"jsonrpc":"2.0","method":"x/notify","params":[1]}\n'
    yield line


@cache
def recorded(name: str) -> tuple[Mapping[str, Any], ...]:
    text = (ACP_RECORDINGS / f"{name}.jsonl").read_text(encoding="utf-8")
    return tuple(map(json.loads, text.splitlines()))


class _Session:
    """A session of the recording: our inbox and the chat that shows it."""

    def __init__(self, folder: str) -> None:
        self.inbox = Inbox(folder, "")
        self.driver = Driver(("/workspace",))
        self.events: list[ChatEvent] = []
        self.asked: dict[str, ToolRequested] = {}
        self.shown: list[str] = []
        self.turns = 0

    def take(self, events: Iterable[ChatEvent]) -> None:
        for event in events:
            self.events.append(event)
            shown = event
            if isinstance(shown, CallEvent):
                shown = with_actual_diff(self.driver.chat, shown, _file_before)
            self.driver.hear_exactly(shown)

    def ask(self, request_id: str, params: RequestPermission) -> None:
        before, asked = self.inbox.requested(request_id, params)
        self.take([*before, asked])
        self.asked[request_id] = asked
        self.shown += _request(self.driver.items[-1])

    def decide(self, request_id: str, option: str | None) -> None:
        asked = self.asked.pop(request_id, None)
        if asked is None:
            return
        choice = next((it for it in asked.choices if it.id == option), None)
        if choice is not None:
            self.driver.decide_shown(self.driver.shown(asked.call.id), choice.id)
            assert self.driver.decided[-1] == ("chat", asked.call.id, choice.id)
        event = self.inbox.calls.decided(asked.call.id, choice)
        self.take([] if event is None else [event])

    def ask_form(self, request_id: str, params: CreateElicitation) -> None:
        assert params.requested_schema is not None
        fields, _ = read_form(params.requested_schema)
        self.take([QuestionAsked(request_id, params.message, form=fields)])

    def fill_in(self, request_id: str, content: Mapping[str, Any]) -> None:
        """Answer each field of a form by what the client sent, and send the same."""
        question = self.driver.items[-1]
        assert question["call"] == request_id
        for value in content.values():
            self.shown += _field(self.driver.items[-1])
            self.driver.answer(request_id, str(value))
        assert self.driver.told(TellForm)[-1].content == content

    def end(self, end: TurnEnded) -> None:
        self.take(self.inbox.turn_ended())
        self.driver.hear_exactly(end)


_BLOBS = Blobs()


def _file_before(_chat: Chat, _block: ToolBlock | None, path: str) -> Snapshot:
    """Return a file of the recorded workspace, where only one was."""
    text = FILES.get(path.rpartition("/")[2])
    return Snapshot() if text is None else Snapshot(_BLOBS.keep(text))


def _request(item: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the user sees of a request for approval."""
    yield f"? {item['title']}"
    yield from (f"  {line}" for line in item["lines"])
    yield from (f"  ! {warning}" for warning in item.get("warnings", ()))
    yield from (f"  {it['kind']}: {it['name']}" for it in item["choices"])


def _field(item: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the user sees of a field of a form."""
    yield f"? {item.get('place')} {item['title']}"
    yield from (f"  {line}" for line in [*item["notes"], *item["detail"].split("\n")])
    yield from (f"  {name} {about}".rstrip() for name, about in item["options"])


class Player:
    """Plays one recording; `sessions` are by the agent's ids, in the order of their coming."""

    def __init__(self, name: str, cut: Cut = whole) -> None:
        self.sessions: dict[str, _Session] = {}
        self.faults = 0
        self._cut = cut
        self._framing = LineFraming()
        self._sent: dict[object, Mapping[str, Any]] = {}
        self._owners: dict[str, _Session] = {}
        self._folder = FOLDER
        for line in recorded(name):
            self._play(line["dir"], line["msg"])

    def _play(self, direction: str, message: object) -> None:
        if direction == "c2a" and isinstance(message, dict):
            self._client(message)
        elif direction == "a2c":
            line = message if isinstance(message, str) else json.dumps(message)
            self.feed(line.encode() + b"\n")

    def feed(self, line: bytes) -> None:
        for piece in self._cut(line):
            for found in self._framing.feed(piece):
                self._agent(found)

    def _agent(self, found: bytes | FramingFault) -> None:
        try:
            assert isinstance(found, bytes)
            body = decode_body(found)
        except (AssertionError, ValueError):
            self.faults += 1
            return
        if body.method is None:
            self._answer(body)
        elif body.id is None:
            self._notification(body)
        else:
            asked = decode_agent_request(body.method, body.params)
            match asked:
                case RequestPermission(session_id):
                    session = self._session(session_id)
                    self._owners[str(body.id)] = session
                    session.ask(str(body.id), asked)
                case CreateElicitation(session_id=str(session_id)):
                    session = self._session(session_id)
                    self._owners[str(body.id)] = session
                    session.ask_form(str(body.id), asked)

    def _notification(self, body: Body) -> None:
        try:
            message = decode_notification(body.method, body.params)
        except DecodeError:
            self.faults += 1
            return
        if isinstance(message, SessionUpdated):
            session = self._session(message.session_id)
            session.take(session.inbox.receive(message.update))

    def _session(self, session_id: str) -> _Session:
        if session_id not in self.sessions:
            self.sessions[session_id] = _Session(self._folder)
        return self.sessions[session_id]

    def _client(self, message: Mapping[str, Any]) -> None:
        method, params = message.get("method"), message.get("params") or {}
        if method is None:
            result = message.get("result") or {}
            owner = self._owners.pop(str(message.get("id")), None)
            match result:
                case {"outcome": dict(outcome)} if owner is not None:
                    owner.decide(str(message["id"]), outcome.get("optionId"))
                case {"action": "accept", "content": dict(content)} if owner is not None:
                    owner.fill_in(str(message["id"]), content)
            return
        self._sent[message.get("id")] = message
        self._folder = params.get("cwd", self._folder)
        if method == "session/prompt":
            self._prompt(self._session(params["sessionId"]), params.get("prompt", ()))
        elif method == "session/cancel":
            self._session(params["sessionId"]).driver.stop()

    def _prompt(self, session: _Session, blocks: Iterable[Mapping[str, Any]]) -> None:
        text = "".join(block.get("text", "") for block in blocks if block["type"] == "text")
        session.driver.send(text)
        if session.driver.chat.turn.state is Turn.SENDING:
            session.turns += 1
            session.take(session.inbox.turn_began())
            session.driver.hear_exactly(TurnBegan())

    def _answer(self, body: Body) -> None:
        sent = self._sent.pop(body.id, {"method": "", "params": {}})
        method, params = sent["method"], sent.get("params") or {}
        if method == "session/prompt":
            self._ended(self._session(params["sessionId"]), body)
        elif body.error is None and method == "session/new":
            made = decode_as(NewSessionResult, body.result, method)
            assert isinstance(made, NewSessionResult)
            session = self._session(made.session_id)
            session.take([session.inbox.options.opened(made)])
        elif body.error is None and method == "session/set_config_option":
            result = decode_as(OptionsResult, body.result, method)
            assert isinstance(result, OptionsResult)
            session = self._session(params["sessionId"])
            listed = session.inbox.options.listed(result.config_options or ())
            session.driver.hear_exactly(listed)

    def _ended(self, session: _Session, body: Body) -> None:
        if body.error is not None:
            session.end(TurnEnded(TurnEnd.FAILED, str(body.error["message"])))
            return
        result = json.loads(bytes(body.result))
        reason = StopReason(result["stopReason"])
        session.end(TurnEnded(_ENDS.get(reason, TurnEnd.DONE)))


def transcript(player: Player) -> str:
    """Return what the chats show in the end, and what stands around them."""
    return "\n".join(map(_chat, player.sessions.values()))


def _chat(session: _Session) -> str:
    driver = session.driver
    chat, usage = driver.chat, driver.chat.usage
    options = [f"{it.name}={it.value}{'!' * (it.value in it.unasked)}" for it in chat.options]
    around = {
        "title": chat.title,
        "options": ", ".join(options),
        "commands": len(chat.commands),
        "tokens": usage and f"{usage.session_tokens}/{usage.context_limit}",
        "ends": ", ".join(map(str, driver.ends)),
        "waiting": len(driver.items),
    }
    head = [f"{name}: {value}" for name, value in around.items() if value]
    lines: list[str] = [*driver.view.lines, "", *session.shown]
    return "\n".join([*head, "", *map(_stub, lines), ""])


def _stub(line: str) -> str:
    return line if len(line) <= 160 else f"{line[:160]}… {len(line)}"

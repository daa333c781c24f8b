"""A chat under test, with its view: events and intents in, lines and effects out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias, TypeVar

from msgspec.structs import replace
from tests.chat.view import View
from tests.support.calls import eca_call
from tests.support.told import Told, told_by

from eca_nvim.agents.eca.contents import ALWAYS_ID, choices
from eca_nvim.agents.eca.known_tools import Peeks
from eca_nvim.chat.handlers import reducer
from eca_nvim.chat.model.blocks import Changes
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.user_actions import answers, approvals, folding, prompts
from eca_nvim.chat.vocabulary.call_details import ToolCall
from eca_nvim.chat.vocabulary.effects import Decision
from eca_nvim.chat.vocabulary.events import (
    ChatEvent,
    Role,
    TextReceived,
    ToolRequested,
    ToolRunning,
)
from eca_nvim.chat.vocabulary.ops import SetPending
from eca_nvim.chat.vocabulary.requests import ALLOW, REJECT, DiskReport
from eca_nvim.chat.vocabulary.turn_events import LoginBegan, TurnBegan, TurnEnded, TurnStopping

RUNNING = TurnBegan()
STOPPING = TurnStopping()
ENDED = TurnEnded()
LOGIN = LoginBegan()

Shown: TypeAlias = tuple[int, str]
"""What an answer names: the block of the request, and the digest of what was shown."""
ToldT = TypeVar("ToldT", bound=Told)


def all_pending(
    chats: Iterable[Chat], on_disk: approvals.DiskWarnings = lambda _chat, _call: DiskReport()
) -> SetPending:
    """List all requests of some chats, as they are shown for the first time."""
    return approvals.PendingList().update(chats, on_disk)


class Driver:
    """Drives one chat. `now` is in ms; tests advance it by hand."""

    def __init__(self, folders: tuple[str, ...] = ("/workspace",), *, follow: bool = False) -> None:
        self.chat = Chat("chat", RenderSettings(folders=folders, follow=follow))
        self.view = View()
        self.peeks = Peeks()
        self.effects: list[Told] = []
        self.now = 1000
        self._shown: dict[object, Shown] = {}

    def take(self, changes: Changes) -> Changes:
        self.view.draw(changes.ops)
        self.effects += told_by(changes.effects)
        return changes

    def hear(self, *events: ChatEvent, child: str | None = None) -> None:
        """Have the agent say something, as ECA's adapter tells it."""
        self.hear_exactly(*map(_of_eca, events), child=child)

    def hear_exactly(self, *events: ChatEvent, child: str | None = None) -> None:
        for event in events:
            told = self.peeks.peek(child or "", event)
            self.take(reducer.apply(self.chat, told, self.now, child))

    def send(self, text: str, *, queue: bool = False) -> None:
        self.take(prompts.send_prompt(self.chat, text, self.now, queue=queue))

    def run(self, text: str = "hello") -> None:
        """Send a prompt and let the agent begin the turn, as a real one does."""
        self.send(text)
        self.hear(user(text + "\n"), RUNNING)

    def stop(self) -> None:
        self.take(prompts.stop_turn(self.chat, self.now))

    def unqueue(self, index: int, *, edit: bool = False) -> None:
        self.take(prompts.unqueue(self.chat, index, self.now, edit=edit))

    def approve(self, call: str, *, remember: bool = False) -> None:
        self.approve_shown(self.shown(call), remember=remember)

    def reject(self, call: str, reason: str | None = None) -> None:
        self.reject_shown(self.shown(call), reason)

    def answer(self, question: str, text: str | None) -> None:
        self.answer_shown(self.shown(question), text)

    def approve_shown(self, shown: Shown, *, remember: bool = False) -> None:
        self.decide_shown(shown, ALWAYS_ID if remember else ALLOW.id)

    def reject_shown(self, shown: Shown, reason: str | None = None) -> None:
        self.decide_shown(shown, REJECT.id, reason)

    def decide_shown(self, shown: Shown, choice: str | None, reason: str | None = None) -> None:
        self.take(approvals.decide(self.chat, *shown, choice, self.now, reason))

    def answer_shown(self, shown: Shown, text: str | None) -> None:
        self.take(answers.answer_question(self.chat, *shown, text, self.now))

    def shown(self, call: str) -> Shown:
        """Return block and digest of a request, by the agent's id, as it was last shown."""
        for item in self.items:
            block, digest = item["block"], item["digest"]
            assert isinstance(block, int)
            assert isinstance(digest, str)
            self._shown[item["call"]] = (block, digest)
        return self._shown.get(call, (0, ""))

    def toggle(self, block: int, *, to_open: bool | None = None) -> None:
        self.take(folding.toggle(self.chat, block, self.now, to_open=to_open))

    def tick(self, milliseconds: int) -> None:
        self.now += milliseconds
        self.take(reducer.tick(self.chat, self.now))

    def told(self, kind: type[ToldT]) -> list[ToldT]:
        """Return all effects of a kind so far."""
        return [effect for effect in self.effects if isinstance(effect, kind)]

    @property
    def decided(self) -> list[tuple[str, str, str | None]]:
        """The answers to calls so far: chat, call and choice."""
        return [(it.chat_id, it.call.id, it.choice) for it in self.told(Decision)]

    @property
    def items(self) -> Sequence[Mapping[str, object]]:
        """List the requests."""
        return all_pending([self.chat]).items

    @property
    def state(self) -> str | None:
        """Return the state of the chat; None before the first status."""
        state = self.view.status.get("state")
        assert state is None or isinstance(state, str)
        return state

    @property
    def ends(self) -> list[object]:
        """List the reasons why turns ended."""
        return [data["reason"] for data in self.view.fired("EcaTurnFinished")]


def _of_eca(event: ChatEvent) -> ChatEvent:
    match event:
        case ToolRequested():
            return replace(event, choices=choices(event.call))
        case ToolRunning():
            return replace(event, is_approved=True)
        case _:
            return event


def remembered(item: Mapping[str, object]) -> list[str] | None:
    """Return what a request offers to remember, None if nothing."""
    choices_ = item["choices"]
    assert isinstance(choices_, list)
    return next((each["remembers"] for each in choices_ if "remembers" in each), None)


def said(*chunks: str) -> list[TextReceived]:
    return [TextReceived(Role.ASSISTANT, chunk) for chunk in chunks]


def user(text: str) -> TextReceived:
    return TextReceived(Role.USER, text)


def system(text: str) -> TextReceived:
    return TextReceived(Role.SYSTEM, text)


def call(call_id: str = "t1", name: str | None = "read_file", **fields: object) -> ToolCall:
    build: Callable[..., ToolCall] = eca_call
    return build(call_id, name, server="eca", origin="native", **fields)

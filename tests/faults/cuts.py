"""Conversations in which the server dies at some byte, and what of them is lost: nothing.

The plugin's session with a real process that plays a recording. The user sends what was recorded,
queues the next prompt, answers what is asked, types on, and goes on once the server has died.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import anyio
from tests.agents import recorded as eca
from tests.agents.acp import acp_client
from tests.agents.acp.file_turns import OnDisk
from tests.agents.acp.test_acp_recordings import done_by_client, plain_recordings, written
from tests.agents.client import make_agent
from tests.agents.test_recordings import TURNS, WHOLE
from tests.faults.dying import answer_text
from tests.session.rig import PATIENCE, Rig
from tests.support.recording import WORKSPACE, Event
from tests.support.servers import ACP_RECORDINGS, module_command

from eca_nvim.agents.base import Agent
from eca_nvim.agents.eca.contents import ALWAYS_ID
from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.ops import SetInput, SetQueue
from eca_nvim.chat.vocabulary.query_intents import RequestTranscript
from eca_nvim.chat.vocabulary.requests import ALLOW, REJECT
from eca_nvim.chat.vocabulary.states import Turn
from eca_nvim.session import Candidate
from eca_nvim.store import Store

Value: TypeAlias = Any
CHAT: Final = "a"
TYPED: Final = "half a thought"
LAST: Final = "and on we go"
OTHER_CLIENTS: Final = {
    "compact_cmd": "its prompts are cleared",
    "double_approve": "its client answers twice",
    "login_command": "its client does not log in as ours does",
    **dict.fromkeys(("approval_config", "init_minimal", "old_client", "read"), "no end of a turn"),
}
FILES: Final = {"old.txt": "one\ntwo\nthree\n"}


class Cut(NamedTuple):
    """Where a server dies: at which message that it writes (1-based), and in which part of it."""

    protocol: str
    name: str
    number: int = 0
    part: int = 0


class Action(NamedTuple):
    """What the recorded user did: `prompt`, `stop`, `decide` or `answer`, and its text."""

    kind: str
    text: str = ""


def recordings() -> Iterator[tuple[str, str]]:
    """Yield the protocols and names of the recordings with prompts that users can relive."""
    for name in (*WHOLE, *TURNS):
        if name not in OTHER_CLIENTS and any(_eca_actions(eca.cut(name), Path())):
            yield "eca", name
    for name in plain_recordings():
        if any(_acp_actions(name, Path())):
            yield "acp", name


def _eca_actions(events: Sequence[Event], folder: Path) -> Iterator[Action]:
    asked = {it.message.get("id") for it in events if it.name == "chat/askQuestion"}
    for event in events:
        params = event.message.get("params", {})
        match event.name:
            case _ if event.direction == "s2c":
                pass
            case "chat/prompt":
                yield Action("prompt", params["message"].replace(WORKSPACE, str(folder)))
            case "chat/promptStop":
                yield Action("stop")
            case "chat/toolCallApprove":
                yield Action("decide", ALWAYS_ID if params.get("save") == "session" else ALLOW.id)
            case "chat/toolCallReject":
                yield Action("decide", REJECT.id)
            case "response" if event.message.get("id") in asked:
                yield Action("answer", event.message["result"]["answer"])


def _acp_actions(name: str, folder: Path) -> Iterator[Action]:
    for message in done_by_client(name, folder):
        match message:
            case {"method": "session/prompt", "params": {"prompt": [{"text": str(text)}]}}:
                yield Action("prompt", text)
            case {"method": "session/cancel"}:
                yield Action("stop")
            case {"result": {"outcome": {"outcome": "selected", "optionId": choice}}}:
                yield Action("decide", choice)


@dataclass
class Story:
    """A recording that is prepared to be cut; `folder` is empty at first."""

    cut: Cut
    folder: Path
    options: Sequence[str] = ()
    actions: Sequence[Action] = field(init=False)
    command: Sequence[str] = field(init=False)

    def __post_init__(self) -> None:
        self.workspace.mkdir()
        for name, text in FILES.items():
            (self.workspace / name).write_text(text)
        protocol, name, *at = self.cut
        if protocol == "eca":
            script = self._staged(eca.cut(name, TURNS.get(name)))
        else:
            script = ACP_RECORDINGS / f"{name}.jsonl"
            self.actions = [*_acp_actions(name, self.workspace)]
        mark, said = self.folder / "mark", self.folder / "said"
        arguments = [protocol, mark, said, "--at", *at, *self.options, script]
        self.command = module_command("tests.faults.dying", *map(str, arguments))

    def _staged(self, events: Sequence[Event]) -> Path:
        self.actions = [*_eca_actions(events, self.workspace)]
        script = self.folder / "events.jsonl"
        lines = [{"t": it.time, "dir": it.direction, "msg": it.message} for it in events]
        script.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return script

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    @property
    def has_died(self) -> bool:
        return (self.folder / "mark").exists()

    def said(self) -> list[tuple[bool, Value]]:
        """Return the messages that were written whole so far, with what was read before each."""
        path = self.folder / "said"
        return [json.loads(it) for it in path.read_text().splitlines()] if path.exists() else []

    def agent(self) -> Agent:
        if self.cut.protocol == "eca":
            return make_agent(self.command, self.workspace)
        return acp_client.make_agent(self.command, self.workspace, services=OnDisk())


class CutRig(Rig):
    """A session with the real agent of a story."""

    def __init__(self, story: Story) -> None:
        self._story = story
        super().__init__(Store(story.folder / "state", "/project"), (str(story.workspace),))

    def make(self, server: str) -> Candidate:
        self.named.append(server)
        return Candidate(self._story.agent(), "/bin/server", "the server")

    @property
    def turn(self) -> Turn:
        return self.session._chats.get(CHAT).turn.state

    @property
    def is_dead(self) -> bool:
        """Whether the server has died: another may run already."""
        return "failed" in self.states()

    @property
    def waiting(self) -> Sequence[str]:
        """The prompts that wait for the end of the turn."""
        told = self.view.of(SetQueue)
        return [text for _, text in told[-1].prompts] if told else []

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait for a condition, or the end of the server."""
        await self.view.until(lambda: self.is_dead or condition())


@asynccontextmanager
async def running(story: Story) -> AsyncIterator[CutRig]:
    rig = CutRig(story)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rig.session.run)
        yield rig
        tasks.cancel_scope.cancel()
    rig.session.kill()


class User:
    """Does what was recorded, as far as the server lives."""

    def __init__(self, rig: CutRig, actions: Sequence[Action]) -> None:
        self._rig, self._actions = rig, actions
        self._queued = False
        self.sent: list[str] = []
        self._decided = set[str]()

    async def act(self) -> None:
        self._rig.do(intents.OpenChat(CHAT), intents.KeepDraft(CHAT, TYPED))
        for number, action in enumerate(self._actions):
            if self._rig.is_dead or (self._rig.waiting and self._rig.turn is Turn.IDLE):
                return
            match action.kind:
                case "prompt":
                    await self._prompt(action.text, self._actions[number + 1 :])
                case "stop":
                    await self._rig.until(lambda: self._rig.turn is not Turn.SENDING)
                    self._rig.do(intents.StopTurn(CHAT))
                case _:
                    await self._answer(action)
        await self._idle()

    async def _idle(self, *, may_wait: bool = True) -> None:
        """Wait for the end of a turn, or of the queue; reject what nobody has decided."""
        rig = self._rig

        def is_idle() -> bool:
            return rig.turn is Turn.IDLE or not (may_wait or rig.waiting)

        await rig.until(lambda: is_idle() or self._fresh())
        while not (rig.is_dead or is_idle()):
            await self._decide(self._fresh()[0], REJECT.id)
            await rig.until(lambda: is_idle() or self._fresh())

    async def _prompt(self, text: str, later: Sequence[Action]) -> None:
        """Send it, unless it was queued; queue the next one, unless a stop comes before it."""
        rig = self._rig
        await self._idle(may_wait=not self._queued)
        if rig.is_dead:
            return
        if not self._queued:
            self._send(text)
        kinds = [it.kind for it in later]
        following = kinds.index("prompt") if "prompt" in kinds else 0
        self._queued = "prompt" in kinds and "stop" not in kinds[:following] and not rig.is_dead
        if self._queued:
            self._send(later[following].text, queue=True)
        await rig.done()

    def _send(self, text: str, *, queue: bool = False) -> None:
        self.sent.append(text)
        self._rig.do(intents.SendPrompt(CHAT, text, queue=queue, typed=text))

    async def _answer(self, action: Action) -> None:
        rig = self._rig
        await rig.until(lambda: self._fresh() or rig.turn is Turn.IDLE)
        if self._fresh() and not rig.is_dead:
            await self._decide(self._fresh()[0], action.text)

    def _fresh(self) -> list[Value]:
        """Return the requests that wait, without those that were answered."""
        return [it for it in self._rig.view.pending if it["id"] not in self._decided]

    async def _decide(self, item: Value, answer: str) -> None:
        self._decided.add(item["id"])
        place = (item["chat"], item["block"], item["digest"])
        is_question = item["kind"] == "question"
        kind = intents.AnswerQuestion if is_question else intents.Decide
        self._rig.do(kind(*place, answer))
        await self._rig.done()


@dataclass
class Losses:
    """What is counted after the death of a server, and what of it is lost."""

    counts: dict[str, int] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)

    def count(self, kind: str, what: str, *, is_kept: bool) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if not is_kept:
            self.lost.append(f"{kind}: {what}")


async def play(story: Story, flood: str = "") -> Losses:
    """Play a story to the death of its server and on to its end; returns what was lost.

    flood: what the server adds to the answer.
    """
    losses = Losses()
    async with running(story) as rig:
        user = User(rig, story.actions)
        with anyio.fail_after(PATIENCE):
            await user.act()
            if story.cut.number:
                await rig.view.until(lambda: rig.is_dead)
            await rig.done()
            await count(rig, user, story, losses, flood)
            if story.cut.number:
                await go_on(rig, losses)
    count_kept(user, story, losses)
    return losses


def count_kept(user: User, story: Story, losses: Losses) -> None:
    """Count what the next Neovim finds."""
    kept = Store(story.folder / "state", "/project").read()
    losses.count("drafts", TYPED, is_kept=TYPED in kept.drafts[CHAT].text)
    for text in user.sent:
        losses.count("prompts on the disk", text, is_kept=text in kept.prompts)


async def count(rig: CutRig, user: User, story: Story, losses: Losses, flood: str = "") -> None:
    """Count what the user and the server have said, and what was asked."""
    transcript: str = await rig.ask(RequestTranscript(CHAT, -1))
    if flood:
        losses.count("answers", flood[:20], is_kept=flood in transcript)
    shown = _plain(transcript.replace(flood, "") if flood else transcript)
    given_back = "\n".join(it.text for it in rig.view.of(SetInput))
    for text in user.sent:
        places = (_plain(text) in shown, text in rig.waiting, text in given_back)
        losses.count("prompts", text, is_kept=any(places))
    for text in _answers(story):
        losses.count("answers", text, is_kept=_plain(text) in shown)
    is_another = len(rig.named) > 1  # the user was as quick as the death
    for item in rig.view.pending:
        words = f"nobody hears the answer to {item['title']}"
        losses.count("requests", words, is_kept=is_another)
    losses.count("turns", f"it is {rig.turn}", is_kept=is_another or rig.turn is Turn.IDLE)
    wanted = written(story.cut.name) if story.cut.protocol == "acp" else {}
    for name in {**FILES, **wanted}:
        path = story.workspace / name
        found = path.read_text() if path.exists() else None
        losses.count("files", name, is_kept=found in (FILES.get(name), wanted.get(name)))


async def go_on(rig: CutRig, losses: Losses) -> None:
    """Send another prompt: it starts the server again, which answers as before."""
    before: str = await rig.ask(RequestTranscript(CHAT, -2))
    rig.do(intents.SendPrompt(CHAT, LAST, typed=LAST))
    await rig.done()
    await rig.view.until(lambda: rig.states()[-1] == "ready")
    after: str = await rig.ask(RequestTranscript(CHAT, -3))
    losses.count("prompts", LAST, is_kept=LAST in after or LAST in rig.waiting)
    title, _, said = before.partition("\n")
    losses.count("transcripts", title, is_kept=said.strip() in after)


def _plain(text: str) -> str:
    """Return letters and digits: white space and controls are drawn in other ways."""
    return "".join(it for it in text.replace("<U+2028>", "") if it.isalnum())


def _answers(story: Story) -> Iterator[str]:
    """Yield what the server has said whole: neighbouring pieces are one text."""
    text = ""
    for _, message in [*story.said(), (False, {})]:
        piece = answer_text(message)
        if piece is not None:
            text += piece
        elif text.strip():
            yield text.strip()
            text = ""

"""A prompt with git's diff waits for it, keeps its place, and is never lost."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from tests.session.rig import Rig

from eca_nvim.agents.base import AgentExit
from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.contexts import TextContext, WebContext
from eca_nvim.chat.vocabulary.ops import SetInput
from eca_nvim.chat.vocabulary.query_intents import ReadDiff
from eca_nvim.chat.vocabulary.turn_events import TurnBegan, TurnEnded
from eca_nvim.session.files import late_contexts
from eca_nvim.session.files.late_contexts import Diff, NoDiff
from eca_nvim.store import Store

pytestmark = pytest.mark.anyio

DIFF = {"type": "diff", "folder": "/ws", "token": "@diff"}
PAGE = {"type": "web", "url": "https://e.org"}


class FakeGit:
    """Reads the diff when the test lets it."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.gate = anyio.Event()
        self.answer: Diff | Exception = Diff("git diff", "-a\n+b", "the first 2 lines")

    async def read(self, folder: str) -> Diff:
        self.asked.append(folder)
        await self.gate.wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def git(monkeypatch: pytest.MonkeyPatch) -> FakeGit:
    git = FakeGit()
    monkeypatch.setattr(late_contexts, "read_diff", git.read)
    return git


def send(text: str, *, queue: bool = False) -> intents.SendPrompt:
    return intents.SendPrompt("a", text, [PAGE, DIFF], queue)


async def until_told(rig: Rig, count: int) -> None:
    with anyio.fail_after(60):
        while len(rig.said()) < count:
            await anyio.lowlevel.checkpoint()


async def until_asked(git: FakeGit, count: int = 1) -> None:
    with anyio.fail_after(60):
        while len(git.asked) < count:
            await anyio.lowlevel.checkpoint()


async def test_what_follows_in_the_chat_waits_and_other_chats_do_not(
    rig: Rig, git: FakeGit
) -> None:
    agent = await rig.ready()
    rig.do(send("review @diff"), intents.SendPrompt("a", "faster"))
    rig.do(intents.SendPrompt("b", "hi"))
    await until_asked(git)
    await rig.done()
    assert agent.told == [("prompt", "b", "hi")]
    assert rig.status("a")["state"] == "running"
    git.gate.set()
    await until_told(rig, 3)
    assert agent.told[1:] == [("prompt", "a", "review @diff"), ("steer", "a", "faster")]
    text = TextContext("git diff (@diff)", "-a\n+b", "@diff")
    assert agent.last_prompt.contexts == (WebContext("https://e.org"), text)
    assert "context cut: @diff: the first 2 lines" in rig.view.text()


async def test_a_diff_that_fails_is_left_out_and_a_line_says_why(rig: Rig, git: FakeGit) -> None:
    agent = await rig.ready()
    git.gate.set()
    for fault, line in (
        (NoDiff("no repository: :cd into one"), "context not sent: @diff: no repository: :cd into"),
        (ValueError("odd"), "cannot read the contexts: odd; see :Eca log"),
    ):
        git.answer, count = fault, len(agent.told)
        rig.do(send("review @diff"))
        await until_told(rig, count + 1)
        assert agent.last_prompt.contexts == (WebContext("https://e.org"),)
        assert any(line in shown for shown in [rig.view.text(), *rig.lines()])
        agent.say("a", TurnBegan(), TurnEnded())
        await rig.done()


async def test_a_stop_puts_the_prompt_back(rig: Rig, git: FakeGit) -> None:
    agent = await rig.ready()
    rig.do(send("review @diff"))
    await until_asked(git)
    rig.do(intents.StopTurn("a"))
    await rig.done()
    assert rig.view.of(SetInput) == [SetInput("a", "review @diff")]
    assert rig.status("a")["state"] == "idle"
    git.gate.set()
    rig.do(intents.SendPrompt("a", "another"))
    await until_told(rig, 1)
    assert agent.told == [("prompt", "a", "another")]


async def test_a_queued_prompt_has_the_diff_of_when_it_is_sent(rig: Rig, git: FakeGit) -> None:
    agent = await rig.ready()
    git.gate.set()
    rig.do(intents.SendPrompt("a", "first"))
    await until_told(rig, 1)
    agent.say("a", TurnBegan())
    rig.do(send("then @diff", queue=True))
    await rig.done()
    assert git.asked == []
    git.answer = Diff("git diff", "-later")
    agent.say("a", TurnEnded())
    await until_told(rig, 2)
    assert git.asked == ["/ws"]
    assert agent.last_prompt.contexts[-1] == TextContext("git diff (@diff)", "-later", "@diff")


async def test_a_server_that_is_not_ready_gets_it_when_it_is(rig: Rig, git: FakeGit) -> None:
    git.gate.set()
    rig.do(intents.OpenChat("a"))
    agent = await rig.starting()
    rig.do(send("review @diff"))
    await rig.done()
    agent.ready()
    await until_told(rig, 1)
    assert len(agent.last_prompt.contexts) == 2


async def test_a_server_that_ends_meanwhile_loses_nothing(rig: Rig, git: FakeGit) -> None:
    agent = await rig.ready()
    rig.do(send("review @diff"))
    await until_asked(git)
    agent.end(AgentExit("it crashed", 1))
    await rig.view.until(lambda: rig.view.of(SetInput))
    assert rig.view.of(SetInput) == [SetInput("a", "review @diff")]
    git.gate.set()
    await rig.done()
    assert agent.told == []


async def test_templates_read_it_on_their_own(rig: Rig, git: FakeGit) -> None:
    git.gate.set()
    found = await rig.ask(ReadDiff("/ws", 7))
    assert found == {"label": "git diff", "content": "-a\n+b", "cut": "the first 2 lines"}
    git.answer = NoDiff("none")
    assert await rig.ask(ReadDiff("/ws", 8)) == {"fault": "none"}


async def test_a_neovim_that_ends_meanwhile_keeps_it_as_a_draft(
    tmp_path: Path, git: FakeGit
) -> None:
    rig = Rig(Store(tmp_path, "/ws"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rig.session.run)
        agent = await rig.ready()
        rig.do(send("review @diff"))
        await until_asked(git)
        rig.session.kill()
        tasks.cancel_scope.cancel()
    assert agent.told == []
    assert Store(tmp_path, "/ws").read().drafts["a"].text == "review @diff"

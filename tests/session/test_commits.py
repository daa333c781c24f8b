"""Messages of commits: what is staged in a real repository, the prompt, and the answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path

import anyio
import pytest
from tests.session.rig import FakeAgent, Rig, Value
from tests.session.test_rewrites import until

from eca_nvim.chat.vocabulary.events import Role, TextReceived
from eca_nvim.chat.vocabulary.previews import FindStaged, SetMessage, StopMessage, WriteMessage
from eca_nvim.chat.vocabulary.states import TurnEnd
from eca_nvim.chat.vocabulary.turn_events import TurnEnded
from eca_nvim.session.files.staged import MOST_DIFF
from eca_nvim.session.previews import commits
from eca_nvim.session.previews.commits import message_of

pytestmark = pytest.mark.anyio

ID = "aside-commit-1"


class Repository(Rig):
    """A session in a repository."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folders=(str(folder),))
        self.folder = folder
        self._numbers = count(1000)

    async def git(self, *words: str) -> None:
        user = ("-c", "user.name=me", "-c", "user.email=me@here", "-c", "commit.gpgSign=false")
        await anyio.run_process(["git", "-C", str(self.folder), *user, *words])

    async def stage(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        await self.git("add", "--force", name)

    async def staged(self, place: Path | None = None, index: str | None = None) -> Value:
        where = str(place or self.folder)
        return await self.ask(FindStaged(where, next(self._numbers), index))

    def shown(self) -> list[tuple[str, list[str], str, str]]:
        return [
            (op.state.value, [*op.lines], op.notice, op.fault) for op in self.view.of(SetMessage)
        ]

    async def write(self, place: Path | None = None) -> FakeAgent:
        """Have a message written, until the agent is prompted."""
        agent = await self.ready()
        before = len(agent.told)
        self.do(WriteMessage(ID, str(place or self.folder)))
        await until(lambda: self._is_prompted(agent, before))
        return agent

    def _is_prompted(self, agent: FakeAgent, before: int) -> bool:
        return any(it[0] == "prompt" for it in agent.told[before:]) or bool(self.shown())

    async def ended(self) -> tuple[str, list[str], str, str]:
        await self.view.until(lambda: self.shown() and self.shown()[-1][0] != "streaming")
        return self.shown()[-1]


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Repository]:
    folder = tmp_path / "work"
    folder.mkdir()
    rig = Repository(folder)
    await rig.git("init", "-q")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rig.session.run)
        yield rig
        tasks.cancel_scope.cancel()


def said(text: str) -> TextReceived:
    return TextReceived(Role.ASSISTANT, text)


async def test_what_is_staged(rig: Repository, tmp_path: Path) -> None:
    nothing = "nothing is staged: git add what belongs to the commit"
    assert await rig.staged() == {"fault": nothing}
    assert await rig.staged(tmp_path) == {"fault": "this is no git repository: :cd into one"}
    await rig.stage("a\nb.py", "1\n")
    found = {"root": str(rig.folder), "files": ["a␤b.py"]}
    assert await rig.staged() == found
    assert await rig.staged(rig.folder / ".git" / "COMMIT_EDITMSG") == found
    await rig.git("commit", "-qm", "first")
    assert await rig.staged() == {"fault": nothing}
    for number in range(60):
        (rig.folder / f"{number}.py").touch()
    await rig.git("add", ".")
    files = (await rig.staged())["files"]
    assert (len(files), files[-1]) == (51, "… 10 more")
    await rig.git("worktree", "add", "-q", str(tmp_path / "tree"))
    (tmp_path / "tree" / "c.py").touch()
    await anyio.run_process(["git", "-C", str(tmp_path / "tree"), "add", "c.py"])
    message = rig.folder / ".git" / "worktrees" / "tree" / "COMMIT_EDITMSG"
    assert await rig.staged(message) == {"root": str(tmp_path / "tree"), "files": ["c.py"]}


async def test_another_index_counts_where_git_has_one(rig: Repository) -> None:
    await rig.stage("a.py", "1\n")
    await rig.git("commit", "-qm", "first")
    index = rig.folder / ".git" / "next-index"
    index.write_bytes((rig.folder / ".git" / "index").read_bytes())
    await rig.stage("b.py", "1\n")
    assert (await rig.staged())["files"] == ["b.py"]
    assert "fault" in await rig.staged(index=str(index))


async def test_a_message_is_written_in_the_style_of_the_project(rig: Repository) -> None:
    await rig.stage("a.py", "old = 1\n")
    await rig.git("commit", "-qm", "fix(core): the first one")
    await rig.stage("a.py", "new = 2\n")
    await rig.stage(".env", "TOKEN=hidden\n")
    await rig.stage("sub/x.key", "hidden\n")
    agent = await rig.write()
    prompt = agent.last_prompt
    assert prompt.chat_id == ID
    for words in ("-old = 1", "+new = 2", "fix(core): the first one", "secrets:\n.env\nsub/x.key"):
        assert words in prompt.text
    assert "hidden" not in prompt.text
    for piece in ("Here is", " it:\n```\nfix(core): the sec", "ond one\n", "\nWhy.\n```\n"):
        agent.say(ID, said(piece))
        await rig.done()
    agent.say(ID, TurnEnded())
    lines = ["fix(core): the second one", "", "Why."]
    assert await rig.ended() == ("ready", lines, "not shown to the agent: .env, sub/x.key", "")
    for state, part, *_ in rig.shown()[:-1]:
        assert state == "streaming"
        assert not [line for line in part if line and line not in (*lines, "Here is it:")]


async def test_a_big_change_is_cut_and_that_is_said(rig: Repository) -> None:
    await rig.stage("big.txt", "word\n" * (MOST_DIFF // 3))
    agent = await rig.write()
    assert len(agent.last_prompt.text) < MOST_DIFF + 2000
    assert "This is not all: these are the first" in agent.last_prompt.text
    agent.say(ID, said("add words"), TurnEnded())
    state, lines, notice, _ = await rig.ended()
    assert (state, lines) == ("ready", ["add words"])
    assert notice.startswith("the agent saw the first ")


@pytest.mark.parametrize(
    ("answer", "end", "fault"),
    [
        ("", TurnEnded(), "the answer is empty"),
        ("```\n```", TurnEnded(), "the answer is empty"),
        ("half", TurnEnded(TurnEnd.FAILED, "no credit"), "no credit"),
    ],
)
async def test_an_agent_that_fails(
    rig: Repository, answer: str, end: TurnEnded, fault: str
) -> None:
    await rig.stage("a.py", "1\n")
    agent = await rig.write()
    agent.say(ID, *([said(answer)] if answer else ()), end)
    assert await rig.ended() == ("failed", [], "", fault)


async def test_a_fault_of_ours_ends_no_chat(
    rig: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_agent: FakeAgent, _chat: str) -> None:
        raise ValueError("no")

    def shows_only_all(text: str, *, is_whole: bool = True) -> list[str]:
        if not is_whole:
            raise ValueError("not yet")
        return message_of(text)

    monkeypatch.setattr(FakeAgent, "forget", fails)
    monkeypatch.setattr(commits, "message_of", shows_only_all)
    await rig.stage("a.py", "1\n")
    agent = await rig.write()
    agent.say(ID, said("add x\n"))
    await rig.view.until(rig.lines)
    agent.say(ID, TurnEnded())
    assert await rig.ended() == ("ready", ["add x"], "", "")
    await rig.view.until(lambda: rig.lines()[1:])
    assert rig.lines() == [
        "cannot show the message of a commit: not yet; see :Eca log",
        "cannot close the session of a commit: no; see :Eca log",
    ]


async def test_nothing_is_asked_if_nothing_is_staged(rig: Repository) -> None:
    agent = await rig.write()
    assert (await rig.ended())[3].startswith("nothing is staged")
    assert not [it for it in agent.told if it[0] == "prompt"]


async def test_what_comes_after_a_stop_is_dropped(rig: Repository) -> None:
    await rig.stage("a.py", "1\n")
    agent = await rig.write()
    rig.do(StopMessage(ID), StopMessage("other"))
    await until(lambda: ("stop", ID) in agent.told or rig.shown())
    agent.say(ID, said("late\n"), TurnEnded())
    await rig.done()
    assert rig.shown() == []


@pytest.mark.parametrize(
    ("answer", "lines"),
    [
        ("add x", ["add x"]),
        ("\n\nadd x  \n\n- one\n\n", ["add x", "", "- one"]),
        ("Sure, here is the message:\n\n```text\nadd x\n```\nAnything else?", ["add x"]),
        ("# Title\n#fix", [" # Title", " #fix"]),
        ("add \x1b[31mx\u202e", ["add x<U+202E>"]),
        ("   ", []),
        ("x\n" * 300, ["x"] * 200),
    ],
)
async def test_what_counts_of_an_answer(answer: str, lines: list[str]) -> None:
    assert message_of(answer) == lines

"""The panel of memory: what is remembered, and what is loaded beside it, with the files."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.session.panels.test_tools import NUMBERS, rows_of, shown
from tests.session.rig import Rig
from tests.support.announced import announced

from eca_nvim.agents.abilities import (
    AgentRefused,
    CodePlace,
    FoundCommand,
    FoundContext,
    FoundPath,
    Remembered,
)
from eca_nvim.agents.base import AgentExit
from eca_nvim.chat.vocabulary.agent_events import MemoryLoaded
from eca_nvim.chat.vocabulary.completion import Command, CommandsChanged, ItemKind
from eca_nvim.chat.vocabulary.intents import StartServer
from eca_nvim.chat.vocabulary.ops import Notify
from eca_nvim.chat.vocabulary.panels import ActInPanel, SetPanel, ShowPanel
from eca_nvim.session.panels.memory import Kind, loaded_files

pytestmark = pytest.mark.anyio

NOTE = Remembered("/m/n.md", "Docker", "global", "gotcha", "Use 127.0.0.1", ("ci", "docker"), 0)
SKILL = FoundCommand("eca-info", ItemKind.SKILL, "Inspect it")
OWN = FoundCommand("review", description="/elsewhere/review.md", custom=True)


class FakeMemory:
    """What an agent remembers."""

    def __init__(self, *known: Remembered | AgentRefused) -> None:
        self.known = known

    async def entries(self) -> Sequence[Remembered]:
        for it in self.known:
            if isinstance(it, AgentRefused):
                raise it
        return [it for it in self.known if isinstance(it, Remembered)]


class FakeQueries:
    """The commands of an agent."""

    async def contexts(self, chat_id: str, query: str) -> Sequence[FoundContext]:  # noqa: ARG002
        return ()

    async def files(self, chat_id: str, query: str) -> Sequence[FoundPath]:  # noqa: ARG002
        return ()

    async def commands(self, chat_id: str) -> Sequence[FoundCommand]:  # noqa: ARG002
        return (FoundCommand("init"), SKILL, OWN)

    async def code(self, place: CodePlace) -> str:
        raise NotImplementedError(place)


async def open_panel(rig: Rig, *known: Remembered | AgentRefused) -> None:
    agent = await rig.ready()
    agent.memory, agent.queries = FakeMemory(*known), FakeQueries()
    agent.announce(announced(agents=("code",)))
    rig.do(ShowPanel("memory", "a"))
    await rig.view.until(lambda: "review" in " ".join(shown(rig)))


async def press(rig: Rig, row: str) -> object:
    found = next(it for it in rows_of(rig) if row in " ".join(text for text, *_ in it.line))
    return await rig.ask(ActInPanel("memory", "open", next(NUMBERS), row=found.id))


async def test_what_is_remembered_and_loaded_opens_its_file(rig: Rig) -> None:
    await open_panel(rig, NOTE, Remembered("relative.md", "odd"))
    rig.agent.announce(MemoryLoaded("a", 1, 2), MemoryLoaded("unknown", 1, 2))
    await rig.view.until(lambda: rig.view.of(SetPanel)[-1].title.endswith("1 of 2 in this chat"))
    assert shown(rig)[0] == "memory 2"
    assert "not tried with a real server" in shown(rig)[1]
    assert shown(rig)[2].endswith("gotcha: Use 127.0.0.1 (ci, docker)")
    assert {"code built in or configured", "eca-info built in Inspect it"} < {*shown(rig)}
    assert await press(rig, "Docker") == {"open": "/m/n.md"}
    assert await press(rig, "review") == {"open": "/elsewhere/review.md"}
    assert await press(rig, "odd") is None
    assert rig.view.of(Notify) == [
        Notify("warn", "not opened, an absolute path is needed: relative.md")
    ]


async def test_a_server_without_memory_says_so_and_shows_the_rest(rig: Rig) -> None:
    await open_panel(rig, AgentRefused("this server has no memory: it does not know memory/list"))
    assert shown(rig)[0] == "memory this server has no memory: it does not know memory/list"
    assert "init built in" in shown(rig)
    rig.agent.memory = FakeMemory(NOTE)
    await rig.ask(ActInPanel("memory", "again", next(NUMBERS)))
    await rig.view.until(lambda: shown(rig)[0] == "memory 1")


async def test_another_process_is_asked_again(rig: Rig) -> None:
    await open_panel(rig, NOTE)
    assert shown(rig)[0] == "memory 1"
    rig.agent.end(AgentExit("gone"))
    await rig.view.until(lambda: shown(rig)[0] == "eca is not ready: :Eca start starts it")
    rig.do(StartServer())
    await rig.view.until(lambda: len(rig.agents) > 1 and rig.agent.started.is_set())
    rig.agent.memory = FakeMemory()
    rig.agent.ready()
    await rig.view.until(lambda: shown(rig)[0] == "memory nothing is remembered")


async def test_another_agent_shows_the_commands_that_it_has_told(rig: Rig) -> None:
    agent = await rig.ready()
    agent.say("a", CommandsChanged((Command("plan", "Makes a plan"),)))
    rig.do(ShowPanel("memory", "a"))
    await rig.view.until(lambda: "plan the agent's Makes a plan" in shown(rig))
    assert shown(rig)[0] == "eca keeps what it remembers to itself: memory is ECA's"


def make(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")


def test_files_are_found_where_eca_loads_them_and_no_link_leads_out_of_a_project(
    tmp_path: Path,
) -> None:
    project, own, out = tmp_path / "project", tmp_path / "config" / "eca", tmp_path / "out"
    make(out, "secret.md", "folder/rule.md")
    make(project, "AGENTS.md", ".eca/rules/a.txt", ".eca/commands/deep/Do.md", ".eca/commands/x.py")
    make(project, ".eca/skills/lint/SKILL.md", ".eca/skills/lint/other.md", ".eca/agents/b/deep.md")
    make(project, ".agents/skills/shared/SKILL.md", ".eca/agents/reviewer.md")
    (project / ".eca/rules/out.md").symlink_to(out / "secret.md")
    (project / ".eca/rules/folder").symlink_to(out / "folder")
    (project / ".eca/commands/loop.md").symlink_to("loop.md")
    (project / ".eca/commands/gone.md").symlink_to(out / "gone.md")
    (project / ".eca/rules/loop").symlink_to(project / ".eca")
    make(own, "rules/mine.md")
    (own / "rules/linked.md").symlink_to(out / "secret.md")
    found = loaded_files([str(project / ".eca")], [str(own)])
    assert {(it.kind, it.name, it.source) for it in found} == {
        (Kind.INSTRUCTIONS, "AGENTS.md", "project"),
        (Kind.RULE, "a.txt", "project"),
        (Kind.COMMAND, "do", "project"),
        (Kind.SKILL, "lint", "project"),
        (Kind.SKILL, "shared", "project"),
        (Kind.AGENT, "reviewer", "project"),
        (Kind.RULE, "mine.md", "global"),
        (Kind.RULE, "linked.md", "global"),
    }
    assert all(Path(it.path).is_file() for it in found)
    assert loaded_files([], []) == []

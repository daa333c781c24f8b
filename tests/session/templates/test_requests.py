"""Requests about templates: what is asked, shown and chosen before a prompt is made of one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import pytest
from msgspec.structs import replace
from tests.session.rig import Rig
from tests.session.test_completion import FakeQueries
from tests.support.announced import announced

from eca_nvim.agents.abilities import FoundCommand
from eca_nvim.chat.vocabulary.completion import (
    Command,
    CommandsChanged,
    Complete,
    ExpandTemplate,
    ListTemplates,
    PrepareTemplate,
    SetCompletions,
    SetTemplates,
)
from eca_nvim.chat.vocabulary.options import MODE, ChatOption, OptionOffer, OptionsChanged, Unasked
from eca_nvim.session.templates.library import PROJECT_FOLDER, TemplateFolders
from eca_nvim.store import Store

Value: TypeAlias = Any
DIFF = {"content": "+x", "label": "git diff", "language": "diff"}


class Templates(Rig):
    """A session with a user's folder and a project's."""

    def __init__(self, home: Path) -> None:
        self.user, self.project = home / "user", home / "root" / PROJECT_FOLDER
        self.user.mkdir(exist_ok=True)
        self.project.mkdir(parents=True, exist_ok=True)
        super().__init__(Store(home / "state", "root"), (str(home / "root"),))
        self.session.template_folders = TemplateFolders(str(self.user))
        self._number = 0

    def number(self) -> int:
        self._number += 1
        return self._number

    async def prepare(self, name: str, rest: str = "", *, typed: bool = False) -> Value:
        return await self.ask(PrepareTemplate("a", name, self.number(), rest, typed))

    async def expand(self, name: str, digest: str, **more: Value) -> Value:
        return await self.ask(ExpandTemplate("a", name, digest, self.number(), **more))

    async def use(self, name: str, **more: Value) -> str | None:
        """Prepare and expand; returns the text."""
        prepared = await self.prepare(name)
        expanded = await self.expand(name, prepared["digest"], **more)
        return None if expanded is None else str(expanded["text"])


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


@asynccontextmanager
async def running(home: Path) -> AsyncIterator[Templates]:
    rig = Templates(home)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rig.session.run)
        await rig.ready()
        yield rig
        tasks.cancel_scope.cancel()
    rig.session.kill()


def test_all_are_listed_and_faults_are_said(home: Path) -> None:
    async def scenario() -> None:
        async with running(home) as rig:
            (rig.user / "mine.md").write_text("---\ndescription: of mine\n---\nx")
            (rig.project / "bad.md").write_text("{{y}}")
            assert await rig.ask(ListTemplates(rig.number())) is True
            (*_, last) = rig.view.of(SetTemplates)
            assert [it["name"] for it in last.templates] == [
                *("commit", "document", "explain", "fix", "mine", "review", "tests", "why")
            ]
            mine = {"name": "mine", "description": "of mine", "source": "yours", "variables": ()}
            assert last.templates[4] == mine
            assert last.templates[3]["variables"] == ("diagnostic", "file")
            fault = f"{PROJECT_FOLDER}/bad.md:1: unknown variable 'y'"
            assert [it for it in rig.lines() if it.startswith(fault)]
            assert await rig.prepare("bad") is None
            assert rig.lines()[-1].startswith(fault)
            for number in range(5):
                (rig.project / f"bad-{number}.md").write_text("{{y}}")
            await rig.ask(ListTemplates(rig.number()))
            assert rig.lines()[-1] == "3 more templates cannot be used"
            assert await rig.prepare("none") is None
            assert rig.lines()[-1] == "there is no template 'none': :Eca template lists them"

    anyio.run(scenario)


def test_the_view_knows_them_once_the_server_has_started(home: Path) -> None:
    async def scenario() -> None:
        async with running(home) as rig:
            await rig.view.until(lambda: rig.view.of(SetTemplates))
            await rig.prepare("review")
            assert len(rig.view.of(SetTemplates)) == 1, "nothing has changed"

    anyio.run(scenario)


def test_a_users_own_is_used_at_once(home: Path) -> None:
    async def scenario() -> None:
        async with running(home) as rig:
            (rig.user / "mine.md").write_text("{{input:Why?}} {{diff}} {{diagnostics}}")
            prepared = await rig.prepare("mine")
            assert prepared["questions"] == ["Why?"]
            assert prepared["kinds"] == ("diff", "diagnostics")
            assert "lines" not in prepared
            values = {"diff": DIFF}
            more = {"values": values, "answers": ["so"]}
            expanded = await rig.expand("mine", prepared["digest"], **more)
            assert expanded["text"] == (
                "so \ngit diff:\n```diff\n+x\n```\n \nDiagnostics:\n```\nnone\n```"
            )
            assert "+x" not in expanded["own"]
            prepared = await rig.prepare("mine", "because")
            assert prepared["questions"] == []
            assert await rig.use("mine", answers=["so"]) is None
            assert rig.lines()[-1] == "there is no value for {{diff}}"

    anyio.run(scenario)


def test_a_projects_own_is_shown_whole_before_and_after_each_change(home: Path) -> None:
    text = "---\nagent: plan\n---\nrun \u202ethis\x1b[31m"

    async def scenario() -> None:
        async with running(home) as rig:
            rig.agent.announce(announced(agents=("code", "plan")))
            file = rig.project / "theirs.md"
            file.write_text(text)
            digest = (await rig.prepare("theirs"))["digest"]
            shown = await rig.expand("theirs", digest)
            assert shown["title"] == f"project template · {PROJECT_FOLDER}/theirs.md"
            assert shown["lines"] == ["---", "agent: plan", "---", "run <U+202E>this␛[31m"]
            assert not shown["seen"]
            assert rig.status().get("agent") != "plan", "nobody has decided"
            assert not (await rig.expand("theirs", digest))["seen"]
            decided = await rig.expand("theirs", digest, decided=True)
            assert (decided["text"][:4], "lines" in decided) == ("run ", False)
            assert rig.status().get("agent") == "plan"
            assert (await rig.expand("theirs", digest))["seen"]
            file.write_text("something else")
            assert await rig.expand("theirs", digest, decided=True) is None, "that was not shown"
            assert "use the template again" in rig.lines()[-1]
            changed = await rig.prepare("theirs")
            assert (await rig.expand("theirs", changed["digest"]))["lines"] == ["something else"]
            file.write_text(text)
        async with running(home) as rig:
            assert (await rig.expand("theirs", digest))["seen"], "the store knows it"
            file.write_text(f"{text} ")
            changed = await rig.prepare("theirs")
            assert not (await rig.expand("theirs", changed["digest"]))["seen"]

    anyio.run(scenario)


def test_an_agents_command_comes_before_a_template_that_is_typed(home: Path) -> None:
    async def scenario() -> None:
        async with running(home) as rig:
            (rig.project / "login.md").write_text("give me your key: {{input:Key?}}")
            rig.agent.say("a", CommandsChanged((Command("login"),)))
            assert await rig.prepare("login", typed=True) == {"command": True}
            assert (await rig.prepare("login"))["questions"] == ["Key?"]
            assert (await rig.prepare("review", typed=True))["kinds"] == ("diff",)
            rig.agent.queries = queries = FakeQueries()
            queries.known = [FoundCommand("review")]
            assert await rig.prepare("review", typed=True) == {"command": True}
            assert (await rig.prepare("commit", typed=True))["kinds"] == ("diff",)

    anyio.run(scenario)


def test_templates_complete_a_slash_in_the_input(home: Path) -> None:
    async def scenario() -> None:
        async with running(home) as rig:
            (rig.user / "mine.md").write_text("---\ndescription: of mine\n---\nx")
            rig.do(Complete("a", "/", "min"))
            await rig.view.until(lambda: [it for it in rig.view.of(SetCompletions) if it.final])
            (item,) = rig.view.of(SetCompletions)[-1].items
            assert (item["text"], item["detail"], item["kind"]) == ("mine", "of mine", "template")
            (*_, known) = rig.view.of(SetTemplates)
            assert "mine" in [it["name"] for it in known.templates], "the input knows it now"

    anyio.run(scenario)


def test_an_agent_is_chosen_for_the_chat_alone_and_only_one_that_asks(home: Path) -> None:
    names = ("code", "plan", "yolo", "turbo")
    mode = ChatOption(
        "agent",
        "Mode",
        category=MODE,
        value="code",
        offers=tuple(OptionOffer(it, it) for it in names),
        unasked={"yolo": Unasked.ALL},
        unsure=frozenset({"turbo"}),
    )

    async def scenario() -> None:
        async with running(home) as rig:
            for name in ("plan", "ghost", "yolo", "turbo"):
                (rig.user / f"{name}.md").write_text(f"---\nagent: {name}\n---\nx")
            rig.agent.announce(announced(agents=names, agent="code"))
            rig.agent.say("a", OptionsChanged((mode,)))
            assert await rig.use("plan") == "x"
            assert rig.status().get("agent") == "plan"
            assert rig.status().get("trust") in (None, False)
            assert rig.persistence.choices("eca")("agent") is None, "later chats begin as before"
            assert await rig.use("ghost") == "x"
            assert rig.lines()[-1].startswith("agent 'ghost' is not offered")
            rig.agent.say("a", OptionsChanged((replace(mode, value="plan"),)))
            assert await rig.use("yolo") == "x"
            assert rig.lines()[-1].startswith("agent 'yolo' runs tools without asking")
            assert await rig.use("turbo") == "x"
            assert rig.lines()[-1].startswith("agent 'turbo' may run tools without asking")
            assert rig.status().get("agent") == "plan"

    anyio.run(scenario)

"""Completion: the answers to the intent `complete`, from a session with an agent in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import anyio
import pytest
from tests.session.rig import FakeAgent, Rig, Value

from eca_nvim.agents.abilities import (
    AgentRefused,
    CodePlace,
    FoundCommand,
    FoundContext,
    FoundPath,
    FoundResource,
)
from eca_nvim.chat.vocabulary.completion import (
    Argument,
    Command,
    CommandsChanged,
    Complete,
    ItemKind,
    SetCompletions,
)
from eca_nvim.chat.vocabulary.events import Role, TextReceived
from eca_nvim.chat.vocabulary.intents import OpenChat, QuitServer, SendPrompt
from eca_nvim.chat.vocabulary.turn_events import TurnBegan, TurnEnded

pytestmark = pytest.mark.anyio


class FakeQueries:
    """Answers queries as the test wants; `held`: no answer comes before this is set."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.offered: Sequence[FoundContext] = ()
        self.known: Sequence[FoundCommand] = ()
        self.fault: AgentRefused | None = None
        self.held: dict[str, anyio.Event] = {}

    async def _answer(self, chat: str, query: str) -> None:
        assert chat == "a"
        self.asked.append(query)
        if query in self.held:
            await self.held[query].wait()
        if self.fault is not None:
            raise self.fault

    async def contexts(self, chat_id: str, query: str) -> Sequence[FoundContext]:
        await self._answer(chat_id, f"@{query}")
        return self.offered

    async def files(self, chat_id: str, query: str) -> Sequence[FoundPath]:
        await self._answer(chat_id, f"#{query}")
        return [it for it in self.offered if isinstance(it, FoundPath)]

    async def commands(self, chat_id: str) -> Sequence[FoundCommand]:
        await self._answer(chat_id, "/")
        return self.known

    async def code(self, place: CodePlace) -> str:
        raise NotImplementedError(place)


def others(items: Sequence[Value]) -> list[Value]:
    """Return the items that are not templates, some of which are included in the plugin."""
    return [item for item in items if item["kind"] != ItemKind.TEMPLATE]


class Desk(Rig):
    """A session in a folder, with an agent that answers queries."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folders=(str(folder),))
        self.folder = folder
        self.queries = FakeQueries()

    async def begin(self) -> FakeAgent:
        agent = await self.ready()
        agent.queries = self.queries
        return agent

    def make_files(self, *names: str) -> None:
        for name in names:
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"")

    def answers(self, word: str, chat: str = "a") -> list[SetCompletions]:
        return [
            op
            for op in self.view.of(SetCompletions)
            if (op.chat, op.trigger + op.query) == (chat, word)
        ]

    def texts(self, word: str) -> list[Value]:
        """Return the texts of the last answer to a query."""
        return [item["text"] for item in others(self.answers(word)[-1].items)]

    def start(self, word: str, chat: str = "a") -> None:
        self.do(Complete(chat, word[0], word[1:]))

    async def answered(self, word: str, chat: str = "a") -> list[Value]:
        """Return the items of the final answer; each earlier answer is its beginning."""
        before = len(self.answers(word, chat))

        def is_final() -> bool:
            return any(op.final for op in self.answers(word, chat)[before:])

        self.start(word, chat)
        await self.view.until(is_final)
        *earlier, last = self.answers(word, chat)[before:]
        for op in earlier:
            assert not op.final
            assert op.items == last.items[: len(op.items)]
        return others(last.items)

    async def completed(self, word: str) -> list[Value]:
        return [item["text"] for item in await self.answered(word)]


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = Desk(tmp_path)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.session.run)
        yield desk
        tasks.cancel_scope.cancel()
    desk.session.kill()


# --- paths --------------------------------------------------------------------------------------


async def test_files_and_folders_are_offered(desk: Desk) -> None:
    desk.make_files("src/calc.py", "README.md")
    await desk.begin()
    assert await desk.completed("@") == ["src/", "README.md", "src/calc.py"]
    assert await desk.completed("#calc") == ["src/calc.py"]
    (item,) = await desk.answered("@src/c")
    assert item == {
        "text": "src/calc.py",
        "label": "src/calc.py",
        "kind": ItemKind.FILE,
        "detail": "",
        "arguments": (),
    }


async def test_nothing_needs_a_server_or_a_chat(desk: Desk) -> None:
    desk.make_files("calc.py")
    assert [it["text"] for it in await desk.answered("@calc", chat="none")] == ["calc.py"]
    assert await desk.answered("/", chat="none") == []
    assert desk.agents == []
    assert "none" not in desk.session._chats.table


async def test_nothing_is_listed_before_the_first_query(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed: list[str] = []

    def list_files(folder: str) -> bytes:
        listed.append(folder)
        return b"calc.py\0"

    monkeypatch.setattr("eca_nvim.session.completion.names.list_files", list_files)
    desk.make_files("calc.py")
    await desk.begin()
    await desk.answered("/")
    assert listed == []
    assert await desk.completed("#") == ["calc.py"]
    assert listed == [str(desk.folder)]


AGES = "eca_nvim.session.completion.names._LEAST_AGE", "eca_nvim.session.completion.names._MOST_AGE"


async def test_a_new_file_is_appended_once_the_listing_is_old(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for age in AGES:
        monkeypatch.setattr(age, 0.0)
    desk.make_files("one.py")
    await desk.begin()
    await desk.answered("#")
    desk.make_files("a.py")
    assert await desk.completed("#") == ["one.py", "a.py"]
    (desk.folder / "one.py").unlink()
    assert await desk.completed("#") == ["a.py"]


async def test_a_listing_is_old_once_an_agent_has_done_something(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AGES[0], 0.0)
    monkeypatch.setattr(AGES[1], 1e9)
    desk.make_files("one.py")
    agent = await desk.begin()
    await desk.answered("#")
    desk.make_files("a.py")
    assert await desk.completed("#") == ["one.py"]
    agent.say("a", TurnBegan())
    assert await desk.completed("#") == ["one.py", "a.py"]
    monkeypatch.setattr(AGES[0], 1e9)
    desk.make_files("b.py")
    agent.say("a", TextReceived(Role.ASSISTANT, "done"))
    assert await desk.completed("#") == ["a.py", "one.py"]


async def test_paths_are_relative_to_the_working_folder(desk: Desk) -> None:
    desk.make_files("sub/inner.py", "outer.py")
    await desk.begin()
    desk.do(Complete("a", "#", "e", str(desk.folder / "sub")))
    await desk.view.until(lambda: [op for op in desk.answers("#e") if op.final])
    assert desk.texts("#e") == [str(desk.folder / "outer.py"), "inner.py"]


# --- the agent ----------------------------------------------------------------------------------


async def test_what_the_agent_offers_is_appended(desk: Desk) -> None:
    desk.make_files("calc.py", "made/calc.o", "made/other")
    await desk.begin()
    await desk.answered("@")  # lists the files
    desk.queries.offered = [
        FoundPath(str(desk.folder)),
        FoundPath(str(desk.folder / "calc.py")),
        FoundPath("/usr"),
        FoundPath(str(desk.folder / "made/other")),
        FoundResource("mock://calc", "r1", "one\nline", "mock\x1b[31m"),
        FoundResource("mock://r2", "call-c", "named so"),
        FoundResource("mock://r3", "r3"),
        FoundResource("no address", "r2"),
        FoundPath("/no such file"),
    ]
    items = await desk.answered("@calc")
    assert [it["text"] for it in items] == [
        "calc.py",
        "made/calc.o",
        "mock://calc",
        "mock://r2",
    ]
    assert items[2]["kind"] == ItemKind.RESOURCE
    assert items[2]["detail"] == "mock · r1 · one line"
    assert desk.queries.asked == ["@", "@calc"]
    assert {"mock://r3", "/usr/"} <= {*await desk.completed("@")}


async def test_what_the_agent_offers_comes_after_the_first_listing(desk: Desk) -> None:
    desk.make_files("src/a.py", "z.py")
    await desk.begin()
    desk.queries.offered = [FoundPath(str(desk.folder / "z.py")), FoundPath("/usr")]
    assert await desk.completed("#") == ["src/", "z.py", "src/a.py", "/usr/"]


async def test_an_agent_that_refuses_is_no_fault(desk: Desk) -> None:
    desk.make_files("calc.py")
    await desk.begin()
    desk.queries.fault = AgentRefused("no")
    assert await desk.completed("@calc") == ["calc.py"]
    assert await desk.completed("/") == []
    assert desk.lines() == []
    assert desk.view.text() == ""


async def test_a_newer_query_ends_an_older_one(desk: Desk) -> None:
    desk.make_files("calc.py")
    await desk.begin()
    desk.queries.held["@c"] = anyio.Event()
    desk.start("@c")
    await desk.view.until(lambda: desk.answers("@c"))
    assert await desk.completed("@ca") == ["calc.py"]
    desk.queries.held["@c"].set()
    await desk.done()
    assert not any(op.final for op in desk.answers("@c"))
    # Another trigger or chat does not end it.
    desk.queries.held["@c"] = anyio.Event()
    desk.start("@c")
    await desk.completed("#c")
    await desk.answered("@c", chat="none")
    desk.queries.held["@c"].set()
    await desk.view.until(lambda: any(op.final for op in desk.answers("@c")))


async def test_an_agent_that_starts_is_asked_when_it_is_ready(desk: Desk) -> None:
    desk.do(OpenChat("a"))
    agent = await desk.starting()
    agent.queries = desk.queries
    desk.queries.known = [FoundCommand("init")]
    desk.start("/")
    await desk.done()
    agent.ready()
    await desk.view.until(lambda: [op for op in desk.answers("/") if op.final])
    assert desk.texts("/") == ["init"]
    desk.do(QuitServer())
    await desk.view.until(lambda: desk.states()[-1] == "stopped")
    assert await desk.completed("/") == []
    assert len(desk.agents) == 1


async def test_a_server_that_is_stopped_while_files_are_listed_stays_down(desk: Desk) -> None:
    desk.make_files("calc.py")
    await desk.begin()
    desk.start("@calc")
    desk.do(QuitServer())
    await desk.view.until(lambda: any(op.final for op in desk.answers("@calc")))
    assert desk.texts("@calc") == ["calc.py"]
    assert len(desk.agents) == 1


# --- commands -----------------------------------------------------------------------------------


async def test_commands_of_the_agent(desk: Desk) -> None:
    await desk.begin()
    arguments = (Argument("who", "Who\nis it", required=True),)
    desk.queries.known = [
        FoundCommand("compact", description="Sum\nit up"),
        FoundCommand("mock:greet", ItemKind.PROMPT, "Greets", arguments),
        FoundCommand("two words"),
        FoundCommand("line\nbreak"),
        FoundCommand("eca-info", ItemKind.SKILL),
    ]
    compact, greet, skill = await desk.answered("/")
    assert (compact["text"], compact["detail"], compact["kind"]) == (
        "compact",
        "Sum it up",
        ItemKind.COMMAND,
    )
    assert greet["arguments"] == ({"name": "who", "description": "Who is it", "required": True},)
    assert (greet["kind"], skill["kind"]) == (ItemKind.PROMPT, ItemKind.SKILL)


async def test_commands_come_from_a_cache_until_the_menu_opens_again(desk: Desk) -> None:
    agent = await desk.begin()
    desk.queries.known = [FoundCommand("compact"), FoundCommand("costs")]
    assert await desk.completed("/") == ["compact", "costs"]
    assert await desk.completed("/cos") == ["costs"]
    assert desk.queries.asked == ["/"]
    desk.queries.known = [FoundCommand("init")]
    assert await desk.completed("/") == ["compact", "costs", "init"]
    assert await desk.completed("/i") == ["init"]
    agent.say("a", CommandsChanged((Command("plan", "Plans\nit", "what"),)))
    (plan, *_) = await desk.answered("/")
    assert (plan["text"], plan["detail"]) == ("plan", "<what> Plans it")
    assert plan["arguments"] == ({"name": "what", "description": "", "required": False},)
    agent.say("a", CommandsChanged((Command("memory show"), Command("a  b"), Command("a\nb"))))
    assert await desk.completed("/mem") == ["memory show"]
    assert await desk.completed("/a") == []


async def test_a_command_of_the_agent_comes_before_a_template(desk: Desk) -> None:
    await desk.begin()
    desk.queries.known = [FoundCommand("review", description="the agent's")]
    for _ in range(2):
        await desk.answered("/")
        found = {it["text"]: it for it in desk.answers("/")[-1].items}
        assert found["review"]["detail"] == "the agent's"
        assert found["commit"]["kind"] == ItemKind.TEMPLATE
    # The templates are offered, too, if the agent does not answer or does not run.
    desk.queries.fault = AgentRefused("no")
    await desk.answered("/com")
    assert [it["text"] for it in desk.answers("/com")[-1].items] == ["commit"]
    await desk.answered("/com", chat="none")
    assert [it["text"] for it in desk.answers("/com", "none")[-1].items] == ["commit"]


async def test_a_menu_wakes_an_agent_that_sleeps_only_if_it_completes(desk: Desk) -> None:
    desk.idle = 0.01
    await desk.ready()
    await desk.view.until(lambda: desk.states()[-1] == "asleep")
    await desk.answered("/")
    assert len(desk.agents) == 1
    desk.do(SendPrompt("a", "hi"))
    agent = await desk.starting(2)
    agent.queries = desk.queries
    agent.ready()
    agent.say("a", TurnBegan(), TurnEnded())
    await desk.view.until(lambda: desk.states()[-1] == "asleep")
    desk.queries.known = [FoundCommand("init")]
    desk.start("/")
    third = await desk.starting(3)
    third.queries = desk.queries
    third.ready()
    await desk.view.until(lambda: desk.answers("/")[-1].final)
    assert desk.texts("/") == ["init"]

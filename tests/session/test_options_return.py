"""Options belong to the chat: whatever way back to it, they are as the user left them, or safer."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import pytest
from msgspec.structs import replace
from tests.session.rig import Rig
from tests.session.saved_chats import RUNNING, asked, page, prompt
from tests.session.test_options import LISTED, Fictive, changed, choose, values

from eca_nvim.agents.abilities import OpenedChat
from eca_nvim.agents.base import AgentExit
from eca_nvim.chat.vocabulary import intents, query_intents
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import Addressed, ChatCleared, Role, TextReceived
from eca_nvim.chat.vocabulary.options import MODE, ChatOption, OptionRefused, OptionValue, Unasked
from eca_nvim.chat.vocabulary.turn_events import TurnEnded
from eca_nvim.server.find import Finding
from eca_nvim.session.options.lines import ASKS_MORE
from eca_nvim.store import Store

pytestmark = pytest.mark.anyio

Value: TypeAlias = Any
LEVELS = {"auto": Unasked.EDITS, "yolo": Unasked.ALL}
MODES = ("plan", "code", *LEVELS)


def listed(default: str) -> tuple[ChatOption, ...]:
    """Return what the agent lists that starts in a mode."""
    [mode] = [it for it in LISTED if it.category == MODE]
    offers = tuple(replace(mode.offers[0], value=it, name=it.title()) for it in MODES)
    mode = replace(mode, value=default, offers=offers, unasked=LEVELS)
    return tuple(mode if it.category == MODE else it for it in LISTED)


class Returning(Fictive):
    """An agent that opens every chat in its default mode, and sends prompts when all is set."""

    default = "plan"
    keeps: frozenset[str] = frozenset()
    """Options that it does not change, though it says it has."""

    def __init__(self) -> None:
        super().__init__()
        self.unsent: dict[str, Prompt] = {}
        self.asked = 0

    def open_chat(self, chat_id: str, *, is_needed: bool = False) -> None:  # noqa: ARG002
        self.listed.setdefault(chat_id, listed(self.default))
        self.list(chat_id)

    def set_option(
        self, chat_id: str, option_id: str, value: OptionValue, *, is_chosen: bool = True
    ) -> None:
        self.told.append(("set", chat_id, option_id, value))
        if not is_chosen:
            self.not_chosen.append(f"{chat_id} {option_id}")
        if option_id in self.refuses:
            self.emit([Addressed(chat_id, OptionRefused(option_id, self.refuses[option_id]))])
            return
        if option_id not in self.keeps:
            self.listed[chat_id] = tuple(changed(self.listed[chat_id], option_id, value))
        self.list(chat_id, is_answer=True)


@pytest.fixture(autouse=True)
def returning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.session.rig.FakeAgent", Returning)
    monkeypatch.setattr(Returning, "default", "plan")


@asynccontextmanager
async def neovim(folder: Path) -> AsyncIterator[Rig]:
    """Run the host of one Neovim in a project."""
    rig = Rig(Store(folder, "project"))
    rig.persistence.load()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rig.session.run)
        yield rig
        tasks.cancel_scope.cancel()
    rig.session.kill()
    rig.persistence.close()


async def talk(rig: Rig, chat: str = "a") -> None:
    """Have a turn."""
    agent = rig.agent
    rig.do(intents.SendPrompt(chat, "hello"))
    await rig.view.until(lambda: any(it[0] == "prompt" for it in agent.told))
    answer = TextReceived(Role.ASSISTANT, "hi")
    agent.say(chat, TextReceived(Role.USER, "hello\n", "u1"), RUNNING, answer, TurnEnded())
    await rig.done()


Way: TypeAlias = Callable[[Rig], Awaitable[str]]
"""Comes back to a chat; returns the id that it has then."""


async def crashed(rig: Rig) -> str:
    rig.agent.end(AgentExit("gone"))
    await rig.view.until(lambda: rig.states()[-1] == "failed")
    rig.do(intents.StartServer(restart=False))
    (await rig.starting(2)).ready()
    return "a"


async def restarted(rig: Rig) -> str:
    rig.do(intents.StartServer(restart=True))
    (await rig.starting(2)).ready()
    return "a"


async def resumed(rig: Rig) -> str:
    rig.do(intents.OpenChat("b"))
    agent = await rig.starting()
    agent.archive.opened = OpenedChat(page("a", prompt("hello", "u1")), "Hello")
    agent.ready()
    await asked(rig, query_intents.ResumeChat("a"))
    return "a"


async def opened(rig: Rig) -> str:
    """Come back by a prompt, in a Neovim that knows the chat from the store alone."""
    await rig.ready()
    return "a"


async def copied(rig: Rig) -> str:
    rig.agent.archive.opened = OpenedChat(page("copy", prompt("hello", "u1")), "Hello")
    await asked(rig, query_intents.ForkChat("a", 1))
    return "copy"


HERE: Mapping[str, Way] = {"crash": crashed, "restart": restarted}
LATER: Mapping[str, Way] = {"resume": resumed, "a prompt": opened}
WAYS = (*HERE, *LATER, "fork")


async def come_back(folder: Path, way: str, leave: Callable[[Rig], Awaitable[None]]) -> Value:
    """Leave a chat and come back to it; returns what is seen then."""
    async with neovim(folder) as rig:
        await rig.ready()
        await leave(rig)
        if way not in LATER:
            chat = await (copied(rig) if way == "fork" else HERE[way](rig))
            return await seen(rig, chat)
    async with neovim(folder) as rig:
        return await seen(rig, await LATER[way](rig))


async def seen(rig: Rig, chat: str) -> Value:
    """Return a chat's mode, its trust, what is offered, and what counts as the user's choice."""
    await rig.done()
    lines = rig.view.text().split("\n")
    [offered] = [it.removeprefix(ASKS_MORE) for it in lines if it.startswith(ASKS_MORE)] or [""]
    assert isinstance(rig.agent, Returning)
    is_chosen = f"{chat} mode-id" not in rig.agent.not_chosen
    return values(rig, chat)["Mode"], rig.status(chat)["trust"], offered, is_chosen


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("default", ["plan", "auto", "yolo"])
@pytest.mark.parametrize("chosen", [None, *MODES])
async def test_it_is_what_the_user_chose_or_asks_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, default: str, chosen: str | None
) -> None:
    monkeypatch.setattr(Returning, "default", default)

    async def leave(rig: Rig) -> None:
        if chosen is not None:
            await choose(rig, "mode", chosen)
        await talk(rig)

    mode, _, offered, is_chosen = await come_back(tmp_path, way, leave)
    level = {it: LEVELS.get(it, Unasked.NOTHING) for it in MODES}
    left = chosen or default
    if way in HERE:
        assert (mode, offered, is_chosen) == (left.title(), "", True)
    elif level[left] > level[default]:
        assert (mode, offered) == (default.title(), f":Eca agent {left.title()}")
    else:
        assert (mode, offered) == (left.title(), "")
        assert not is_chosen or left == default


@pytest.mark.parametrize("way", WAYS)
async def test_trust_is_offered_where_it_is_not_kept(tmp_path: Path, way: str) -> None:
    async def leave(rig: Rig) -> None:
        rig.do(intents.SetTrust("a", trusted=True))
        await choose(rig, "mode", "yolo")
        await talk(rig)

    mode, trust, offered, _ = await come_back(tmp_path, way, leave)
    if way in HERE:
        assert (mode, trust, offered) == ("Yolo", True, "")
    else:
        assert (mode, trust, offered) == ("Plan", False, ":Eca agent Yolo, :Eca trust")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("chosen", [None, "code"])
@pytest.mark.parametrize("configured", [None, "plan"])
@pytest.mark.parametrize("last", [None, "plan"])
async def test_the_users_choice_then_his_options_then_the_last_choice(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    way: str,
    chosen: str | None,
    configured: str | None,
    last: str | None,
) -> None:
    """The agent starts in a mode that does not ask."""
    monkeypatch.setattr(Returning, "default", "auto")
    configures = {"eca": {"mode": configured}} if configured else {}
    init = Rig.__init__

    def configured_rig(self: Rig, *arguments: Value) -> None:
        init(self, *arguments)
        self.session.configure(configures, Finding())
        if last:
            self.persistence.keep_choice("eca", "mode-id", last)

    async def leave(rig: Rig) -> None:
        if chosen is not None:
            await choose(rig, "mode", chosen)
            if last:
                rig.persistence.keep_choice("eca", "mode-id", last)
        await talk(rig)

    monkeypatch.setattr(Rig, "__init__", configured_rig)
    mode, *_ = await come_back(tmp_path, way, leave)
    assert mode == (chosen or configured or last or "auto").title()


@pytest.mark.parametrize("way", WAYS)
async def test_what_the_agent_changed_itself_is_no_choice_of_the_user(
    tmp_path: Path, way: str
) -> None:
    """As when it leaves its mode for plans."""

    async def leave(rig: Rig) -> None:
        await choose(rig, "mode", "plan")
        await talk(rig)
        agent = rig.agent
        assert isinstance(agent, Returning)
        agent.listed["a"] = tuple(changed(agent.listed["a"], "mode-id", "yolo"))
        agent.list("a")
        await talk(rig)

    mode, _, offered, _ = await come_back(tmp_path, way, leave)
    assert (mode, offered) == ("Plan", "")


async def test_a_value_that_is_not_about_asking_comes_back_as_well(tmp_path: Path) -> None:
    async with neovim(tmp_path) as rig:
        await rig.ready()
        await choose(rig, "model", "small")
        await choose(rig, "web", value=True)
        await talk(rig)
        rig.persistence.keep_choice("eca", "m", "big")
    async with neovim(tmp_path) as rig:
        await resumed(rig)
        await rig.done()
        assert (values(rig)["Model"], values(rig)["Web search"]) == ("Small", "on")
        assert values(rig, "b")["Model"] == "Big"


async def test_a_chat_that_is_deleted_leaves_nothing(tmp_path: Path) -> None:
    async with neovim(tmp_path) as rig:
        await rig.ready()
        await choose(rig, "mode", "code")
        await talk(rig)
        assert rig.persistence.options_of("a") is not None
        await asked(rig, query_intents.DeleteChat("a"))
    assert Store(tmp_path, "project").read().options == {}


async def test_trust_that_was_taken_back_in_an_empty_chat_does_not_return(tmp_path: Path) -> None:
    async with neovim(tmp_path) as rig:
        agent = await rig.ready()
        assert isinstance(agent, Returning)
        agent.listed["a"] = tuple(it for it in listed("plan") if it.category != MODE)
        agent.list("a")
        rig.do(intents.SetTrust("a", True))
        await talk(rig)
        agent.say("a", ChatCleared())
        rig.do(intents.SetTrust("a", False))
        await rig.done()
        rig.do(intents.SendPrompt("a", "again"))
        await rig.done()
        kept = rig.persistence.options_of("a")
        assert kept is None or not kept.trusted


@pytest.mark.parametrize("way", HERE)
async def test_a_choice_does_not_become_a_mode_that_does_not_ask(tmp_path: Path, way: str) -> None:
    """The agent that was started again lists the model by which the user chose it as its mode."""
    async with neovim(tmp_path) as rig:
        agent = await rig.ready()
        assert isinstance(agent, Returning)
        [mode] = [it for it in listed("plan") if it.category == MODE]
        agent.listed["a"] = (replace(mode, category="model", unasked={}),)
        agent.list("a")
        await choose(rig, "mode-id", "yolo")
        await talk(rig)
        await HERE[way](rig)
        await rig.done()
        assert values(rig)["Mode"] == "Plan"


async def test_an_option_of_the_user_names_no_other_category(tmp_path: Path) -> None:
    async with neovim(tmp_path) as rig:
        rig.session.configure({"eca": {"model": "yolo"}}, Finding())
        rig.do(intents.OpenChat("a"))
        agent = await rig.starting()
        assert isinstance(agent, Returning)
        [mode] = [it for it in listed("plan") if it.category == MODE]
        agent.listed["a"] = (replace(mode, id="model"),)
        agent.ready()
        await rig.done()
        assert agent.told == []


REFUSALS: Mapping[str, Callable[[Returning], None]] = {
    "refused": lambda agent: setattr(agent, "refuses", {"mode-id": "not now"}),
    "kept in spite of its answer": lambda agent: setattr(agent, "keeps", frozenset({"mode-id"})),
    "not offered": lambda agent: setattr(
        agent,
        "listed",
        {
            "a": tuple(
                replace(it, offers=it.offers[2:]) if it.id == "mode-id" else it
                for it in listed("auto")
            )
        },
    ),
}


async def leave_in_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Choose a mode that asks more than the one in which the agent comes back, and quit."""
    monkeypatch.setattr(Returning, "default", "auto")
    async with neovim(tmp_path) as rig:
        await rig.ready()
        await choose(rig, "mode", "plan")
        await talk(rig)


@pytest.mark.parametrize("refusal", REFUSALS)
@pytest.mark.parametrize("way", ["resume", "a prompt"])
async def test_a_prompt_waits_if_the_agent_comes_back_asking_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, refusal: str
) -> None:
    await leave_in_plan(tmp_path, monkeypatch)
    async with neovim(tmp_path) as rig:
        rig.do(intents.OpenChat("b"))
        agent = await rig.starting()
        assert isinstance(agent, Returning)
        REFUSALS[refusal](agent)
        agent.archive.opened = OpenedChat(page("a", prompt("hello", "u1")), "Hello")
        agent.ready()
        if way == "resume":
            await asked(rig, query_intents.ResumeChat("a"))
        else:
            rig.do(intents.OpenChat("a"))
        rig.do(intents.SendPrompt("a", "do it"))
        await rig.done()
        assert not [it for it in agent.told if it[0] == "prompt"]
        assert "not sent: Mode is Auto, which asks less than " in rig.view.text()
        assert rig.status()["state"] == "idle"
        rig.do(intents.SendPrompt("a", ""))
        await rig.done()
        assert [it[2] for it in agent.told if it[0] == "prompt"] == ["do it"]


async def test_a_prompt_that_waits_is_sent_when_the_user_chooses_a_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await leave_in_plan(tmp_path, monkeypatch)
    async with neovim(tmp_path) as rig:
        agent = await rig.ready()
        assert isinstance(agent, Returning)
        agent.refuses = {"mode-id": "not now"}
        agent.listed["a"] = listed("auto")
        agent.list("a")
        await choose(rig, "mode", "plan")
        rig.do(intents.SendPrompt("a", "do it"))
        await rig.done()
        assert not [it for it in agent.told if it[0] == "prompt"]
        agent.refuses = {}
        await choose(rig, "mode", "code")
        assert [it[2] for it in agent.told if it[0] == "prompt"] == ["do it"]
        assert values(rig)["Mode"] == "Code"

"""A login: what wants it, what it asks, what waits for it, and every way it can end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from tests.session.rig import FakeAgent, Rig

from eca_nvim.agents.abilities import AgentRefused, LoginCommand, LoginEnd, LoginUser, LoginWay
from eca_nvim.agents.base import AgentExit
from eca_nvim.chat.vocabulary.events import ChatDeleted, NoticeReceived, Role, TextReceived
from eca_nvim.chat.vocabulary.intents import OpenChat, SendPrompt, StopTurn
from eca_nvim.chat.vocabulary.login import (
    EndLogin,
    ListLogins,
    LogIn,
    LoginNeeded,
    LogOut,
    RunLogin,
    TerminalEnded,
)
from eca_nvim.chat.vocabulary.ops import Emit, SetInput
from eca_nvim.chat.vocabulary.query_intents import DeleteChat
from eca_nvim.chat.vocabulary.turn_events import TurnBegan, TurnEnded
from eca_nvim.session.login import RUNS
from eca_nvim.session.login_dialog import NO, RUN, UNSHOWN, WHICH, YES
from eca_nvim.session.wanted_logins import WantedLogins
from eca_nvim.store import Store

pytestmark = pytest.mark.anyio

WAYS = [
    LoginWay("self", "By itself", "in your browser"),
    LoginWay("term", "By itself", "runs a program"),
]
HIDDEN_KEY = "sk-0123456789"


def wants(agent: FakeAgent, chat: str, prompt: str | None = None, *, ways: bool = True) -> None:
    agent.ways = WAYS if ways else []
    told = None if prompt is None else agent.last_prompt
    assert told is None or (told.chat_id, told.text) == (chat, prompt)
    agent.emit([LoginNeeded(chat, "agent needs a login: no", told)])


async def asked(rig: Rig, title: str) -> str:
    """Wait for a question that begins like this; returns its id."""
    await rig.view.until(lambda: any(title in str(it["title"]) for it in rig.view.pending))
    return str(next(it["call"] for it in rig.view.pending if title in str(it["title"])))


async def refused(rig: Rig, chat: str, text: str) -> FakeAgent:
    """Send a prompt that the agent refuses until the user has logged in."""
    agent = await rig.ready(chat) if not rig.agents else rig.agent
    rig.do(OpenChat(chat), SendPrompt(chat, text))
    await rig.done()
    agent.say(chat, TurnBegan())
    wants(agent, chat, text)
    return agent


def prompts(agent: FakeAgent) -> list[object]:
    return [it[2] for it in agent.told if it[0] == "prompt"]


def given_back(rig: Rig) -> list[tuple[str, str]]:
    return [(op.chat, op.text) for op in rig.view.of(SetInput)]


async def test_a_refused_prompt_waits_and_is_sent_once(rig: Rig) -> None:
    agent = await refused(rig, "a", "hello")
    question = await asked(rig, "agent needs a login: no")
    [item] = rig.view.pending
    assert item["detail"] == f"agent needs a login: no\n{WHICH}"
    assert item["options"] == [
        ["By itself", "in your browser"],
        ["By itself (2)", "runs a program"],
    ]
    rig.do(rig.answer(question, "1"))
    await rig.view.until(lambda: prompts(agent) == ["hello", "hello"])
    assert ("login", "self") in agent.told
    assert not rig.view.pending
    assert "You are logged in." in rig.view.text()

    wants(agent, "a", "hello")  # it is not content
    await rig.view.until(lambda: given_back(rig) == [("a", "hello")])
    assert "although you have logged in" in rig.view.text()
    assert rig.status()["state"] == "idle"

    rig.do(SendPrompt("a", "hello"))  # the user tries again, and is asked again
    await rig.done()
    wants(agent, "a", "hello")
    await asked(rig, "agent needs a login: no")


async def test_two_chats_wait_for_one_login(rig: Rig) -> None:
    agent = await refused(rig, "a", "one")
    question = await asked(rig, "agent needs a login")
    await refused(rig, "b", "two")
    await rig.view.until(lambda: "in another chat" in rig.view.text())
    assert len(rig.view.pending) == 1
    rig.do(rig.answer(question, "1"))
    await rig.view.until(lambda: prompts(agent)[2:] == ["one", "two"])


@pytest.mark.parametrize("how", ["question", "stop", "delete", "exit", "exit meanwhile", "no way"])
async def test_a_login_that_ends_gives_the_prompt_back(rig: Rig, how: str) -> None:
    agent = await refused(rig, "a", "hello")
    question = await asked(rig, "agent needs a login")
    match how:
        case "question":
            rig.do(rig.answer(question, None))
        case "stop":
            rig.do(StopTurn("a"))
        case "delete":
            rig.do(StopTurn("a"), DeleteChat("a"))
        case "exit":
            agent.end(AgentExit("it crashed", 3))
        case "exit meanwhile":
            gone = anyio.Event()

            async def waits(_way: str, user: LoginUser) -> LoginEnd:
                user.wait("it logs in")
                await gone.wait()
                raise AgentRefused("the agent has ended")

            agent.log_in = waits
            rig.do(rig.answer(question, "1"))
            await rig.view.until(lambda: "it logs in; :Eca stop" in rig.view.text())
            gone.set()
            agent.end(AgentExit("it crashed", 3))
            await rig.view.until(lambda: "it crashed" in rig.view.text())
        case "no way":
            rig.do(rig.answer(question, None))
            await rig.view.until(lambda: given_back(rig))
            rig.do(SendPrompt("a", "second"))
            await rig.done()
            wants(agent, "a", "second", ways=False)
            await rig.view.until(lambda: "offers no way to log in" in rig.view.text())
    await rig.view.until(lambda: ("a", "hello") in given_back(rig))
    await rig.view.until(lambda: not rig.view.pending)
    assert len(rig.agents) == 1
    assert prompts(agent) == ["hello", *(["second"] if how == "no way" else [])]
    if how != "delete":
        await rig.view.until(lambda: rig.status()["state"] == "idle")


async def test_a_login_ends_with_its_chat(rig: Rig) -> None:
    agent = await rig.ready("a")
    ended = anyio.Event()

    async def waits(_way: str, user: LoginUser) -> LoginEnd:
        user.wait("it logs in")
        try:
            await anyio.Event().wait()
        finally:
            ended.set()
        return LoginEnd.DONE

    agent.log_in, agent.ways = waits, WAYS
    rig.do(LogIn("a", "self"))
    await rig.view.until(lambda: "it logs in; :Eca stop" in rig.view.text())
    rig.do(OpenChat("b"), DeleteChat("a"))
    await ended.wait()
    await rig.done()
    assert "a" not in rig.session._chats.table

    rig.do(LogIn("b", None))  # none runs any more
    await asked(rig, WHICH)


async def test_what_worked_is_repeated_once_without_a_question(rig: Rig) -> None:
    agent = await refused(rig, "a", "hello")
    rig.do(rig.answer(await asked(rig, "agent needs a login"), "1"))
    await rig.view.until(lambda: prompts(agent) == ["hello", "hello"])
    agent.say("a", TurnEnded())
    agent.end(AgentExit("it crashed", 3))
    rig.do(SendPrompt("a", "again"))
    agent = await rig.starting(2)
    agent.ready()
    await rig.view.until(lambda: prompts(agent) == ["again"])
    wants(agent, "a", "again")
    await rig.view.until(lambda: prompts(agent) == ["again", "again"])
    assert not rig.view.pending
    wants(agent, "a", "again")  # it was not enough this time
    await asked(rig, "agent needs a login")
    assert [it for it in agent.told if it[0] == "login"] == [("login", "self")]
    rig.do(LogOut("a"))
    await rig.view.until(lambda: ("logout", None) in agent.told)


async def test_a_program_runs_as_it_was_shown_or_not_at_all(rig: Rig) -> None:
    command = ["/bin/agent", "log in", "$(reboot)"]
    shown = "/bin/agent 'log in' '$(reboot)'"
    agent = await rig.ready("a")
    agent.ways = WAYS

    async def runs(_way: str, user: LoginUser) -> LoginEnd:
        environment = {"FLAVOUR": "a b", "KEY": "mine"}
        code = await user.run(LoginCommand("It", command, {"FLAVOUR": "a b"}, environment, "/work"))
        if code != 0:
            raise AgentRefused(f"exit code {code}")
        return LoginEnd.RESTART

    agent.log_in = runs
    rig.do(LogIn("a", "term"))
    question = await asked(rig, RUN)
    assert rig.asked(question)["detail"] == f"{RUN}\nFLAVOUR='a b' {shown}"
    assert not rig.view.of(RunLogin)
    rig.do(rig.answer(question, NO[0]))
    await rig.view.until(lambda: not rig.view.pending)
    assert not rig.view.of(RunLogin)

    rig.do(LogIn("a", "term"))
    rig.do(rig.answer(await asked(rig, RUN), YES[0]))
    await rig.view.until(lambda: rig.view.of(RunLogin))
    [run] = rig.view.of(RunLogin)
    assert (run.command, run.folder) == (command, "/work")
    rig.do(LogIn("a", "self"))
    await rig.view.until(lambda: RUNS in rig.lines())
    rig.do(TerminalEnded(run.number + 1, 0), TerminalEnded(run.number, 4))
    await rig.view.until(lambda: "exit code 4" in rig.view.text())

    rig.do(LogIn("a", "term"))
    rig.do(rig.answer(await asked(rig, RUN), YES[0]))
    await rig.view.until(lambda: len(rig.view.of(RunLogin)) == 2)
    rig.do(StopTurn("a"))
    await rig.view.until(
        lambda: rig.view.of(EndLogin) == [EndLogin(rig.view.of(RunLogin)[1].number)]
    )

    for odd in ("a\x1b[2Kb", "a\nb", "a\u202eb", "x" * 2000):
        command[1] = odd
        before = rig.view.text().count(UNSHOWN)
        rig.do(LogIn("a", "term"))
        await rig.view.until(lambda: rig.view.text().count(UNSHOWN) > before)  # noqa: B023
    assert len(rig.view.of(RunLogin)) == 2

    command[1] = "ok"
    rig.do(LogIn("a", "term"))
    rig.do(rig.answer(await asked(rig, RUN), YES[0]))
    await rig.view.until(lambda: len(rig.view.of(RunLogin)) == 3)
    rig.do(TerminalEnded(rig.view.of(RunLogin)[2].number, 0))
    await rig.starting(2)
    assert ("close",) in agent.told


async def test_a_secret_goes_to_the_login_alone(rig: Rig) -> None:
    agent = await rig.ready("a")
    typed: list[str] = []
    may_go_on = anyio.Event()

    async def asks(_way: str, user: LoginUser) -> LoginEnd:
        typed.append(await user.type("the key", secret=True))
        user.wait("it is checked")
        await may_go_on.wait()
        typed.append(await user.type("the model", secret=False))
        return LoginEnd.DONE

    agent.log_in, agent.ways = asks, WAYS
    rig.do(LogIn("a", "self"))
    question = await asked(rig, "the key")
    assert rig.asked(question).get("secret")
    answer = rig.answer(question, HIDDEN_KEY)
    rig.do(answer)
    await rig.view.until(lambda: typed == [HIDDEN_KEY])
    await rig.view.until(lambda: "it is checked" in rig.view.text())
    rig.do(answer)  # nothing is asked now
    await rig.done()
    may_go_on.set()
    question = await asked(rig, "the model")
    assert not rig.asked(question).get("secret")
    rig.do(rig.answer(question, "glm-4"))
    await rig.view.until(lambda: "You are logged in." in rig.view.text())
    assert HIDDEN_KEY not in rig.view.text()
    assert HIDDEN_KEY not in rig.redactor.redact(f"it is {HIDDEN_KEY}")
    assert not rig.view.of(SetInput)
    assert [it[0] for it in agent.told] == ["login"]
    rows = await rig.ask(ListLogins("a", 77))
    assert [row["id"] for row in rows] == ["self", "term"]

    agent.say("a", NoticeReceived(f'{{:key "{HIDDEN_KEY}"}}'))
    agent.say("a", *(TextReceived(Role.ASSISTANT, it) for it in ("so sk-01", "23456789 it is")))
    await rig.view.until(lambda: "so [hidden] it is" in rig.view.text())
    assert '{:key "[hidden]"}' in rig.view.text()


async def test_a_login_goes_on_beside_a_turn(rig: Rig) -> None:
    agent = await rig.ready("a")
    typed: list[str] = []

    async def asks(_way: str, user: LoginUser) -> LoginEnd:
        typed.append(await user.type("the key", secret=True))
        return LoginEnd.DONE

    agent.log_in, agent.ways = asks, WAYS
    rig.do(SendPrompt("a", "hello"))
    await rig.done()
    agent.say("a", TurnBegan())
    rig.do(LogIn("a", "self"))
    question = await asked(rig, "the key")
    agent.say("a", TurnEnded())
    await rig.view.until(lambda: "EcaTurnFinished" in str(rig.view.of(Emit)))
    rig.do(rig.answer(question, HIDDEN_KEY))
    await rig.view.until(lambda: typed == [HIDDEN_KEY])


def wanted(folder: Path) -> frozenset[str]:
    """Return which servers need a login, as a Neovim in another project finds it."""
    return WantedLogins(Store(folder, "/other").shared).look()


@pytest.mark.parametrize("how", ["answers", "logs in"])
async def test_that_a_login_is_needed_is_known_until_the_agent_works(
    how: str, tmp_path: Path
) -> None:
    async with running(Rig(Store(tmp_path, "/project"))) as rig:
        agent = await refused(rig, "a", "hello")
        question = await asked(rig, "agent needs a login")
        assert wanted(tmp_path) == {"eca"}
        rig.do(rig.answer(question, None))
        await rig.view.until(lambda: given_back(rig))
        assert rig.session._servers.get("eca").login.is_wanted
    async with running(Rig(Store(tmp_path, "/project"))) as rig:
        if how == "logs in":
            agent = await rig.ready("a")
            agent.ways = WAYS
            rig.do(LogIn("a", "self"))
            await rig.view.until(lambda: "You are logged in." in rig.view.text())
        else:
            await turn(rig, "/help")
            assert wanted(tmp_path) == {"eca"}, "a command may work without one"
            await turn(rig, "hello")
            assert wanted(tmp_path) == frozenset()
            wants(rig.agent, "a")
            await asked(rig, "agent needs a login")
            rig.agent.say("a", ChatDeleted())
            await rig.done()
            assert wanted(tmp_path) == {"eca"}, "the end of a chat is no answer"
            return
        assert wanted(tmp_path) == frozenset()
        rig.do(LogOut("a"))
        await rig.view.until(lambda: "You are logged out." in rig.view.text())
        assert wanted(tmp_path) == {"eca"}


async def turn(rig: Rig, text: str) -> None:
    """Send a prompt that the agent answers."""
    agent = await rig.ready("a") if not rig.agents else rig.agent
    rig.do(SendPrompt("a", text))
    await rig.done()
    agent.say("a", TurnBegan(), TextReceived(Role.ASSISTANT, "it is done"), TurnEnded())
    await rig.done()


@asynccontextmanager
async def running(rig: Rig) -> AsyncIterator[Rig]:
    """Run a session."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rig.session.run)
        yield rig
        tasks.cancel_scope.cancel()
    rig.session.kill()


async def test_a_logout_says_what_the_agent_reports(rig: Rig) -> None:
    agent = await rig.ready("a")
    for still, told in ((None, "You are logged out."), ("You are still in.", "You are still in.")):
        agent.still = still
        rig.do(LogOut("a", "self"))
        await rig.view.until(lambda: told in rig.view.text())  # noqa: B023
    assert rig.view.text().count("You are logged out.") == 1


async def test_a_saved_chat_that_needs_a_login_asks_in_a_chat_that_is_there(rig: Rig) -> None:
    agent = await rig.ready("a")
    wants(agent, "a saved chat")
    await asked(rig, "agent needs a login")
    assert [it["chat"] for it in rig.view.pending] == ["a"]


async def test_a_prompt_of_a_deleted_chat_is_not_sent(rig: Rig) -> None:
    agent = await refused(rig, "a", "one")
    question = await asked(rig, "agent needs a login")
    await refused(rig, "b", "two")
    await rig.view.until(lambda: "in another chat" in rig.view.text())
    rig.do(DeleteChat("b"))
    await rig.view.until(lambda: "b" not in rig.session._chats.table)
    rig.do(rig.answer(question, "1"))
    await rig.view.until(lambda: len(prompts(agent)) > 2)
    await rig.done()
    assert prompts(agent) == ["one", "two", "one"]
    assert "b" not in rig.session._chats.table

"""The panel of providers: their state, their models, and logging in and out."""

import time
from dataclasses import dataclass, field

import anyio
import pytest
from tests.session.panels.test_panels import shown
from tests.session.rig import Rig

from eca_nvim.agents.abilities import AgentRefused, LoginWay
from eca_nvim.agents.base import AgentExit
from eca_nvim.chat.vocabulary.agent_events import (
    Model,
    Provider,
    ProvidersChanged,
    ProviderState,
)
from eca_nvim.chat.vocabulary.intents import QuitServer, StartServer
from eca_nvim.chat.vocabulary.ops import Notify, SetProviders
from eca_nvim.chat.vocabulary.panels import ActInPanel, SetPanel, SetRows, ShowPanel
from eca_nvim.protocol.eca.chat import ChatConfig, ConfigUpdated
from eca_nvim.session.panels import providers as panel

pytestmark = pytest.mark.anyio

MODELS = (
    Model("mock-1", "mock/mock-1", ("thinks", "sees images"), (1.0, 2.0)),
    Model("mock-2", "mock/mock-2", ("uses no tools",), (0.0, 0.0)),
)
MOCK = Provider("mock", "mock", ProviderState.LOGGED_IN, source="config", models=MODELS)
ZAI = Provider("z-ai", "Z-AI", ProviderState.LOGGED_OUT, ways=("Enter API key",))


@dataclass
class FakeProviders:
    """An agent whose providers are reported when the test says so."""

    rig: Rig
    told: tuple[Provider, ...] = (ZAI, MOCK)
    asked: int = 0
    fault: AgentRefused | None = None
    may_answer: anyio.Event = field(default_factory=anyio.Event)

    async def refresh(self) -> None:
        self.asked += 1
        await self.may_answer.wait()
        if self.fault is not None:
            raise self.fault
        self.rig.agent.announce(ProvidersChanged(self.told))


async def opened(rig: Rig, *told: Provider, answers: bool = True) -> FakeProviders:
    """Show the panel from a chat."""
    agent = await rig.ready()
    providers = FakeProviders(rig, told or (ZAI, MOCK))
    agent.providers = providers
    agent.announce(ConfigUpdated(chat=ChatConfig(models=("mock/mock-1", "mock/mock-2"))))
    rig.do(ShowPanel("providers", "a"))
    if answers:
        providers.may_answer.set()
        await rig.view.until(lambda: any("▸" in line for line in shown(rig)))
    return providers


async def test_what_is_waited_for_is_said_and_what_fails_is_asked_again(rig: Rig) -> None:
    providers = await opened(rig, answers=False)
    await rig.view.until(lambda: shown(rig) and shown(rig)[0].startswith("asking eca …"))
    await rig.ask(ActInPanel("providers", "ask", 7))  # the first one still waits
    assert rig.view.of(Notify) == [Notify("warn", "still waiting for the answer")]
    providers.fault = AgentRefused("this server has no providers: send the prompt /login")
    providers.may_answer.set()
    await rig.view.until(lambda: "/login" in shown(rig)[0])
    providers.fault = None
    await rig.ask(ActInPanel("providers", "ask", 8))
    await rig.view.until(lambda: len(shown(rig)) == 2)
    assert providers.asked == 2


async def test_each_row_says_state_source_and_models_and_the_usable_are_first(rig: Rig) -> None:
    soon = time.time() + 7000
    gone = Provider("a", "A", ProviderState.EXPIRED, source="login", kind="api-key")
    lasts = Provider("b", "B", ProviderState.EXPIRING, source="login", expires=soon)
    of_env = Provider("c", "C", ProviderState.LOGGED_IN, source="env", variable="C_KEY")
    await opened(rig, ZAI, gone, MOCK, lasts, of_env)
    assert [line.split() for line in shown(rig)] == [
        ["▸", "mock", "logged", "in", "key", "in", "ECA's", "config", "file", "2", "models"],
        ["▸", "B", "expires", "in", "116", "min", "by", "login"],
        ["▸", "C", "logged", "in", "key", "in", "$C_KEY"],
        ["▸", "Z-AI", "not", "logged", "in"],
        ["▸", "A", "login", "expired", "key", "of", "a", "login"],
    ]
    assert rig.view.of(SetPanel)[-1].title == "providers of eca: 3 of 5 ready"
    assert rig.view.of(SetProviders)[-1].providers[3] == {
        "id": "b",
        "name": "B",
        "logged_in": True,
        "models": 0,
        "source": "login",
        "expires": soon,
    }


async def test_models_are_rows_and_one_becomes_that_of_the_chat(rig: Rig) -> None:
    await opened(rig)
    rig.do(ActInPanel("providers", "models", 7, row="p\nmock"))
    await rig.view.until(lambda: len(shown(rig)) == 6)
    assert "$1 in $2 out thinks, sees images" in shown(rig)[3]
    assert "free uses no tools" in shown(rig)[4]
    await rig.ask(ActInPanel("providers", "use", 8, row="m\nmock\nmock-2"))
    assert ("set", "a", "model", "mock/mock-2") in rig.said()
    await rig.view.until(lambda: "●" in shown(rig)[4])
    assert "●" not in shown(rig)[3]
    rig.do(ActInPanel("providers", "models", 9, row="d\nmock"))
    await rig.view.until(lambda: len(shown(rig)) == 2)


async def test_a_model_that_the_chat_cannot_have_is_refused(rig: Rig) -> None:
    odd = Provider("odd", "odd", models=(Model("x", "odd/x"),))
    await opened(rig, odd)
    await rig.ask(ActInPanel("providers", "use", 8, row="m\nodd\nx"))
    assert rig.lines() == ["unknown model 'odd/x'"]


async def test_a_login_goes_to_its_chat_and_is_a_row_meanwhile(rig: Rig) -> None:
    providers = await opened(rig)
    done = anyio.Event()

    async def log_in(*_: object) -> None:
        await done.wait()
        raise AgentRefused("no")

    rig.agent.log_in = log_in  # type: ignore[assignment]
    assert await rig.ask(ActInPanel("providers", "login", 7, row="p\nz-ai")) == {"chat": "a"}
    await rig.view.until(lambda: shown(rig)[0].startswith("a login runs"))
    assert ("login", "z-ai") in rig.said()
    done.set()
    rig.agent.announce(ProvidersChanged((MOCK,)))
    await rig.view.until(lambda: len(shown(rig)) == 1)
    assert await rig.ask(ActInPanel("providers", "login", 8, row="p\nz-ai")) is None
    assert rig.lines() == ["this is gone: r asks again"]
    assert providers.asked == 1


async def test_a_logout_says_what_the_server_reports(rig: Rig) -> None:
    await opened(rig)
    rig.agent.still = "Still logged in to mock: remove its key from ECA's config file."
    await rig.ask(ActInPanel("providers", "logout", 7, row="p\nmock"))
    assert ("logout", "mock") in rig.said()
    assert rig.lines() == [rig.agent.still]


async def test_an_agent_without_providers_shows_its_ways_to_log_in(rig: Rig) -> None:
    agent = await rig.ready()
    agent.ways = (LoginWay("max", "Max", "runs claude login", logged_in=False),)
    rig.do(ShowPanel("providers", "a"))
    await rig.view.until(lambda: len(shown(rig)) == 2)
    assert shown(rig)[0].split() == ["Max", "not", "logged", "in", "runs", "claude", "login"]
    assert ":Eca model" in shown(rig)[1]
    assert rig.view.of(SetRows)[-1].rows[0].values["name"] == "the agent eca"  # "Log out of {}?"
    await rig.ask(ActInPanel("providers", "logout", 7, row="w\nmax"))
    assert ("logout", None) in rig.said()


async def test_a_fault_while_other_models_are_asked_for_ends_nothing(rig: Rig) -> None:
    class Broken(FakeProviders):
        async def refresh(self) -> None:
            raise KeyError("a bug")

    providers = await opened(rig)
    rig.agent.providers = Broken(rig)
    rig.agent.announce(ConfigUpdated(chat=ChatConfig(models=("mock/mock-3",))))
    await rig.view.until(lambda: rig.view.of(Notify))
    assert "cannot ask for the providers: 'a bug'" in rig.view.of(Notify)[-1].text
    rig.agent.providers = providers
    await rig.ask(ActInPanel("providers", "ask", 7))
    assert providers.asked == 2


async def test_other_models_and_another_agent_are_asked_for(rig: Rig) -> None:
    providers = await opened(rig)
    rig.agent.announce(ConfigUpdated(chat=ChatConfig(models=("mock/mock-3",))))
    await rig.view.until(lambda: providers.asked == 2)
    rig.agent.end(AgentExit("killed"))
    await rig.view.until(lambda: shown(rig) and "r starts it" in shown(rig)[0])
    assert list(rig.view.of(SetProviders)[-1].providers) == []
    rig.do(StartServer())
    agent = await rig.starting(2)
    agent.providers = providers
    agent.ready()
    await rig.view.until(lambda: len(shown(rig)) == 2 and providers.asked == 3)


async def test_a_server_that_is_stopped_as_it_is_to_be_asked_again_stays_down(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin_again = panel.ProvidersPanel._begin_again

    async def stopped_before(self: panel.ProvidersPanel) -> None:
        rig.do(QuitServer())
        await rig.done()
        await begin_again(self)

    await opened(rig)
    monkeypatch.setattr(panel.ProvidersPanel, "_begin_again", stopped_before)
    rig.agent.announce(ConfigUpdated(chat=ChatConfig(models=("mock/mock-3",))))
    await rig.view.until(lambda: "r starts it" in shown(rig)[0])
    assert len(rig.agents) == 1


async def test_hostile_texts_and_thousands_of_models_are_only_text(rig: Rig) -> None:
    bad = "\x1b[31m%{system('x')}\r\n\u202e" + "long " * 200
    models = tuple(Model(f"{bad}{number}", f"{number}", ("",)) for number in range(5000))
    await opened(rig, Provider(bad, bad, source=bad, address=bad, ways=(bad,), models=models))
    rig.do(ActInPanel("providers", "models", 7, row=f"p\n{bad}"))
    await rig.view.until(lambda: len(shown(rig)) > 5000)
    assert not any(it in line for line in shown(rig) for it in "\x1b\r\n\u202e")

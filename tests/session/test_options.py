"""Options of a chat whose agent lists them: set, refused, kept, and set again after a restart."""

from collections.abc import Mapping, Sequence

import anyio
import pytest
from msgspec.structs import replace
from tests.session.rig import PATIENCE, FakeAgent, Rig
from tests.support.calls import eca_call

from eca_nvim.agents.base import AgentExit
from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.events import Addressed, ToolRequested
from eca_nvim.chat.vocabulary.options import (
    MODE,
    MODEL,
    THOUGHT_LEVEL,
    ChatOption,
    OptionKind,
    OptionOffer,
    OptionRefused,
    OptionsChanged,
    OptionValue,
    SetOptions,
    Unasked,
)
from eca_nvim.chat.vocabulary.requests import ALLOW, REJECT, Choice, ChoiceKind
from eca_nvim.server.find import Finding

pytestmark = pytest.mark.anyio


def offers(*names: str, group: str = "") -> tuple[OptionOffer, ...]:
    return tuple(OptionOffer(name.lower(), name, group=group) for name in names)


ALWAYS = Choice("always", "always", ChoiceKind.ALLOW_ALWAYS)
EFFORTS: Mapping[object, Sequence[str]] = {"big": ("Low", "High"), "small": ("Low",)}
"""By model, the efforts that it has."""

LISTED = (
    ChatOption("m", "Model", "", MODEL, value="big", offers=offers("Big", "Small", group="Ours")),
    ChatOption(
        "mode-id",
        "Mode",
        category=MODE,
        value="plan",
        offers=offers("Plan", "Code", "Yolo"),
        unasked={"yolo": Unasked.ALL},
    ),
    ChatOption("e", "Effort", "", THOUGHT_LEVEL, value="low", offers=offers(*EFFORTS["big"])),
    ChatOption("f", "Fast", "", "model_config", value="no", offers=offers("No", "Yes")),
    ChatOption("web", "Web search", kind=OptionKind.TOGGLE, value=False),
    ChatOption("thinking", "Thinking", "", "thinking", OptionKind.TOGGLE, value=True),
    ChatOption("p", "Permissions", "", "permissions", value="ask", offers=offers("Ask", "Never")),
)


class Fictive(FakeAgent):
    """An agent with options of its own; of a model depends which efforts there are."""

    def __init__(self) -> None:
        super().__init__()
        self.listed: dict[str, tuple[ChatOption, ...]] = {}
        self.refuses: Mapping[str, str] = {}
        self.is_slow = False
        self.not_chosen: list[str] = []
        """What was set although the user has not chosen it since Neovim started."""

    def open_chat(self, chat_id: str, *, is_needed: bool = False) -> None:  # noqa: ARG002
        self.listed.setdefault(chat_id, LISTED)
        self.list(chat_id)

    def set_option(
        self, chat_id: str, option_id: str, value: OptionValue, *, is_chosen: bool = True
    ) -> None:
        self.told.append(("set", chat_id, option_id, value))
        if not is_chosen:
            self.not_chosen.append(option_id)
        if option_id in self.refuses:
            self.emit([Addressed(chat_id, OptionRefused(option_id, self.refuses[option_id]))])
        elif not self.is_slow:
            self.listed[chat_id] = tuple(changed(self.listed[chat_id], option_id, value))
            self.list(chat_id, is_answer=True)

    def list(self, chat_id: str, *, is_answer: bool = False) -> None:
        """Send the options of a chat."""
        self.emit([Addressed(chat_id, OptionsChanged(self.listed[chat_id], is_answer))])


def changed(
    options: Sequence[ChatOption], option_id: str, value: OptionValue
) -> Sequence[ChatOption]:
    """Return options of which one is set: another one may change with it."""
    found = [replace(it, value=value) if it.id == option_id else it for it in options]
    if option_id != "m":
        return found
    efforts = offers(*EFFORTS[value])
    return [replace(it, value="low", offers=efforts) if it.id == "e" else it for it in found]


@pytest.fixture(autouse=True)
def fictive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.session.rig.FakeAgent", Fictive)


async def begun(rig: Rig, chat: str = "a", number: int = 1) -> Fictive:
    agent = await rig.ready(chat, number=number)
    assert isinstance(agent, Fictive)
    return agent


async def choose(rig: Rig, option: str, value: object, chat: str = "a") -> None:
    rig.do(intents.Choose(chat, option, value))
    await rig.done()


def values(rig: Rig, chat: str = "a") -> dict[str, object]:
    """Return the values as they are shown, by the option's name."""
    rows = [op for op in rig.view.of(SetOptions) if op.chat == chat][-1].options
    return {row["name"]: row["shown"] for row in rows}


async def test_all_options_are_shown_and_any_can_be_set(rig: Rig) -> None:
    agent = await begun(rig)
    assert values(rig) == {
        "Model": "Big",
        "Mode": "Plan",
        "Effort": "Low",
        "Fast": "No",
        "Web search": "off",
        "Thinking": "on",
        "Permissions": "Ask",
    }
    for option, value in (("mode", "code"), ("web", True), ("thinking", False), ("p", "never")):
        await choose(rig, option, value)
    assert agent.told == [
        ("set", "a", "mode-id", "code"),
        ("set", "a", "web", True),
        ("set", "a", "thinking", False),
        ("set", "a", "p", "never"),
    ]
    assert rig.lines() == ["Web search: on", "Thinking: off", "Permissions: Never"]
    assert values(rig) | {"Model": 0, "Effort": 0, "Fast": 0} == {
        "Model": 0,
        "Mode": "Code",
        "Effort": 0,
        "Fast": 0,
        "Web search": "on",
        "Thinking": "off",
        "Permissions": "Never",
    }
    status = rig.status()
    assert (status["model"], status["agent"], status["variant"]) == ("Big", "Code", "Low")


async def test_a_value_may_be_named_as_the_user_sees_it(rig: Rig) -> None:
    agent = await begun(rig)
    await choose(rig, MODE, "Code")
    await choose(rig, "p", "nev")
    assert agent.told == [("set", "a", "mode-id", "code"), ("set", "a", "p", "never")]


@pytest.mark.parametrize(
    ("option", "value", "line"),
    [
        ("e", "hihg", "unknown Effort 'hihg'; did you mean High?"),
        ("p", "a\x1b[1m\nb", "unknown Permissions 'a b'"),
        ("web", "on", "Web search takes on or off"),
        ("web", None, "invalid web: None"),
        ("nothing", "x", "this server has no nothing to choose"),
    ],
)
async def test_what_is_not_offered_is_not_sent(
    rig: Rig, option: str, value: object, line: str
) -> None:
    agent = await begun(rig)
    await choose(rig, option, value)
    assert (agent.told, rig.lines()) == ([], [line])


async def test_setting_one_changes_what_another_offers(rig: Rig) -> None:
    await begun(rig)
    await choose(rig, "e", "high")
    await choose(rig, "m", "small")
    assert (values(rig)["Model"], values(rig)["Effort"]) == ("Small", "Low")
    assert rig.offers()["Effort"] == ["Low"]
    await choose(rig, "e", "high")
    assert rig.lines() == ["unknown Effort 'high'"]


async def test_a_refusal_is_one_line_and_is_not_kept(rig: Rig) -> None:
    agent = await begun(rig)
    agent.refuses = {"e": "no effort today"}
    await choose(rig, "e", "high")
    assert rig.view.text().split("\n") == ["Effort stays Low: no effort today"]
    assert values(rig)["Effort"] == "Low"
    assert rig.persistence.choices("eca")("e") is None


async def test_a_newer_list_without_the_value_is_one_line(rig: Rig) -> None:
    agent = await begun(rig)
    agent.is_slow = True
    await choose(rig, "e", "high")
    assert values(rig)["Effort"] == "Low", "it counts once the agent lists it"
    agent.listed["a"] = tuple(changed(LISTED, "m", "small"))
    agent.list("a")
    line = "Effort stays Low: the server no longer offers High"
    assert rig.view.text().split("\n") == [line]
    agent.list("a")
    assert rig.view.text().count(line) == 1


async def test_a_new_chat_gets_the_last_choices_one_after_the_other(rig: Rig) -> None:
    agent = await begun(rig)
    await choose(rig, "m", "small")
    await choose(rig, "m", "big")
    await choose(rig, "e", "high")
    await choose(rig, "web", value=True)
    agent.told.clear()
    rig.do(intents.OpenChat("b"))
    await rig.done()
    assert agent.told == [
        ("set", "b", "m", "big"),
        ("set", "b", "e", "high"),
        ("set", "b", "web", True),
    ]
    assert values(rig, "b") == values(rig)


async def test_what_lets_tools_run_unasked_is_not_kept(rig: Rig) -> None:
    await begun(rig)
    await choose(rig, "mode", "code")
    await choose(rig, "mode", "yolo")
    assert rig.status()["unasked"] == ["Yolo"]
    rig.do(intents.OpenChat("b"), intents.SetTrust("b", trusted=True))
    await rig.done()
    assert values(rig, "b")["Mode"] == "Code"
    last = rig.persistence.choices("eca")
    assert [last("trust"), last("mode-id")] == [None, "code"]


async def test_a_trusted_chat_answers_for_an_agent_without_trust(rig: Rig) -> None:
    agent = await begun(rig)
    rig.do(intents.SendPrompt("a", "hi"), intents.SetTrust("a", trusted=True))
    await rig.done()
    call = ToolRequested(eca_call("c", "edit_file"), True, (ALWAYS, ALLOW, REJECT))
    agent.say("a", call)
    with anyio.fail_after(PATIENCE):
        await agent.approved.wait()
    assert agent.told[1:] == [("decide", "a", "c", ALLOW.id)]
    assert rig.view.pending == []


async def test_what_is_set_before_there_is_a_list_waits_for_it(rig: Rig) -> None:
    rig.do(intents.OpenChat("a"))
    await rig.starting()
    await choose(rig, "mode", "code")
    await choose(rig, "model", "huge")
    assert (rig.status()["agent"], rig.status()["model"]) == ("code", "huge")
    rig.agent.ready()
    assert rig.said() == [("set", "a", "mode-id", "code")]
    assert rig.persistence.choices("eca")("mode-id") == "code"
    assert (rig.status()["agent"], rig.status()["model"]) == ("Code", "Big")
    assert rig.view.text().split("\n") == ["Model is Big: the server does not offer huge"]


async def test_what_is_set_before_there_is_a_list_may_be_a_name(rig: Rig) -> None:
    rig.do(intents.OpenChat("a"))
    await rig.starting()
    await choose(rig, "mode", "COD")
    rig.agent.ready()
    assert rig.said() == [("set", "a", "mode-id", "code")]
    assert rig.view.text() == ""


async def test_an_agent_without_options_says_so(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fictive, "open_chat", lists_nothing)
    rig.do(intents.OpenChat("a"))
    await rig.starting()
    await choose(rig, "model", "huge")
    rig.agent.ready()
    assert "model" not in rig.status()
    assert rig.view.text().split("\n") == ["this server has no model to choose"]
    await choose(rig, "mode", "code")
    assert rig.lines() == ["this server has no agent to choose"]


def lists_nothing(agent: Fictive, chat: str, *, is_needed: bool = False) -> None:
    agent.listed[chat] = ()
    agent.list(chat)


async def test_after_a_restart_it_is_set_again(rig: Rig) -> None:
    agent = await begun(rig)
    await choose(rig, "mode", "code")
    rig.do(intents.SetTrust("a", trusted=True))
    agent.is_slow = True
    await choose(rig, "p", "never")
    agent.end(AgentExit("gone"))
    await rig.view.until(lambda: rig.states()[-1] == "failed")
    await choose(rig, "web", value=True)
    assert values(rig)["Web search"] == "on"
    rig.do(intents.StartServer(restart=False))
    again = await rig.starting(2)
    again.ready()
    assert again.told == [
        ("set", "a", "mode-id", "code"),
        ("set", "a", "web", True),
        ("set", "a", "p", "never"),
    ]
    assert values(rig)["Mode"] == "Code"
    assert rig.status()["trust"] is True
    assert rig.view.text().count("stays") == 0


async def test_a_mode_that_does_not_ask_is_set_again_only_if_the_user_chose_it(rig: Rig) -> None:
    for number, (chosen, mode) in enumerate((("code", []), ("yolo", ["yolo"])), 1):
        agent = await begun(rig, number=number)
        rig.do(intents.SendPrompt("a", "hi"))
        await choose(rig, "mode", chosen)
        agent.listed["a"] = tuple(changed(agent.listed["a"], "mode-id", "yolo"))
        agent.list("a")  # the agent did it
        agent.end(AgentExit("gone"))
        await rig.view.until(lambda: rig.states()[-1] == "failed")
        rig.do(intents.StartServer(restart=False))
        again = await rig.starting(number + 1)
        again.ready()
        assert [it[3] for it in again.told if it[0] == "set" and it[2] == "mode-id"] == mode


async def test_options_stay_with_their_server(rig: Rig) -> None:
    await begun(rig)
    await choose(rig, "mode", "code")
    rig.do(intents.OpenChat("a", server="two"))
    other = await rig.starting(2)
    await rig.done()
    assert values(rig) == {}
    other.ready()
    assert values(rig)["Mode"] == "Plan"
    assert other.told == []


async def test_a_new_chat_gets_what_the_options_say(rig: Rig) -> None:
    rig.session.configure({"eca": {"model": "small", "web": True, "mode": "yolo"}}, Finding())
    agent = await begun(rig)
    assert agent.told == [
        ("set", "a", "m", "small"),
        ("set", "a", "mode-id", "yolo"),
        ("set", "a", "web", True),
    ]
    last = rig.persistence.choices("eca")
    assert [last("m"), last("web")] == [None, None]
    assert rig.view.text() == ""
    assert rig.status()["unasked"] == ["Yolo"]
    await choose(rig, "m", "big")
    agent.told.clear()
    rig.do(intents.OpenChat("b"))
    await rig.done()
    assert agent.told == [
        ("set", "b", "m", "small"),
        ("set", "b", "mode-id", "yolo"),
        ("set", "b", "web", True),
    ]
    assert rig.persistence.choices("eca")("m") == "big"
    rig.do(intents.OpenChat("c", server="other"))
    await rig.starting(2)
    rig.agent.ready()
    assert ("set", "c", "m", "small") not in rig.said()


async def test_what_the_options_say_wrongly_is_said_in_the_chat(rig: Rig) -> None:
    rig.session.configure({"eca": {"model": "huge", "modle": "big", "trust": True}}, Finding())
    agent = await begun(rig)
    assert agent.told == []
    assert sorted(rig.view.text().split("\n")) == [
        "servers.eca.options.modle is not set: this server has no modle to choose",
        "servers.eca.options.trust is not set: this server has no trust to choose",
        "servers.eca.options: Model is Big: the server does not offer huge",
    ]


async def test_what_the_options_say_is_set_although_it_is_listed_late(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists = Fictive.open_chat
    monkeypatch.setattr(Fictive, "open_chat", lists_nothing)
    rig.session.configure({"eca": {"model": "small"}}, Finding())
    agent = await begun(rig)
    line = "servers.eca.options.model is not set: this server has no model to choose"
    assert (agent.told, rig.view.text()) == ([], line)
    agent.listed.clear()
    lists(agent, "a")
    assert agent.told == [("set", "a", "m", "small")]
    assert rig.view.text() == line

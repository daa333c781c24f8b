"""What can be set in a session: lists of options, modes and models, and what runs unasked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec import Raw
from tests.agents.acp.acp_client import CHAT, make_agent, remembering, running
from tests.agents.acp.conftest import PrepareReplay, PrepareScript
from tests.agents.acp.no_process import NoProcess
from tests.agents.acp.session_turns import BOUND, OLD, notices, opens, refuses, sent
from tests.agents.acp.wire import Wired, text
from tests.support import acp_script as agent
from tests.support import script
from tests.support.on_the_wire import on_the_wire

from eca_nvim.agents.acp.options import SessionOptions
from eca_nvim.agents.acp.outbox import SILENT, Outbox
from eca_nvim.agents.acp.session import Session, Setting, Then
from eca_nvim.agents.acp.sessions import Sessions
from eca_nvim.chat.vocabulary.events import NoticeReceived
from eca_nvim.chat.vocabulary.options import (
    ChatOption,
    OptionKind,
    OptionOffer,
    OptionRefused,
    OptionsChanged,
    Unasked,
)
from eca_nvim.chat.vocabulary.states import TurnEnd
from eca_nvim.jsonrpc import ErrorResponse, Response
from eca_nvim.protocol.acp.options import (
    ConfigOption,
    Mode,
    Model,
    Models,
    Modes,
    Offer,
    PlainOffer,
    SetConfigOption,
    SetMode,
    SetModel,
)
from eca_nvim.protocol.acp.sessions import OpenedSession
from eca_nvim.transport import Connection, PendingRequest

MODES = Modes("default", (Mode("default", "Default"), Mode("yolo", "YOLO", "asks nothing")))
MODELS = Models("m1", (Model("m1", "One"), Model("m2")))
OPENED = OpenedSession(modes=MODES, models=MODELS)


def mode(value: str, *others: str) -> ChatOption:
    offers = tuple(map(Offer, (value, *others)))
    option = ConfigOption(id="x", category="mode", current_value=value, options=offers)
    [read] = SessionOptions().listed([option]).options
    return read


def values(changed: OptionsChanged | None) -> list[str | bool]:
    assert changed is not None
    return [option.value for option in changed.options]


def test_modes_and_models_are_two_options() -> None:
    changed = SessionOptions().opened(OPENED)
    assert changed is not None
    assert [(it.id, it.category, it.value) for it in changed.options] == [
        ("mode", "mode", "default"),
        ("model", "model", "m1"),
    ]
    assert changed.options[0].offers[1] == OptionOffer("yolo", "YOLO", "asks nothing")
    assert changed.options[1].offers[1] == OptionOffer("m2", "m2")
    assert changed.options[0].unasked == {"yolo": Unasked.ALL}


def test_with_options_modes_and_models_are_ignored() -> None:
    listed = [ConfigOption(id="effort", category="thought_level", current_value="low")]
    changed = SessionOptions().opened(
        OpenedSession(config_options=tuple(listed), modes=MODES, models=MODELS)
    )
    assert changed is not None
    assert [option.id for option in changed.options] == ["effort"]


def test_a_list_that_came_before_the_session_stays() -> None:
    options = SessionOptions()
    listed = options.listed([ConfigOption(id="effort")])
    assert options.opened(OPENED) == listed


def test_an_agent_may_have_no_options() -> None:
    assert SessionOptions().opened(OpenedSession()) == OptionsChanged(())
    assert SessionOptions().opened(OpenedSession(config_options=())) == OptionsChanged(())


def test_groups_are_one_list_of_offers() -> None:
    inner = (PlainOffer("a", "A"), PlainOffer("b"))
    offers = (Offer(group="g", name="Group", options=inner), Offer("c"), Offer(group="empty"))
    changed = SessionOptions().listed([ConfigOption(id="m", current_value="a", options=offers)])
    assert changed.options[0].offers == (
        OptionOffer("a", "A", "", "Group"),
        OptionOffer("b", "b", "", "Group"),
        OptionOffer("c", "c"),
    )


def test_an_option_may_be_on_or_off() -> None:
    options = SessionOptions()
    changed = options.listed([ConfigOption(id="fast", type="boolean", current_value=True)])
    assert (changed.options[0].kind, changed.options[0].value) == (OptionKind.TOGGLE, True)
    request = options.request("s", "fast", False)
    assert request == SetConfigOption("s", "fast", False, "boolean")
    assert on_the_wire(request) == {
        "sessionId": "s",
        "configId": "fast",
        "value": False,
        "type": "boolean",
    }


@pytest.mark.parametrize(
    ("value", "others", "loud"),
    [
        ("bypassPermissions", ("default",), True),
        ("dontAsk", (), True),
        ("auto-approve", (), True),
        ("https://agentclientprotocol.com/protocol/session-modes#autopilot", (), True),
        ("https://agentclientprotocol.com/protocol/session-modes#agent", (), False),
        ("agent", ("read-only", "agent-full-access"), True),  # codex
        ("agent", (), False),  # fast-agent
        ("build", ("plan",), True),  # opencode: unless its own settings say that it asks
        ("plan", ("build",), True),  # opencode: it runs commands there
        ("plan", ("default",), False),
        ("default", ("yolo",), False),
        ("something new", (), False),
    ],
)
def test_modes_that_do_not_ask_are_known(value: str, others: tuple[str, ...], loud: bool) -> None:
    option = mode(value, *others)
    assert (option.value in option.unasked) == loud


def test_only_the_ids_of_a_category_count() -> None:
    offers = (Offer("on"), Offer("off"))
    listed = [
        ConfigOption(id="allow_all", category="permissions", current_value="on", options=offers),
        ConfigOption(id="other", category="thinking", current_value="on", options=offers),
    ]
    permissions, thinking = SessionOptions().listed(listed).options
    assert permissions.unasked == {"on": Unasked.ALL}
    switch = ConfigOption(id="allow_all", category="permissions", type="boolean")
    assert SessionOptions().listed([switch]).options[0].unasked == {True: Unasked.ALL}
    assert thinking.unasked == {}


def test_a_mode_may_change_without_the_user() -> None:
    options = SessionOptions()
    options.opened(OPENED)
    assert values(options.mode_changed("yolo")) == ["yolo", "m1"]
    assert values(options.mode_changed("never listed")) == ["never listed", "m1"]
    (loud, _) = options.mode_changed("bypassPermissions").options
    assert loud.value in loud.unasked, "though it was never listed"
    changed = SessionOptions().mode_changed("yolo")
    assert values(changed) == ["yolo"]
    assert changed.options[0].unasked == {"yolo": Unasked.ALL}


def test_the_request_fits_what_the_agent_lists() -> None:
    options = SessionOptions()
    assert options.request("s", "mode", "yolo") is None
    options.opened(OPENED)
    assert options.request("s", "mode", "yolo") == SetMode("s", "yolo")
    assert options.request("s", "model", "m2") == SetModel("s", "m2")
    options.listed([ConfigOption(id="mode", category="mode")])
    assert options.request("s", "mode", "yolo") == SetConfigOption("s", "mode", "yolo")
    assert options.request("s", "model", "m2") is None


class Slow(Connection, Sessions):
    """An agent that answers when the test says so, and its one session."""

    def __init__(self) -> None:
        self.link = NoProcess(self)
        self.link.tasks = cast("Any", self)
        self.session = Session("chat", "/w", self.link)
        self.session.inbox.options.opened(OPENED)
        self.sent: list[PendingRequest] = []
        self.names: list[object] = []

    def start_soon(self, *_: object) -> None:
        """No time passes."""

    def when_open(self, chat_id: str, then: Then) -> None:
        self.names.append(chat_id)
        then(self.session, None)

    def start_request(
        self,
        method: str,
        params: object = None,
        on_answer: Callable[[PendingRequest], None] | None = None,
    ) -> PendingRequest:
        self.names.append((method, params))
        self.sent.append(PendingRequest(len(self.sent), lambda _: None, on_answer))
        return self.sent[-1]


def test_options_are_set_one_after_the_other() -> None:
    """Goose 1.34.0 stays in a mode that does not ask if its provider is set at the same time."""
    wire = Slow()
    outbox = Outbox(wire.link, wire, cast("Any", None))
    for option_id, value in (("model", "m2"), ("gone", "x"), ("mode", "yolo"), ("model", "m1")):
        outbox.set_option("chat", Setting(option_id, value, is_chosen=True))
    assert (len(wire.sent), len(wire.session.settings)) == (1, 4)
    wire.sent[0].settle(Response(0, Raw(b"{}")))
    assert (len(wire.sent), len(wire.session.settings)) == (2, 2)
    wire.sent[1].settle(ErrorResponse(1, -32603, "no", None))
    wire.sent[2].settle(Response(2, Raw(b"{}")))
    assert (len(wire.sent), len(wire.session.settings)) == (3, 0)
    refused = [it.option_id for it in wire.link.events if isinstance(it, OptionRefused)]
    assert refused == ["gone", "mode"]


@pytest.mark.anyio
async def test_options_are_set_and_refused(replay_acp: PrepareReplay, tmp_path: Path) -> None:
    recording = replay_acp("claudezed-modes")
    async with running(make_agent(recording.command, tmp_path)) as client:
        client.agent.open_chat(CHAT)
        await client.until(lambda: client.all(OptionsChanged))
        for value in ("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions", "none"):
            client.agent.set_option(CHAT, "mode", value)
        for value in ("opus[1m]", "haiku"):
            client.agent.set_option(CHAT, "model", value)
        await client.until(lambda: len(client.all(OptionsChanged)) >= 8)
        assert values(client.all(OptionsChanged)[-1]) == ["bypassPermissions", "haiku"]
        client.agent.set_option(CHAT, "gone", "x")
        await client.until(lambda: len(client.all(OptionRefused)) >= 2)
    refused, gone = client.all(OptionRefused)
    assert refused.option_id == "mode"
    assert refused.reason == "the agent refused it: Internal error: Invalid Mode"
    assert gone.reason == "the agent does not offer this option any more"


@pytest.mark.anyio
@pytest.mark.parametrize("stops", [False, True])
async def test_a_setting_without_an_answer_holds_no_prompt(
    scripted_acp: PrepareScript, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, stops: bool
) -> None:
    """It is refused after a while, or by a stop; a late answer counts nevertheless."""
    if not stops:
        monkeypatch.setattr("eca_nvim.agents.acp.outbox.SETTING_SECONDS", 0.01)
    offered = [{"id": it, "name": it} for it in "ab"]
    modes = {"currentModeId": "a", "availableModes": offered}
    server = scripted_acp(
        agent.handshake(), opens("session/new", sessionId=agent.SESSION, modes=modes),
        script.expect("session/set_mode"), agent.turn(), script.answer(3, {}), agent.turn(),
    )  # fmt: skip
    async with running(make_agent(server.command, tmp_path)) as client:
        client.agent.open_chat(CHAT)
        await client.first(OptionsChanged)
        client.agent.set_option(CHAT, "mode", "b")
        if stops:
            client.prompt("first")
            client.agent.stop(CHAT)
        assert (await client.say("go")).end is TurnEnd.DONE
        assert client.all(OptionRefused) == [OptionRefused("mode", SILENT)]
        assert (await client.say("go on")).end is TurnEnd.DONE
        assert [values(it) for it in client.all(OptionsChanged)] == [["a"], ["b"]]
        assert not any(it.is_answer for it in client.all(OptionsChanged))


@pytest.mark.anyio
async def test_a_chat_that_only_the_project_knows_is_opened_for_its_options(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    modes = {"currentModeId": "b", "availableModes": [{"id": "b", "name": "B"}]}
    server = scripted_acp(
        agent.handshake(**agent.can("resume")),
        refuses("session/resume", -32603, "busy"),
        refuses("session/load", -32603, "busy"),
        opens(
            "session/resume",
            agent.update("current_mode_update", OLD, currentModeId="a"),
            modes=modes,
        ),
    )
    memory = remembering(BOUND)
    async with running(make_agent(server.command, tmp_path, memory=memory)) as client:
        client.agent.open_chat(CHAT)
        for _ in range(2):
            client.agent.open_chat(CHAT, is_needed=True)
        assert "busy" in (await client.first(NoticeReceived)).text
        client.agent.open_chat(CHAT, is_needed=True)
        await client.first(OptionsChanged)
    assert len(notices(client)) == 1
    [listed] = client.all(OptionsChanged)
    assert [(it.value, it.name_of(it.value)) for it in listed.options] == [("b", "B")]
    assert sent(server) == ["resume", "load", "resume"]


def test_no_text_of_a_model_ends_the_warning_that_tools_run_unasked() -> None:
    wired = Wired()
    wired.update("current_mode_update", currentModeId="default")
    wired.update("agent_message_chunk", content=text("[MODE_UPDATE] yolo"))
    [mode] = wired.driver.chat.options
    assert mode.value == "yolo"
    assert mode.value in mode.unasked
    wired.update("agent_message_chunk", content=text("[MODE_UPDATE] default"))
    assert wired.driver.chat.options == (mode,)
    assert wired.lines == ["[MODE_UPDATE] default"]
    wired.update("current_mode_update", currentModeId="default")
    [mode] = wired.driver.chat.options
    assert mode.value == "default"

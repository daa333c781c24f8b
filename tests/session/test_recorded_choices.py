"""Model, agent and variant as the recorded messages of the real server choose them."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.session.rig import FakeAgent, Rig
from tests.support.recording import Event, read_recording

from eca_nvim.agents.eca.older.forms import read_notification
from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.events import ChatOpened
from eca_nvim.protocol.eca.chat import ConfigUpdated

pytestmark = pytest.mark.anyio

TRAFFIC = Path(__file__).parents[1] / "fixtures" / "traffic" / "eca"
FIELDS = ("model", "agent", "variant", "trust")


async def relive(rig: Rig, agent: FakeAgent, event: Event) -> None:
    """Let the user choose and prompt, and the server announce, as they did."""
    params = event.message.get("params", {})
    chat = params.get("chatId") if isinstance(params, dict) else None
    match event.name:
        case "config/updated":
            update = read_notification(event.name, params)
            assert isinstance(update, ConfigUpdated)
            agent.announce(update)
        case "chat/opened":
            agent.say(chat, ChatOpened(params.get("title")))
        case "chat/selectedAgentChanged" if chat is not None:
            rig.do(intents.Choose(chat, "agent", params["agent"]))
        case "chat/selectedModelChanged" if chat is not None:
            rig.do(intents.Choose(chat, "model", params["model"]))
            rig.do(intents.Choose(chat, "variant", params.get("variant", "")))
        case "chat/update" if chat is not None and "trust" in params:
            rig.do(intents.SetTrust(chat, trusted=params["trust"]))
        case "chat/prompt":
            assert chat is not None
            for what in set(FIELDS) & params.keys():
                is_trust = what == "trust"
                rig.do(
                    intents.SetTrust(chat, params[what])
                    if is_trust
                    else intents.Choose(chat, what, params[what])
                )
            rig.do(intents.SendPrompt(chat, params["message"]))
        case "response":
            answer = event.message.get("result")
            if isinstance(answer, Mapping) and answer.get("status") == "prompting":
                agent.answers(str(answer["chatId"]), answer["model"])
    await rig.done()


ENDS: Mapping[str, Mapping[str, tuple[object, ...]]] = {
    "selections": {"c-sel": ("mock/mock-reason", "code", "medium", False)},
    "custom_agents": {"c-cu": ("mock/mock-reason", "custom", "medium", False)},
    "agent_persist": {
        "c-ap": ("mock/mock-reason", "plan", None, False),
        "c-new": ("mock/mock-1", "plan", "low", False),  # recorded without a model: it was lost
    },
    "default_trust": {"c-dt": ("mock/mock-1", "code", None, False)},
    "trust": {
        "c-tr": ("mock/mock-1", "code", None, True),
        "c-tr2": ("mock/mock-1", "code", None, True),
    },
    "config_change": {"a": ("mock/mock-1", "code", None, False)},
}


@pytest.mark.parametrize("name", ENDS)
async def test_the_status_ends_as_the_server_has_it(rig: Rig, name: str) -> None:
    agent = await rig.ready()
    for event in read_recording(TRAFFIC / f"{name}.jsonl"):
        if "(bad model)" in str(event.message):
            break  # from here on the user chooses unknown names
        await relive(rig, agent, event)
    for chat, wanted in ENDS[name].items():
        status = rig.status(chat)
        assert tuple(status.get(field) for field in FIELDS) == wanted, chat

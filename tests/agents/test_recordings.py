"""Recorded sessions of the real server, replayed to the agent without an editor."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.agents.client import make_agent, running
from tests.agents.recorded import prepare, relive
from tests.agents.summary import summary
from tests.chat.driver import Driver
from tests.support.golden import assert_golden
from tests.support.used_files import used_files

from eca_nvim.chat.vocabulary.agent_events import AgentEvent
from eca_nvim.chat.vocabulary.events import Addressed

pytestmark = pytest.mark.anyio

GOLDEN = Path(__file__).parent / "golden"
WHOLE = [
    *("handshake", "hello", "hello_nochatid", "think", "read", "edit_approved", "edit_rejected"),
    *("shell", "diagnostics", "stop_stream", "commands", "init_minimal", "old_client"),
    *("framing_ctype", "framing_lf", "framing_short", "framing_split", "prompt_early"),
    *("prompt_early_model", "broken_config", "no_models", "task", "mcp", "navigation", "trust"),
    *("login_command", "approval_config", "double_approve", "jobs", "compact_cmd", "contexts"),
]
TURNS = {"ask": 3, "subagent": 1}
"""Of these so many turns: later ones are what no user of this client can do."""

OF_THE_SERVER = {"handshake", "init_minimal", "mcp", "no_models"}
"""Of these the golden file has what belongs to no chat, too."""

USE_FILES = {"read", "edit_approved", "edit_rejected", "shell", "navigation", "subagent"}


def used(events: Iterable[AgentEvent], workspace: Path) -> str:
    """Return the files that the chats have used."""
    drivers: dict[str, Driver] = {}
    for it in events:
        if isinstance(it, Addressed):
            home = it.parent_id or it.chat_id or ""
            driver = drivers.setdefault(home, Driver((str(workspace),)))
            driver.hear_exactly(it.event, child=it.chat_id if it.parent_id else None)
    return "--\n".join(used_files(it.chat, it.effects) for it in drivers.values())


@pytest.mark.parametrize("name", [*WHOLE, *TURNS])
async def test_a_recorded_session_is_relived(name: str, tmp_path: Path, workspace: Path) -> None:
    recorded = prepare(name, tmp_path, TURNS.get(name))
    async with running(make_agent(recorded.replay.command, workspace)) as client:
        await relive(client, recorded)
    assert recorded.report() == {"missing": [], "different": []}
    is_told = name in OF_THE_SERVER
    events = [it for it in client.events if is_told or isinstance(it, Addressed)]
    assert_golden(summary(events), GOLDEN / f"{name}.txt")
    if name in USE_FILES:
        assert_golden(used(events, workspace), GOLDEN / "files" / f"{name}.txt")


@pytest.mark.parametrize("name", ["hello_nochatid", "old_client"])
async def test_a_chat_id_of_the_server_is_never_seen(
    name: str, tmp_path: Path, workspace: Path
) -> None:
    recorded = prepare(name, tmp_path)
    async with running(make_agent(recorded.replay.command, workspace)) as client:
        await relive(client, recorded)
    assert {it.chat_id for it in client.events if isinstance(it, Addressed)} == {"our-1"}

"""Recordings of real agents, each played by a process: our client does what the recorded one did.

What the chats show of all recordings is held by `test_recordings_in_one_process.py`.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.agents.acp.acp_client import CHAT, AcpClient, make_agent, running
from tests.agents.acp.conftest import PrepareReplay
from tests.agents.acp.file_turns import OnDisk
from tests.agents.client import TIMEOUT
from tests.support.drawn import drawn
from tests.support.recording import Event
from tests.support.replay_acp import read_lives
from tests.support.servers import ACP_RECORDINGS
from tests.support.wire import Message

from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import ToolRequested
from eca_nvim.chat.vocabulary.states import TurnEnd
from eca_nvim.chat.vocabulary.turn_events import TurnBegan

pytestmark = pytest.mark.anyio

ENDS = {
    "cancelled": TurnEnd.STOPPED,
    "end_turn": TurnEnd.DONE,
    "max_tokens": TurnEnd.LIMIT,
    "refusal": TurnEnd.DECLINED,
}


NOT_OURS = {"sdkexample-perm-cancelled": "its client answered `cancelled` without a stop"}


def life(name: str) -> Sequence[Event]:
    """Return the first life in a recording."""
    return read_lives(ACP_RECORDINGS / f"{name}.jsonl")[0]


def is_plain(message: Message) -> bool:
    """Return whether a client's message is a prompt of text, a stop or an answer to a request."""
    match message:
        case {"method": "session/prompt", "params": {"prompt": [{"type": "text"}]}}:
            return True
        case {"method": "initialize" | "session/new" | "session/cancel"}:
            return True
        case {"result": {"outcome": _} | {"terminalId": _} | {"exitCode": _} | {"output": _}}:
            return True
        case {"result": {"content": str()}} | {"result": {}, "id": int()}:  # files
            return True
        case {"error": {"code": -32002}}:  # a missing file
            return True
        case _:
            return False


def plain_recordings() -> Iterator[str]:
    """Yield the recordings that have one session, and whose client did nothing special."""
    for path in sorted(ACP_RECORDINGS.glob("*.jsonl")):
        client = [event for event in life(path.stem) if event.direction == "c2s"]
        sessions = [event for event in client if event.name == "session/new"]
        is_ours = path.stem not in NOT_OURS and len(sessions) == 1
        if is_ours and all(is_plain(event.message) for event in client):
            yield path.stem


def done_by_client(name: str, cwd: Path) -> Iterator[Message]:
    """Yield the client's messages, without the handshake, as if it worked in the folder `cwd`."""
    folder = ""
    for event in life(name):
        if event.name == "session/new":
            folder = event.message["params"]["cwd"]
        if event.direction == "c2s" and event.name not in ("initialize", "session/new"):
            yield json.loads(json.dumps(event.message).replace(folder, str(cwd)))


def written(name: str) -> dict[str, str]:
    """Return the texts of the files that the agent wrote through its client, by their names."""
    asked = (it.message["params"] for it in life(name) if it.name == "fs/write_text_file")
    return {Path(params["path"]).name: params["content"] for params in asked}


def ends(name: str) -> Iterator[TurnEnd]:
    """Yield how the turns ended."""
    prompts = [it.message["id"] for it in life(name) if it.name == "session/prompt"]
    for event in life(name):
        if event.direction == "s2c" and event.message.get("id") in prompts:
            match event.message:
                case {"result": {"stopReason": reason}}:
                    yield ENDS[reason]
                case {"error": _}:
                    yield TurnEnd.FAILED


class Doer:
    """Does what the recorded client did, each thing once it can be done."""

    def __init__(self, client: AcpClient) -> None:
        self._client = client
        self._prompts = self._answers = 0

    async def do(self, message: Message) -> None:
        agent, client = self._client.agent, self._client
        match message:
            case {"method": "session/prompt", "params": {"prompt": [{"text": str(text)}]}}:
                await client.until(lambda: len(client.ends) == self._prompts)
                self._prompts += 1
                agent.prompt(Prompt(CHAT, text))
            case {"method": "session/cancel"}:
                await client.until(lambda: len(client.all(TurnBegan)) == self._prompts)
                agent.stop(CHAT)
            case {"result": {"outcome": {"outcome": "selected", "optionId": choice}}}:
                self._answers += 1
                await client.until(lambda: len(self._asked) >= self._answers)
                shown = drawn(self._asked[self._answers - 1])
                agent.decide(CHAT, shown.id, choice, shown)
            case {"result": {"outcome": {"outcome": "cancelled"}}}:
                self._answers += 1  # the stop did it
            case {"result": _} | {"error": _}:
                pass  # we read and write files and run commands without the user's help
            case _:
                raise AssertionError(f"what did the client do? {message}")

    @property
    def _asked(self) -> list[ToolRequested]:
        return [it for it in self._client.all(ToolRequested) if it.needs_approval]

    async def finish(self) -> None:
        await self._client.until(lambda: len(self._client.ends) == self._prompts)


def test_most_recordings_are_of_plain_clients() -> None:
    assert len([*plain_recordings()]) == 46


@pytest.mark.parametrize("name", [*plain_recordings()])
async def test_we_do_as_the_recorded_client_did(
    name: str, replay_acp: PrepareReplay, tmp_path: Path
) -> None:
    recording = replay_acp(name)
    (tmp_path / "old.txt").write_text("one\ntwo\nthree\n")
    agent = make_agent(recording.command, tmp_path, services=OnDisk())
    async with running(agent) as client:
        client.agent.open_chat(CHAT)
        doer = Doer(client)
        for message in done_by_client(name, tmp_path):
            await doer.do(message)
        await doer.finish()
        assert client.ends == [*ends(name)]
    report = recording.report()
    assert report is not None
    faults = {key: report[key] for key in ("missing", "different") if report[key]}
    assert not faults, json.dumps(report, indent=1)
    assert set(report["unexpected"]) <= {"session/close"}
    for file, text in written(name).items():
        assert (tmp_path / file).read_text() == text
    assert client.exit is not None
    assert client.exit.expected


@pytest.mark.usefixtures("impatient")
async def test_an_agent_that_ignores_the_end_of_its_input_is_ended(
    replay_acp: PrepareReplay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eca_nvim.transport.process.GRACE_S", TIMEOUT)
    recording = replay_acp("codexzed-text", "--stay")
    async with running(make_agent(recording.command, tmp_path)):
        pass
    assert recording.report() is not None, "it ended by SIGTERM, and had time to save"


async def test_a_death_in_mid_turn_leaves_what_was_said(
    replay_acp: PrepareReplay, tmp_path: Path
) -> None:
    recording = replay_acp("qwen-text", "--die", "5")
    async with running(make_agent(recording.command, tmp_path)) as client:
        client.agent.prompt(Prompt(CHAT, "first"))
        await client.until(lambda: client.exit)
    assert client.exit is not None
    assert (client.exit.code, client.exit.expected) == (7, False)
    assert client.text.startswith("Hello from t")

"""When a proposed change is made: only with approval, unless the server waives that."""

import os
from pathlib import Path

import pytest
from tests.agents.client import Client, make_agent, running
from tests.agents.turns import CHAT, requested, say
from tests.support.factories import PrepareScript
from tests.support.screen import Value
from tests.support.script import CONFIG, Steps, expect, handshake, reply, send

from eca_nvim.chat.vocabulary.events import ToolFinished, ToolRequested, UnknownReceived
from eca_nvim.chat.vocabulary.requests import ALLOW

pytestmark = pytest.mark.anyio
NEW = {"kind": "create", "content": "x\n"}
DRAFT = [*expect("initialize"), *reply("initialize", {}), *expect("initialized")]
DONE = {"type": "text", "text": "Done."}


def told(content: Value, chat: str, *, last: bool = False) -> Steps:
    params = {"chatId": chat, "content": content, "isComplete": last}
    return send("chat/contentReceived", params)


def propose(file: str, chat: str = "$chat", change: Value = NEW, **fields: Value) -> Steps:
    content = {"type": "fileChange", "file": file, "changes": [change], **fields}
    return told(content, chat)


def answer(*parts: Steps) -> Steps:
    """Answer a prompt with proposals."""
    said = [step for part in parts for step in part]
    return [
        *expect("chat/prompt"),
        *reply("chat/prompt", {"chatId": "d1", "status": "success"}),
        *(step | {"params": step["params"] | {"chatId": "d1"}} for step in said),
        *told(DONE, "d1", last=True),
    ]


def asks(client: Client) -> list[bool]:
    return [it.needs_approval for it in client.all(ToolRequested)]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / ".git/hooks").mkdir(parents=True)
    (folder / "way").symlink_to(tmp_path)
    return folder


def files(workspace: Path) -> set[str]:
    """Return the files of the workspace."""
    walked = (Path(root) / name for root, _, names in os.walk(workspace) for name in names)
    return {str(path.relative_to(workspace)) for path in walked}


async def test_only_a_plain_no_waives_the_question(
    scripted_server: PrepareScript, workspace: Path
) -> None:
    words: list[Value] = [True, None, "no", 0]
    parts = [propose(f"{n}.txt", manualApproval=word) for n, word in enumerate(words)]
    waived = propose("waived.txt", manualApproval=False)
    server = scripted_server(DRAFT, answer(*parts, propose("left_out.txt"), waived))
    async with running(make_agent(server.command, workspace)) as client:
        await say(client, "go")
        await requested(client, 6)
        await client.first(ToolFinished)
    assert asks(client) == [True] * 5 + [False]
    assert files(workspace) == {"waived.txt"}


async def test_for_some_files_it_cannot_be_waived(
    scripted_server: PrepareScript, workspace: Path, tmp_path: Path
) -> None:
    names = [
        *(".git/hooks/post-checkout", ".nvim.lua", ".exrc", ".eca/config.json"),
        *("way/x", "../x", f"{tmp_path}/x", f"file://{tmp_path}/x"),
    ]
    parts = [propose(name, manualApproval=False) for name in names]
    server = scripted_server(DRAFT, answer(*parts))
    async with running(make_agent(server.command, workspace)) as client:
        await say(client, "go")
        await requested(client, len(names))
    assert asks(client) == [True] * len(names)
    assert files(workspace) == set()
    assert not (tmp_path / "x").exists()


async def test_no_tool_call_of_the_server_is_taken_for_a_proposal(
    scripted_server: PrepareScript, workspace: Path
) -> None:
    """It cannot know the id: who approves another call in its place approves no change."""
    server, ids = scripted_server(DRAFT, answer(propose("a.txt"))), set()
    for _ in range(2):
        async with running(make_agent(server.command, workspace)) as client:
            await say(client, "go")
            ids.add((await requested(client, 1)).call.id)
    assert len(ids) == 2


async def test_it_is_waived_only_in_the_answer_to_a_prompt(
    scripted_server: PrepareScript, workspace: Path
) -> None:
    stray = told({**propose("stray")[0]["params"]["content"], "manualApproval": False}, "d2")
    late = propose("late", manualApproval=False)
    again = [*answer(), *(step | {"params": step["params"] | {"chatId": "d1"}} for step in late)]
    server = scripted_server(DRAFT, stray, again)
    async with running(make_agent(server.command, workspace)) as client:
        await say(client, "go")
        await requested(client, 2)
    assert asks(client) == [True, True]
    assert files(workspace) == set()


async def test_a_server_of_another_generation_changes_nothing(
    scripted_server: PrepareScript, workspace: Path
) -> None:
    proposal = propose("x.txt", "c", manualApproval=False)
    grown = [*propose("y.txt", "c"), *send("config/updated", CONFIG), *proposal]
    for number, steps in enumerate(([*handshake(), *proposal], [*DRAFT, *grown])):
        server = scripted_server(steps)
        async with running(make_agent(server.command, workspace)) as client:
            await client.first(UnknownReceived)
        assert asks(client) == [True] * number
        assert client.all(UnknownReceived)[0].text == "x.txt\nx\n"
    assert files(workspace) == set()


async def test_a_replay_changes_nothing(scripted_server: PrepareScript, workspace: Path) -> None:
    proposal = propose("x.txt", CHAT, manualApproval=False)
    opened = [*expect("chat/open"), *proposal, *reply("chat/open", {"found": True})]
    server = scripted_server(DRAFT, opened)
    async with running(make_agent(server.command, workspace)) as client:
        await client.until(client.ready.is_set)
        page = (await client.agent.archive.open_chat(CHAT)).page
    assert [type(it.event) for it in page.events] == [UnknownReceived]
    assert asks(client) == []
    assert files(workspace) == set()


async def test_what_is_written_is_where_the_path_led_when_it_was_shown(
    scripted_server: PrepareScript, workspace: Path, tmp_path: Path
) -> None:
    (workspace / "docs").mkdir()
    server = scripted_server(DRAFT, answer(propose("docs/keys")))
    async with running(make_agent(server.command, workspace)) as client:
        await say(client, "go")
        asked = await requested(client, 1)
        (workspace / "docs").rmdir()
        (workspace / "docs").symlink_to(tmp_path)
        client.agent.decide(CHAT, asked.call.id, ALLOW.id)
        finished = await client.first(ToolFinished)
    assert finished.failed
    assert "link" in finished.outputs[0]
    assert not (tmp_path / "keys").exists()


async def test_a_link_is_followed_to_where_the_user_was_told(
    scripted_server: PrepareScript, workspace: Path, tmp_path: Path
) -> None:
    server = scripted_server(DRAFT, answer(propose("way/x")))
    async with running(make_agent(server.command, workspace)) as client:
        await say(client, "go")
        asked = await requested(client, 1)
        client.agent.decide(CHAT, asked.call.id, ALLOW.id)
        await client.first(ToolFinished)
    assert (tmp_path / "x").read_text() == "x\n"


async def test_what_is_no_ordinary_file_is_refused(
    scripted_server: PrepareScript, workspace: Path
) -> None:
    os.mkfifo(workspace / "pipe")
    names = ("pipe", "file://evil.host/etc/passwd", "term://touch x", "a\0b", "way")
    parts = [propose(name, manualApproval=False) for name in names]
    server = scripted_server(DRAFT, answer(*parts))
    async with running(make_agent(server.command, workspace)) as client:
        await say(client, "go")
        await client.until(lambda: len(client.all(ToolFinished)) == len(names))
    faults = [it.outputs[0] for it in client.all(ToolFinished)]
    words = ("not a regular file", "on this machine", "not a URL", "NUL", "not a regular file")
    assert [word in fault for word, fault in zip(words, faults, strict=True)] == [True] * 5


async def test_a_link_that_is_deleted_leaves_what_it_leads_to(
    scripted_server: PrepareScript, workspace: Path
) -> None:
    (workspace / "target").write_text("x\n")
    (workspace / "link").symlink_to("target")
    server = scripted_server(DRAFT, answer(propose("link", change={"kind": "delete"})))
    async with running(make_agent(server.command, workspace)) as client:
        await say(client, "go")
        client.agent.decide(CHAT, (await requested(client, 1)).call.id, ALLOW.id)
        await client.first(ToolFinished)
    assert files(workspace) == {"target"}

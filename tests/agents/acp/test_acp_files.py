"""Files that an agent on the official SDK reads and writes through us: every case and attack."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from tests.agents.acp.acp_client import CHAT
from tests.agents.acp.file_turns import Run, answer, read, write
from tests.agents.acp.test_official_sdk import requested, update
from tests.support.drawn import drawn

from eca_nvim.agents.base import FileChanged
from eca_nvim.chat.model.calls import changed_paths
from eca_nvim.chat.vocabulary.call_details import Base, FileChange, FileUsed, PartialWrite, Use
from eca_nvim.chat.vocabulary.events import (
    ToolFinished,
    ToolRejected,
    ToolRequested,
    ToolRunning,
)
from eca_nvim.chat.vocabulary.states import TurnEnd

pytestmark = pytest.mark.anyio


async def test_reads_are_lines_of_what_the_user_sees(run: Run) -> None:
    file, unsaved = run.folder / "a.txt", run.folder / "b.txt"
    file.write_bytes(b"one\r\ntwo\nthree")
    unsaved.write_text("saved\n")
    run.editor.texts[str(unsaved)] = "not saved\n"
    latin = run.folder / "latin"
    latin.write_bytes("ä\n".encode("latin-1"))
    turn = [
        read(file), read(file, line=2), read(file, line=2, limit=1), read(file, limit=1),
        read(file, line=4), read(file, line=0, limit=-1), read(file, line=2, limit=2**63 - 1),
        read(unsaved), read(latin), read(f"file://{file}", line=3),
    ]  # fmt: skip
    async with run.start(turn) as client:
        assert (await client.say("go")).end is TurnEnd.DONE
        assert not client.all(ToolRequested)
        assert not client.all(ToolRunning)
        uses = client.all(FileUsed)
        assert {(it.path, it.use, it.by_request) for it in uses} == {
            (str(path), Use.READ, True) for path in (file, unsaved, latin)
        }
    assert [it["content"] for it in run.answers] == [
        *(
            "one\r\ntwo\nthree",
            "two\nthree",
            "two\n",
            "one\r\n",
            "",
            "",
            "two\nthree",
            "not saved\n",
            "ä\n",
        ),
        "three",
    ]


async def test_a_write_without_a_call_becomes_one_that_asks(run: Run) -> None:
    new = run.folder / "made" / "new.txt"
    old = run.folder / "old.txt"
    old.write_text("one\n")
    async with run.start([write(new, "new\n"), write(old, "two\n"), write(old, "no\n")]) as client:
        client.agent.open_chat(CHAT)
        client.prompt("go")
        asked = await answer(client, 1, "once")
        assert asked.call.changes == (FileChange(str(new), "", 0, 0, None, "new\n", base=Base.OLD),)
        assert (await answer(client, 2, "once")).call.changes == (
            FileChange(str(old), "", 0, 0, "one\n", "two\n", base=Base.OLD),
        )
        await answer(client, 3, "reject")
        await client.until(lambda: client.ends == [TurnEnd.DONE])
        done = [changed_paths(it.call) for it in client.all(ToolFinished)]
        assert done == [(str(new),), (str(old),)]
        assert len(client.all(ToolRejected)) == 1
    assert (new.read_text(), old.read_text()) == ("new\n", "two\n")
    assert run.answers[:2] == [{}, {}]
    assert run.answers[2]["error"] == "not done, the user has not allowed it"


@pytest.mark.parametrize("is_folder", [False, True])
async def test_a_link_that_is_made_while_neovim_is_asked_is_not_followed(
    run: Run, is_folder: bool
) -> None:
    place = run.folder / "inner"
    place.mkdir()
    (place / "a.txt").write_text("mine\n")
    (run.outside / "a.txt").write_text("secret\n")

    def swap(asked: str) -> None:
        name = "a.txt" if asked == "unsaved" else "b.txt"
        if is_folder and place.is_dir():
            place.rename(run.folder / "away")
            place.symlink_to(run.outside)
        elif not is_folder and not (place / name).is_symlink():
            (place / name).unlink(missing_ok=True)
            (place / name).symlink_to(run.outside / name)

    async with run.start([write(place / "b.txt", "new\n")], [read(place / "a.txt")]) as client:
        run.editor.meanwhile = lambda asked: swap(asked) if asked == "write" else None
        client.agent.open_chat(CHAT)
        client.prompt("go")
        await answer(client, 1, "once")
        await client.until(lambda: client.ends == [TurnEnd.DONE])
        if is_folder:
            place.unlink()
            (run.folder / "away").rename(place)
        run.editor.meanwhile = swap
        client.prompt("go on")
        await client.until(lambda: client.ends == [TurnEnd.DONE] * 2)
    assert [it.name for it in run.outside.iterdir()] == ["a.txt"]
    assert all("error" in it for it in run.answers)


async def test_a_write_in_a_call_of_the_agent_is_a_part_of_it(run: Run) -> None:
    file = run.folder / "a.txt"
    file.write_text("one\n")
    diff = {"type": "diff", "path": str(file), "oldText": "one", "newText": "two"}
    shown = {"toolCallId": "t", "title": "edit", "kind": "edit", "content": [diff]}
    options = [
        {"optionId": "y", "name": "Yes", "kind": "allow_once"},
        {"optionId": "n", "name": "No", "kind": "reject_once"},
    ]
    done = update("tool_call_update", toolCallId="t", status="completed")
    asks = {"ask": {"toolCall": shown, "options": options}}
    announces = {"update": {**shown, "sessionUpdate": "tool_call", "toolCallId": "u"}}
    async with run.start(
        [asks, read(file), write(file, "two\n"), done],
        [announces, write(file, "2\n"), write(file, "3")],
    ) as client:
        client.agent.open_chat(CHAT)
        client.prompt("go")
        await answer(client, 1, "y")
        await client.until(lambda: client.ends == [TurnEnd.DONE])
        assert len(client.all(ToolRequested)) == len(client.all(ToolFinished)) == 1
        client.prompt("again")  # the agent has not asked: we ask about its call
        before = len(client.all(ToolRequested))
        asked = await requested(client, before + 2)
        assert asked.needs_approval
        assert (asked.call.changes or ())[0].new == "2\n"
        client.agent.decide(CHAT, asked.call.id, "once", drawn(asked))
        asked = await requested(client, before + 3)  # another text than the one that was allowed
        assert (asked.call.changes or ())[0].new == "3"
        client.agent.decide(CHAT, asked.call.id, "once", drawn(asked))
        await client.until(lambda: len(client.ends) == 2)
        [made] = client.all(ToolRunning)[-1].call.changes or ()
        assert (made.old, made.new) == ("two\n", "3")
        assert len({it.call.id for it in client.all(ToolRequested)}) == 2
    assert file.read_text() == "3"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
async def test_what_is_allowed_in_part_is_merged_before_it_is_written(run: Run, end: str) -> None:
    """The agent asks, and writes through us; what it reads at once is what stands there."""
    file = run.folder / "a.txt"
    texts = ("1\n2\n3\n", "A\n2\nC\n", "1\n2\nC\n")
    before, proposed, allowed = (it.replace("\n", end) for it in texts)
    file.write_bytes(before.encode())
    diff = {"type": "diff", "path": str(file), "oldText": before, "newText": proposed}
    shown = {"toolCallId": "t", "title": "edit", "kind": "edit", "content": [diff]}
    options = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
    done = update("tool_call_update", toolCallId="t", status="completed")
    asks = {"ask": {"toolCall": shown, "options": options}}
    part = PartialWrite(str(file), str(file), before, proposed, allowed)
    async with run.start(
        [asks, read(file), write(file, proposed), read(file), write(file, proposed), done],
    ) as client:
        client.agent.open_chat(CHAT)
        client.prompt("go")
        asked = await requested(client, 1)
        client.agent.decide(CHAT, asked.call.id, "y", drawn(asked), [part])
        again = await answer(client, 2, "reject")
        assert again.needs_approval, "what was left out is asked about again"
        await client.until(lambda: client.ends == [TurnEnd.DONE])
    assert file.read_bytes().decode() == allowed
    assert [it.get("content") for it in run.answers[1:]] == [before, None, allowed, None]


async def test_what_was_allowed_of_another_text_is_not_written(run: Run) -> None:
    file = run.folder / "a.txt"
    file.write_text("1\n")
    async with run.start([write(file, "other\n")]) as client:
        client.agent.open_chat(CHAT)
        client.prompt("go")
        asked = await requested(client, 1)
        part = PartialWrite(str(file), str(file), "1\n", "2\n", "3\n")
        client.agent.decide(CHAT, asked.call.id, "once", drawn(asked), [part])
        await client.until(lambda: client.ends == [TurnEnd.DONE])
    assert file.read_text() == "1\n"
    assert "it has changed since you read it" in run.refusals[0]


async def test_nothing_is_written_of_a_file_of_which_nothing_is_taken(run: Run) -> None:
    file = run.folder / "new.txt"
    async with run.start([write(file, "new\n")]) as client:
        client.agent.open_chat(CHAT)
        client.prompt("go")
        asked = await requested(client, 1)
        part = PartialWrite(str(file), str(file), None, "new\n", None)
        client.agent.decide(CHAT, asked.call.id, "once", drawn(asked), [part])
        await client.until(lambda: client.ends == [TurnEnd.DONE])
    assert not file.exists()
    assert run.answers == [{}]


async def test_what_was_written_is_shown_whatever_the_agent_says(run: Run) -> None:
    file = run.folder / "a.txt"
    file.write_text("old\n")
    said = {"type": "diff", "path": str(file), "oldText": "old\n", "newText": "harmless\n"}
    call = {"toolCallId": "t", "kind": "edit", "status": "in_progress", "content": [said]}
    begun = {"update": {**call, "sessionUpdate": "tool_call"}}
    again = update("tool_call_update", toolCallId="t", content=[said])
    ended = update("tool_call_update", toolCallId="t", status="completed", content=[said])
    turn = [begun, write(file, "worse\n"), again, write(file, "evil\n"), ended]
    async with run.start(turn) as client:
        client.agent.open_chat(CHAT)
        client.prompt("go")
        for count in (1, 2):
            await answer(client, count, "once")
        await client.until(lambda: client.ends == [TurnEnd.DONE])
        shown = [it.call for it in client.all(ToolFinished)]
        [made] = shown[0].changes or ()
    assert file.read_text() == "evil\n"
    assert (len(shown), made.old, made.new) == (1, "old\n", "evil\n")


async def test_what_changed_since_it_was_read_is_not_written(run: Run) -> None:
    file, unread = run.folder / "a.txt", run.folder / "b.txt"
    file.write_text("one\n")
    unread.write_text("saved\n")
    run.editor.texts[str(unread)] = "unsaved\n"
    async with run.start(
        [read(file)], [write(file, "two\n"), read(file), write(file, "two\n"), write(file, "3\n")],
        [write(unread, "x"), read(unread), write(unread, "x")],
    ) as client:  # fmt: skip
        await client.say("read")
        file.write_text("typed\n")
        client.prompt("write")
        asked = await answer(client, 1, "always")
        assert (asked.call.changes or ())[0].old == "typed\n"
        await client.until(lambda: len(client.ends) == 2)
        assert file.read_text() == "3\n"
        await client.say("unread")
        written = [it for it in client.all(FileUsed) if it.use is Use.WRITTEN]
        assert [it.unsaved for it in written] == [None, None, b"unsaved\n"]
    answers = run.answers
    assert answers[1]["error"] == str(FileChanged(str(file)))
    assert [it for it in answers if "error" in it][1:] == [
        {"code": -32603, "error": f"not written, not read: {unread}"}
    ]


ATTACKS: dict[str, tuple[Callable[[Run], object], str]] = {
    "relative": (lambda _: "a.txt", "is not the URI of a file"),
    "url": (lambda _: "http://example.com/a", "is not the URI of a file"),
    "other machine": (lambda _: "file://elsewhere/etc/hosts", "a file on this machine is needed"),
    "scheme in the path": (lambda run: f"{run.folder}/fugitive://x", "not a URL"),
    "NUL": (lambda run: f"{run.folder}/a\0b", "cannot have a NUL byte"),
    "folder": (lambda run: run.folder, "it is not a regular file"),
    "device": (lambda _: "/dev/zero", "it is not a regular file"),
    "made up by the system": (lambda _: "/proc/self/environ", "it is not a regular file"),
    "pipe": (lambda run: run.folder / "pipe", "it is not a regular file"),
    "huge": (lambda run: run.folder / "huge", "it is larger than 8 MiB"),
    "link to a device": (lambda run: run.folder / "zero", "it is not a regular file"),
    "too long": (lambda run: f"{run.folder}/{'x' * 5000}", "File name too long"),
}


async def test_what_is_no_plain_file_is_refused_before_the_user_is_asked(run: Run) -> None:
    os.mkfifo(run.folder / "pipe")
    (run.folder / "zero").symlink_to("/dev/zero")
    with (run.folder / "huge").open("wb") as huge:
        huge.truncate(100 << 20)
    (run.folder / "binary").write_bytes(b"\0\1")
    names = [make(run) for make, _ in ATTACKS.values()]
    turn = [*map(read, names), *(write(name, "x") for name in names)]
    turn += [read(run.folder / "binary"), write(run.folder / "binary", "x")]
    turn += [write(run.folder / "new", text) for text in ("\0", "x" * (9 << 20))]
    turn += [write(run.folder / "odd\nname", "x"), read(run.folder / "a", "another session")]
    async with run.start(turn) as client:
        assert (await client.say("go")).end is TurnEnd.DONE
        assert client.all(ToolRequested) == []
    whys = [why for _, why in ATTACKS.values()]
    whys += [*whys, "not a text file", "not a text file", "NUL byte", "larger than 8 MiB"]
    whys += ["cannot be shown", "there is no session another session"]
    for why, refusal in zip(whys, run.refusals, strict=True):
        assert why in refusal
        assert "\n" not in refusal
    assert not (run.folder / "new").exists()


async def test_what_is_outside_is_asked_about_by_its_real_path(run: Run) -> None:
    secret = run.outside / "secret"
    secret.write_text("key\n")
    (run.folder / "link").symlink_to(secret)
    (run.folder / "folder").symlink_to(run.outside)
    names = [secret, run.folder / "link", run.folder / "folder/secret", run.folder / "../outside/x"]
    turn = [*map(read, names), *(write(name, "x") for name in names)]
    async with run.start(turn) as client:
        client.agent.open_chat(CHAT)
        client.prompt("go")
        for number in range(len(turn)):
            asked = await answer(client, number + 1, "reject" if number != 1 else "once")
            [place] = asked.call.locations or ()
            assert place.path == str(run.outside / ("x" if number % 4 == 3 else "secret"))
        await client.until(lambda: client.ends == [TurnEnd.DONE])
    refused = ["error" in it for it in run.answers]
    assert refused == [True, False, *[True] * 6]
    assert run.answers[1] == {"content": "key\n"}
    assert secret.read_text() == "key\n"


async def test_a_link_that_is_made_while_the_user_reads_is_not_followed(run: Run) -> None:
    folder = run.folder / "src"
    folder.mkdir()
    async with run.start([write(folder / "a.txt", "x")]) as client:
        client.agent.open_chat(CHAT)
        client.prompt("go")
        asked = await requested(client, 1)
        folder.rmdir()
        folder.symlink_to(run.outside)
        client.agent.decide(CHAT, asked.call.id, "once", drawn(asked))
        await client.until(lambda: client.ends == [TurnEnd.DONE])
    assert "a link leads elsewhere now" in run.answers[0]["error"]
    assert not [*run.outside.iterdir()]


async def test_a_missing_file_is_an_error_or_an_empty_text(run: Run) -> None:
    missing = run.folder / "missing"
    async with run.start([read(missing)]) as client:
        await client.say("go")
    assert run.answers[-1]["code"] == -32002
    assert "Resource not found" in run.answers[-1]["error"]
    info = {"agentInfo": {"name": "gemini-cli", "version": "0.61.0"}}
    async with run.start([read(missing)], initialize=info) as client:
        await client.say("go")
    assert run.answers[-1] == {"content": ""}


async def test_a_mode_counts_once_the_user_has_set_it(run: Run) -> None:
    mode = {
        "id": "mode", "name": "Mode", "category": "mode", "type": "select",
        "currentValue": "bypassPermissions",
        "options": [{"value": "bypassPermissions", "name": "Bypass"}],
    }  # fmt: skip
    turns = [[write(run.outside / name, "x")] for name in "ab"]
    async with run.start(*turns, session={"configOptions": [mode]}) as client:
        client.agent.open_chat(CHAT)
        client.prompt("go")
        await answer(client, 1, "reject")
        await client.until(lambda: len(client.ends) == 1)
        client.agent.set_option(CHAT, "mode", "bypassPermissions")
        await client.say("again")
        asked = [it for it in client.all(ToolRequested) if it.needs_approval]
        assert len(asked) == 1
        assert changed_paths(client.all(ToolRunning)[-1].call) == (str(run.outside / "b"),)
    assert [it.name for it in run.outside.iterdir()] == ["b"]

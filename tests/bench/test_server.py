"""The fake server tells what its plan says, in the order of the real one."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from bench.plan import MARKS, Plan, Turn, spoken
from bench.sides import server_command

from bench import calls, plan, texts
from eca_nvim.chat.text.diffs import versions
from eca_nvim.chat.vocabulary.call_details import FileChange

CHAT = "12345678-1234-4123-8123-123456789abc"


def framed(*messages: dict[str, Any]) -> bytes:
    bodies = [json.dumps(message).encode() for message in messages]
    return b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies)


def read(data: bytes) -> list[dict[str, Any]]:
    found = []
    while data:
        head, _, rest = data.partition(b"\r\n\r\n")
        size = int(head.removeprefix(b"Content-Length: "))
        found.append(json.loads(rest[:size]))
        data = rest[size:]
    return found


def converse(path: Path, requests: int, method: str = "chat/prompt") -> list[dict[str, Any]]:
    """Say all a client says, at once; returns all the server says."""
    said: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {}},
        {"method": "initialized", "params": {}},
        *(
            {"id": 2, "method": method, "params": {"chatId": CHAT, "message": "hi"}}
            for _ in range(requests)
        ),
        {"id": 3, "method": "shutdown"},
        {"method": "exit"},
    ]
    done = subprocess.run(
        server_command(path, "eca"),
        input=framed(*said),
        capture_output=True,
        timeout=30,
        check=True,
    )
    assert done.stderr == b""
    return read(done.stdout)


def contents(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [it["params"]["content"] for it in messages if "content" in it.get("params", {})]


def words(messages: list[dict[str, Any]]) -> list[str]:
    return [it["text"] for it in contents(messages) if it["type"] == "text"]


def test_a_turn_comes_in_the_order_of_the_real_server(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    Plan((spoken(["é", "b"]),)).write(path, tmp_path)
    said = converse(path, 1)
    assert [message.get("method", message.get("id")) for message in said] == [
        *(1, "config/updated", "chat/opened", "chat/contentReceived", "chat/statusChanged"),
        *("chat/contentReceived", 2, *["chat/contentReceived"] * 3, "chat/statusChanged"),
        *("chat/contentReceived", "chat/contentReceived", 3),
    ]
    assert words(said) == ["hi\n", "é", "b", f"\n\n{MARKS[0]}"]
    assert {it["params"]["chatId"] for it in said if "chatId" in it.get("params", {})} == {CHAT}


@pytest.mark.parametrize("rate", [0.0, 10_000.0])
def test_turns_follow_each_other_at_any_rate(tmp_path: Path, rate: float) -> None:
    path = tmp_path / "plan.json"
    Plan((spoken(["one"], rate), Turn([["user", "two"], ["assistant", "three"]], rate))).write(
        path, tmp_path
    )
    said = words(converse(path, 2))
    assert said == ["hi\n", "one", f"\n\n{MARKS[0]}", "hi\n", "two", "three", f"\n\n{MARKS[1]}"]
    assert plan.starts(path)[-1] > 0


def test_a_replay_comes_before_the_answer_that_the_chat_is_open(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    turn = Turn(texts.conversation(4), is_replay=True)
    Plan((turn,)).write(path, tmp_path)
    said = converse(path, 1, "chat/open")
    assert [message.get("method", message.get("id")) for message in said] == [
        *(1, "config/updated", "chat/cleared", "chat/opened"),
        *("chat/contentReceived",) * (len(turn.messages) + 1),  # and the mark
        *(2, 3),
    ]
    assert [text.strip("\n") for text in words(said)[1:-1:2]] == turn.texts


def test_tool_calls_come_whole_and_change_files_that_are_there(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    turn = Turn([*calls.commands(1, 40), *calls.edits(1, 300)])
    Plan((turn,), calls.files(1, 300)).write(path, tmp_path)
    said = contents(converse(path, 1))
    assert [it["text"] for it in said if it["type"] == "text"] == ["hi\n", f"\n\n{MARKS[0]}"]
    command, edit = (it for it in said if it["type"] == "toolCalled")
    assert command["outputs"][1]["text"].count("\n") == 39
    details = edit["details"]
    change = FileChange(
        details["path"], details["diff"], details["linesAdded"], details["linesRemoved"]
    )
    file = tmp_path / "module_0.py"
    assert change.path == str(file)
    assert change.diff.count("\n") in range(297, 300)
    after = versions(file.read_text(), change, applied=False)
    assert (after.kind, after.fault) == ("changed", None)


def test_chunks_are_markdown_cut_anywhere() -> None:
    pieces = texts.chunks(500)
    assert len(pieces) == 500
    assert {len(piece) for piece in pieces} == {texts.CHUNK}
    assert texts.markdown(6000).startswith("".join(pieces))


def test_fences_and_history_are_as_long_as_they_say() -> None:
    streamed = "".join(texts.fences())
    assert streamed.count("```") == 2 * len(texts.CODE)
    assert streamed.count("\n") >= len(texts.CODE) * texts.LINES_A_FENCE
    lines = sum(text.count("\n") for role, text in texts.history(1_200) if role == "assistant")
    assert lines == 1_200


def test_no_text_holds_a_mark() -> None:
    everything = "".join([*texts.chunks(2_000), *texts.fences(), texts.large(10_000)])
    assert not set(MARKS) & set(everything)


def test_the_agent_of_the_other_protocol_plays_the_same_plan(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    Plan((spoken(["é", "b"]), spoken(["c"], 10_000.0))).write(path, tmp_path)
    methods = ("initialize", "session/new", "session/prompt", "session/prompt")
    said = b"".join(
        json.dumps({"id": number, "method": method, "params": {}}).encode() + b"\n"
        for number, method in enumerate(methods)
    )
    command = server_command(path, "acp")
    done = subprocess.run(command, input=said, capture_output=True, timeout=30, check=True)
    heard = [json.loads(line) for line in done.stdout.splitlines()]
    assert [message.get("method", message.get("id")) for message in heard] == [
        *(0, 1, *["session/update"] * 3, 2, *["session/update"] * 2, 3)
    ]
    updates = [it["params"]["update"] for it in heard if "method" in it]
    texts = [it["content"]["text"] for it in updates]
    assert texts == ["é", "b", f"\n\n{MARKS[0]}", "c", f"\n\n{MARKS[1]}"]
    assert len(path.with_name("plan.json.times").read_text().split()) == 2

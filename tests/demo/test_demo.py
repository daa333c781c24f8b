"""The demo agent as a client sees it: a process with a protocol."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.demo.client import (
    DEADLINE_S,
    WITHOUT_PAUSES,
    Client,
    Message,
    assistant_text,
    calls_ended,
    content_of,
    is_content,
    is_finished,
    is_progress,
    method_of,
    params_of,
    statuses,
    within,
)

from eca_nvim.jsonrpc import Request, Response


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    client = Client(tmp_path, WITHOUT_PAUSES)
    client.request("initialize", capabilities={})
    client.notify("initialized")
    client.until(lambda message: method_of(message) == "config/updated")
    yield client
    client.process.kill()
    client.process.communicate(timeout=DEADLINE_S)


def test_greets_and_says_what_to_try(client: Client) -> None:
    client.prompt("hello")
    text = assistant_text(client.until(is_finished))
    for word in ("fix the greeting", "run it", "diagnostics", "ask me", "stream", "fail"):
        assert word in text


def test_edits_a_real_file_only_after_approval(client: Client) -> None:
    client.prompt("fix the greeting")
    asked = client.until(lambda message: content_of(message).get("manualApproval") is True)
    call = content_of(asked[-1])
    details = call["details"]
    assert isinstance(details, dict)
    path = Path(str(details["path"]))
    assert "name.lower()" in path.read_text()
    client.notify("chat/toolCallApprove", chatId="c", toolCallId=call["id"])
    called = client.until(is_content("toolCalled"))[-1]
    assert content_of(called)["error"] is False
    assert "name.lower()" not in path.read_text()
    assert (details["linesAdded"], details["linesRemoved"]) == (1, 1)
    assert str(details["diff"]).startswith("@@ ")


def test_changes_several_files_in_one_turn(client: Client) -> None:
    client.prompt("refactor", trust=True)
    called = calls_ended(client.until(is_finished))
    names = [call["name"] for call in called]
    assert names == ["read_file", "write_file", "edit_file", "edit_file", "edit_file", "move_file"]
    moved = called[-1]["arguments"]
    assert isinstance(moved, dict)
    folder = Path(str(moved["source"])).parent
    assert {path.name for path in folder.iterdir()} == {"NOTES.md", "greet.py", "greeting.py"}
    assert "greeting.py greets" in (folder / "NOTES.md").read_text()
    said = subprocess.check_output([sys.executable, folder / "greet.py"], text=True)
    assert said == "Hello, neovim!\n"
    client.prompt("refactor")
    assert "done already" in assistant_text(client.until(is_finished))


def test_changes_files_by_a_command(client: Client) -> None:
    client.prompt("replace a word", trust=True)
    (called,) = calls_ended(client.until(is_finished))
    arguments = called["arguments"]
    assert isinstance(arguments, dict)
    folder = Path(str(arguments["working_directory"]))
    assert "Welcome, " in (folder / "greet.py").read_text()
    assert {path.name for path in folder.iterdir()} == {"README.md", "greet.py"}


def test_a_rejected_call_ends_the_turn_and_changes_nothing(client: Client) -> None:
    client.prompt("fix the greeting")
    asked = client.until(lambda message: content_of(message).get("manualApproval") is True)
    call = content_of(asked[-1])
    client.notify("chat/toolCallReject", chatId="c", toolCallId=call["id"])
    rest = client.until(is_finished)
    assert any(is_content("toolCallRejected")(message) for message in rest)
    assert statuses(rest) == ["idle"]
    assert "name.lower()" in Path(str(within(call, "arguments", "path"))).read_text()


def test_remembers_a_tool_for_the_session(client: Client) -> None:
    client.prompt("run it")
    asked = client.until(lambda message: content_of(message).get("manualApproval") is True)
    call_id = content_of(asked[-1])["id"]
    client.notify("chat/toolCallApprove", chatId="c", toolCallId=call_id, save="session")
    client.until(is_finished)
    client.prompt("run it again")
    second = client.until(is_finished)
    runs = [content_of(message) for message in second if is_content("toolCallRun")(message)]
    assert [run["manualApproval"] for run in runs] == [False]
    outputs = [content_of(message) for message in second if is_content("toolCalled")(message)]
    assert "Hello, world!" in json.dumps(outputs)


def asking(client: Client) -> object:
    """Read until a tool call waits for the user; return its id."""
    asked = client.until(lambda message: content_of(message).get("manualApproval") is True)
    return content_of(asked[-1])["id"]


def approvals(messages: list[Message]) -> list[object]:
    runs = [content_of(message) for message in messages if is_content("toolCallRun")(message)]
    return [run["manualApproval"] for run in runs]


def test_trust_counts_from_the_next_call_on(client: Client) -> None:
    client.prompt("refactor")
    waiting = asking(client)
    client.request("chat/update", chatId="c", trust=True)
    client.notify("chat/toolCallApprove", chatId="c", toolCallId=waiting)
    assert approvals(client.until(is_finished)) == [False] * 4
    client.request("chat/update", chatId="c", trust=False)
    client.request("chat/update", chatId="c", title="Still not")
    client.prompt("run it")
    client.notify("chat/toolCallApprove", chatId="c", toolCallId=asking(client))
    client.until(is_finished)


def test_a_subagent_is_trusted_as_its_chat_is(client: Client) -> None:
    client.prompt("delegate", trust=True)
    assert True not in approvals(client.until(is_finished))


def test_an_opened_chat_tells_whether_it_is_trusted(client: Client) -> None:
    client.prompt("hello", trust=True)
    client.until(is_finished)
    for trusted in True, False:
        client.request("chat/update", chatId="c", trust=trusted)
        client.request("chat/open", chatId="c")
        answer = client.until(
            lambda message: isinstance(message, Response) and "selection" in str(message.result)
        )[-1]
        assert isinstance(answer, Response)
        assert isinstance(answer.result, dict)
        assert answer.result["selection"]["trust"] is trusted


def test_stop_sends_no_idle_and_rejects_what_waits(client: Client) -> None:
    client.prompt("run it")
    client.until(lambda message: content_of(message).get("manualApproval") is True)
    client.notify("chat/promptStop", chatId="c")
    rest = client.until(is_content("toolCallRejected"))
    assert statuses(rest) == ["stopping"]
    assert any(is_finished(message) for message in rest)


def test_asks_and_uses_the_answer(client: Client) -> None:
    client.prompt("ask me something")
    question = client.until(lambda message: method_of(message) == "chat/askQuestion")[-1]
    assert isinstance(question, Request)
    client.answer(question, {"answer": "registers", "cancelled": False})
    rest = client.until(is_finished)
    assert "registers" in assistant_text(rest)
    called = next(content_of(message) for message in rest if is_content("toolCalled")(message))
    assert called["id"] == params_of(question)["toolCallId"]


def test_a_subagent_works_in_a_chat_of_its_own(client: Client) -> None:
    client.prompt("delegate")
    asked = client.until(lambda message: content_of(message).get("manualApproval") is True)
    child = params_of(asked[-1])
    assert child["parentChatId"] == "c"
    running = [content_of(it) for it in asked if is_content("toolCallRunning")(it)]
    told = [it["details"] for it in running if it["name"] == "spawn_agent"]
    assert [it["step"] for it in told if isinstance(it, dict)] == [1, 2]
    call_id = content_of(asked[-1])["id"]
    client.notify("chat/toolCallApprove", chatId=child["chatId"], toolCallId=call_id)
    rest = client.until(lambda it: is_finished(it) and "parentChatId" not in params_of(it))
    assert "`greet.py` says: Hello, reader!" in assistant_text(rest)
    [ended] = [it for it in calls_ended(rest) if it["name"] == "spawn_agent"]
    assert within(ended, "details", "step") == 3


def test_a_rejected_call_of_a_subagent_goes_back_to_it(client: Client) -> None:
    client.prompt("delegate")
    asked = client.until(lambda message: content_of(message).get("manualApproval") is True)[-1]
    call = {"chatId": params_of(asked)["chatId"], "toolCallId": content_of(asked)["id"]}
    client.notify("chat/toolCallReject", **call)
    rest = client.until(lambda it: is_finished(it) and "parentChatId" not in params_of(it))
    assert "I was not allowed to run it." in assistant_text(rest)


def test_a_stop_reaches_a_subagent(client: Client) -> None:
    client.prompt("delegate")
    client.until(lambda message: content_of(message).get("manualApproval") is True)
    client.notify("chat/promptStop", chatId="c")
    client.until(lambda it: is_content("toolCallRejected")(it) and "parentChatId" in params_of(it))
    seen = client.until(
        lambda it: is_content("toolCallRejected")(it) and "parentChatId" not in params_of(it)
    )
    assert within(content_of(seen[-1]), "details", "step") == 2


def test_a_plan_is_told_whole_with_every_change(client: Client) -> None:
    client.prompt("plan")
    ended = calls_ended(client.until(is_finished))
    plans = [within(it, "details", "tasks") for it in ended if it["name"] == "task"]
    done = [sum(it["status"] == "done" for it in plan) for plan in plans if isinstance(plan, list)]
    assert done == [0, 0, 1, 1, 2, 2, 3]


def test_usage_is_told_by_category(client: Client) -> None:
    client.prompt("hello")
    usage = content_of(client.until(is_content("usage"))[-1])
    parts = usage["contextBreakdown"]
    assert isinstance(parts, dict)
    assert sum(part["tokens"] for part in parts["categories"]) == usage["sessionTokens"]


def test_reports_the_diagnostics_of_the_editor(client: Client) -> None:
    client.prompt("diagnostics")
    question = client.until(lambda message: method_of(message) == "editor/getDiagnostics")[-1]
    assert isinstance(question, Request)
    place = {"start": {"line": 7, "character": 1}, "end": {"line": 7, "character": 4}}
    uri = "file:///a/b%20%5B1%5D.py"
    finding = {"uri": uri, "severity": "error", "message": "oh no", "range": place}
    client.answer(question, {"diagnostics": [finding]})
    assert "`b [1].py:7` error: oh no" in assistant_text(client.until(is_finished))


def test_thinks_before_it_edits(client: Client) -> None:
    client.prompt("fix the greeting")
    seen = client.until(is_content("reasonFinished"))
    assert any(is_content("reasonText")(message) for message in seen)


def test_streams_as_many_chunks_as_asked(client: Client) -> None:
    client.prompt("stream 5,000")
    seen = client.until(is_finished)
    assert sum(is_content("text")(message) for message in seen) == 5_000 + 1  # and the echo


@pytest.mark.parametrize("prompt", ["stream 100", "hello", "fix the greeting"])
def test_it_generates_once_it_speaks(client: Client, prompt: str) -> None:
    client.prompt(prompt, trust=True)
    doing = [content_of(it).get("text") for it in client.until(is_finished) if is_progress(it)]
    after = ["Calling tool", "Generating"] * doing.count("Calling tool")
    assert doing[:-1] == ["Waiting model", "Generating", *after]


def test_fails_on_request_and_goes_on(client: Client) -> None:
    client.prompt("fail")
    seen = client.until(is_finished)
    assert "401" in str([content_of(message) for message in seen])
    client.prompt("hello")
    assert "demo agent" in assistant_text(client.until(is_finished))


def test_crashes_on_request_with_a_code_and_a_last_line(client: Client) -> None:
    client.prompt("crash")
    _, errors = client.process.communicate(timeout=DEADLINE_S)
    assert client.process.returncode == 3
    assert b"crashing on request" in errors


def test_refuses_a_method_it_does_not_know(client: Client, tmp_path: Path) -> None:
    client._write(b'Content-Length: 43\r\n\r\n{"jsonrpc":"2.0","id":77,"method":"no/way"}')
    assert client.process.stdout is not None
    assert b"-32601" in os.read(client.process.stdout.fileno(), 65536)


def test_leaves_politely_and_leaves_nothing_behind(client: Client, tmp_path: Path) -> None:
    assert [path.name[:9] for path in tmp_path.iterdir()] == ["eca-demo-"]
    client.request("shutdown")
    client.notify("exit")
    assert client.process.wait(timeout=DEADLINE_S) == 0
    assert list(tmp_path.iterdir()) == []


def leave(client: Client) -> None:
    """Shut it down, and wait for its end."""
    client.request("shutdown")
    client.notify("exit")
    assert client.process.wait(timeout=DEADLINE_S) == 0
    client.process.communicate(timeout=DEADLINE_S)


def test_works_in_the_folder_that_was_made_for_it(tmp_path: Path) -> None:
    """Whoever made the folder deletes it; a second demo finds the files of the first."""
    folder, elsewhere = tmp_path / "eca-demo-given", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    for said in "now greets you", "fixed already":
        client = Client(elsewhere, ECA_DEMO_FOLDER=str(folder))
        client.prompt("fix the greeting", trust=True)
        assert said in assistant_text(client.until(is_finished))
        leave(client)
    assert "name.lower()" not in (folder / "greet.py").read_text()
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("name", ["project", "eca-demo-not-there"])
def test_writes_in_no_folder_that_was_not_made_for_it(tmp_path: Path, name: str) -> None:
    (tmp_path / "project").mkdir()
    client = Client(tmp_path, ECA_DEMO_FOLDER=str(tmp_path / name))
    client.prompt("fix the greeting", trust=True)
    client.until(is_finished)
    leave(client)
    assert [path.name for path in tmp_path.rglob("*")] == ["project"]


def test_a_folder_that_is_named_and_not_there_is_made_and_removed(tmp_path: Path) -> None:
    folder = tmp_path / "eca-demo-new"
    client = Client(tmp_path, ECA_DEMO_FOLDER=str(folder))
    client.prompt("fix the greeting", trust=True)
    client.until(is_finished)
    assert "name.lower()" not in (folder / "greet.py").read_text()
    assert folder.stat().st_mode & 0o777 == 0o700
    leave(client)
    assert not folder.exists()

"""Requests of a server: to the editor, in the background; to the user, until they answer."""

import json
import os
from pathlib import Path

import anyio
import pytest
from tests.agents.client import FakeEditor, make_agent, running
from tests.support import script
from tests.support.factories import PrepareScript
from tests.support.screen import Value
from tests.support.script import Steps

from eca_nvim.agents.base import Diagnostic, Location, NoAnswer
from eca_nvim.agents.eca.requests import Base
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import Addressed, QuestionAsked, TextReceived

pytestmark = pytest.mark.anyio

END = script.text("the end")
FOUND = Diagnostic("/a b#.py", 0, 4, 0, 10, "information", "odd", "pyright", "E1")
COLOUR = {
    "chatId": "$chat",
    "question": "Which colour?",
    "options": [{"label": "red", "description": "warm"}, {"label": "blue"}],
    "allowFreeform": False,
    "toolCallId": "t",
    "requestId": "r-1",
}


async def answers(
    scripted_server: PrepareScript,
    folder: Path,
    editor: FakeEditor,
    *asked: Steps,
    base: Base = 1,
) -> list[Value]:
    """Have the server ask, and return what it was answered, in the order of its questions."""
    server = scripted_server(script.handshake(), *asked, END)
    async with running(make_agent(server.command, folder, editor, base)) as client:
        await client.first(TextReceived)
    return [
        {key: it[key] for key in ("result", "error") if key in it}
        for it in sorted(server.answers(), key=lambda it: it["id"])
    ]


@pytest.mark.parametrize("base", [1, 0])
async def test_diagnostics_are_counted_from_the_base(
    base: Base, scripted_server: PrepareScript, tmp_path: Path
) -> None:
    editor = FakeEditor(found=[FOUND])
    asked = script.ask("editor/getDiagnostics", {})
    [answer] = await answers(scripted_server, tmp_path, editor, asked, base=base)
    place = {
        "start": {"line": base, "character": 4 + base},
        "end": {"line": base, "character": 10 + base},
    }
    assert answer["result"] == {
        "diagnostics": [
            {
                "uri": "file:///a%20b%23.py",
                "severity": "info",
                "source": "pyright",
                "range": place,
                "code": "E1",
                "message": "odd\n",
            }
        ]
    }
    assert editor.asked == [("diagnostics", None)]


async def test_the_server_joins_diagnostics_to_lines(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    """The server puts them one after the other, as `PATH:LINE:COLUMN: SEVERITY: MESSAGE`."""
    found = [Diagnostic("/a.py", line, 0, line, 0, "error", f"fault {line}") for line in (1, 2)]
    asked = script.ask("editor/getDiagnostics", {})
    [answer] = await answers(scripted_server, tmp_path, FakeEditor(found=found), asked)
    told = "".join(
        f"{it['uri']}:{it['range']['start']['line']}: {it['message']}"
        for it in answer["result"]["diagnostics"]
    )
    assert told.splitlines() == ["file:///a.py:2: fault 1", "file:///a.py:3: fault 2"]


async def test_severities_have_the_servers_names(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    severities = ("error", "warning", "information", "hint", "fatal")
    editor = FakeEditor(found=[Diagnostic("/a", 0, 0, 0, 0, it, "m") for it in severities])
    asked = script.ask("editor/getDiagnostics", {})
    [answer] = await answers(scripted_server, tmp_path, editor, asked)
    found = answer["result"]["diagnostics"]
    assert [it["severity"] for it in found] == ["error", "warning", "info", "hint", "info"]
    assert found[0]["source"] == "Neovim"


async def test_a_uri_is_decoded(scripted_server: PrepareScript, tmp_path: Path) -> None:
    editor = FakeEditor()
    asked = script.ask("editor/getDiagnostics", {"uri": "file:///a%20b/%C3%BC%23.py"})
    assert await answers(scripted_server, tmp_path, editor, asked) == [
        {"result": {"diagnostics": []}}
    ]
    assert editor.asked == [("diagnostics", "/a b/ü#.py")]


async def test_places_are_counted_from_one_both_ways(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    file = tmp_path / "a.py"
    file.touch()
    editor = FakeEditor(places=[Location("/b c.py", 1, 5, 1, 8)])
    place = {"uri": file.as_uri(), "position": {"line": 9, "character": 7}}
    found = {
        "uri": "file:///b%20c.py",
        "range": {"start": {"line": 1, "character": 5}, "end": {"line": 1, "character": 8}},
    }
    success = {"result": {"status": "success", "locations": [found]}}
    assert await answers(
        scripted_server,
        tmp_path,
        editor,
        script.ask("editor/getDefinition", place, 1),
        script.ask("editor/getReferences", place, 2),
    ) == [success, success]
    assert editor.asked == [("definition", str(file), 9, 7), ("references", str(file), 9, 7)]


@pytest.mark.parametrize(
    ("places", "result"),
    [
        (NoAnswer.STARTING, {"status": "starting"}),
        (
            NoAnswer.NO_SERVER,
            {"status": "no-server", "message": "the editor has no language server for this file"},
        ),
    ],
)
async def test_a_file_may_have_no_language_server_or_not_yet(
    scripted_server: PrepareScript,
    tmp_path: Path,
    places: NoAnswer,
    result: dict[str, str],
) -> None:
    (tmp_path / "a.py").touch()
    uri = (tmp_path / "a.py").as_uri()
    place = {"uri": uri, "position": {"line": 1, "character": 1}}
    asked = script.ask("editor/getDefinition", place)
    editor = FakeEditor(places=places)
    assert await answers(scripted_server, tmp_path, editor, asked) == [{"result": result}]


async def test_every_request_gets_an_answer(
    scripted_server: PrepareScript, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    editor = FakeEditor(fault=RuntimeError("Neovim is in a prompt"))
    (tmp_path / "a").touch()
    uri = (tmp_path / "a").as_uri()
    place = {"position": {"line": 1, "character": 1}}
    given = await answers(
        scripted_server,
        tmp_path,
        editor,
        script.ask("editor/getDiagnostics", {}, 1),
        script.ask("editor/getDefinition", {"uri": "https://e.org", **place}, 2),
        script.ask("editor/getDiagnostics", {"uri": "https://e.org"}, 3),
        script.ask("editor/getReferences", {"uri": "file:///a"}, 4),
        script.ask("editor/makeCoffee", {}, 5),
        script.ask("editor/getReferences", {"uri": uri, **place}, 6),
    )
    not_a_file = "'https://e.org' is not the URI of a file"
    assert given[1] == {"result": {"status": "error", "message": not_a_file}}
    assert given[2]["error"] == {"code": -32602, "message": not_a_file}
    assert given[3]["error"]["code"] == -32602
    assert given[4]["error"] == {"code": -32601, "message": "editor/makeCoffee is not known here"}
    failed = {"code": -32603, "message": "the editor could not answer"}
    assert given[0]["error"] == given[5]["error"] == failed
    assert "Neovim is in a prompt" in caplog.text


REFUSED = {
    "file:term://touch X": "an absolute path is needed",
    "file:x": "an absolute path is needed",
    "file:///w/term:%2F%2Ftouch X": "a plain path is needed, not a URL",
    "/w/scp://host/x": "a plain path is needed, not a URL",
    "file://host/etc/passwd": "a file on this machine is needed",
    "file:///a%00b": "cannot have a NUL byte",
    "term://touch X": "is not the URI of a file",
    "scp://host/x": "is not the URI of a file",
    "file:///$FOLDER": "not a regular file",
    "file:///$FOLDER/pipe": "not a regular file",
    "file:///dev/null": "not a regular file",
    "file:///$FOLDER/large": "larger than 8 MiB",
    "file:///$FOLDER/missing": "No such file",
}


async def test_a_strange_path_never_reaches_the_editor(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "large").open("wb") as large:
        large.truncate((8 << 20) + 1)
    editor, position = FakeEditor(), {"line": 1, "character": 1}
    asked = [
        script.ask(method, {"uri": uri.replace("/$FOLDER", str(tmp_path)), "position": position}, 1)
        for uri in REFUSED
        for method in ("editor/getDefinition", "editor/getReferences")
    ]
    given = await answers(scripted_server, tmp_path, editor, *asked)
    assert editor.asked == []
    assert len(given) == 2 * len(REFUSED)
    for fault, answer in zip([it for it in REFUSED.values() for _ in "12"], given, strict=True):
        assert answer["result"]["status"] == "error"
        assert fault in answer["result"]["message"]
        assert "\n" not in answer["result"]["message"]


async def test_diagnostics_of_a_strange_path_are_refused(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    editor = FakeEditor()
    uris = [uri for uri, fault in REFUSED.items() if "$" not in uri and "regular" not in fault]
    asked = [script.ask("editor/getDiagnostics", {"uri": uri}, 1) for uri in uris]
    given = await answers(scripted_server, tmp_path, editor, *asked)
    assert editor.asked == []
    assert [answer["error"]["code"] for answer in given] == [-32602] * len(uris)


async def test_a_slow_editor_holds_up_nothing(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    editor = FakeEditor(gate=anyio.Event())
    asked = {"jsonrpc": "2.0", "id": 7, "method": "editor/getDiagnostics", "params": {}}
    server = scripted_server(script.handshake(), framed(asked), END)
    async with running(make_agent(server.command, tmp_path, editor)) as client:
        await client.first(TextReceived)
        assert server.answers() == []
        assert editor.gate is not None
        editor.gate.set()
    assert [it["id"] for it in server.answers()] == [7]


def framed(message: Value) -> Steps:
    """Send a request without waiting for its answer."""
    body = json.dumps(message).encode()
    return script.raw(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))


async def question(
    scripted_server: PrepareScript, folder: Path, answer: str | None
) -> tuple[Value, Addressed]:
    """Have the server ask the user; return what it was answered, and the event."""
    asking = script.turn(script.ask("chat/askQuestion", COLOUR), END)
    server = scripted_server(script.handshake(), asking)
    async with running(make_agent(server.command, folder)) as client:
        await client.until(client.ready.is_set)
        client.agent.prompt(Prompt("our-1", "ask me"))
        asked = await client.first(QuestionAsked)
        client.agent.answer(asked.id, answer)
        client.agent.answer(asked.id, "a second answer does nothing")
        await client.until(lambda: "the end" in str(client.events))
    [given] = server.answers()
    [event] = [
        it
        for it in client.events
        if isinstance(it, Addressed) and isinstance(it.event, QuestionAsked)
    ]
    return given["result"], event


async def test_a_question_is_answered(scripted_server: PrepareScript, tmp_path: Path) -> None:
    given, event = await question(scripted_server, tmp_path, "blue")
    assert given == {"answer": "blue", "cancelled": False}
    options = (("red", "warm"), ("blue", ""))
    asked = QuestionAsked("r-1", "Which colour?", options, allow_freeform=False, tool_call_id="t")
    assert event == Addressed("our-1", asked)


async def test_a_question_is_dismissed(scripted_server: PrepareScript, tmp_path: Path) -> None:
    given, _ = await question(scripted_server, tmp_path, None)
    assert given == {"answer": None, "cancelled": True}


async def test_stopping_the_turn_cancels_its_questions(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    other = {**COLOUR, "chatId": "another chat", "requestId": "r-2"}
    asked = {"jsonrpc": "2.0", "method": "chat/askQuestion"}
    server = scripted_server(
        script.handshake(),
        script.expect("chat/prompt"),
        framed({**asked, "id": 2, "params": other}),
        script.ask("chat/askQuestion", COLOUR, 1),
        END,
    )
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        client.agent.prompt(Prompt("our-1", "ask me"))
        await client.until(lambda: len(client.all(QuestionAsked)) == 2)
        client.agent.stop("our-1")
        await client.first(TextReceived)
    said = [it.get("method", it.get("result")) for it in server.received()]
    stop = said.index("chat/promptStop")
    assert said[stop + 1] == {"answer": None, "cancelled": True}
    assert [it["id"] for it in server.answers()] == [1]


async def test_questions_with_one_id_are_answered_one_by_one(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    asked = {"jsonrpc": "2.0", "method": "chat/askQuestion"}
    server = scripted_server(
        script.handshake(),
        script.expect("chat/prompt"),
        framed({**asked, "id": 2, "params": COLOUR}),
        script.ask("chat/askQuestion", COLOUR, 1),
        END,
    )
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        client.agent.prompt(Prompt("our-1", "ask me"))
        await client.until(lambda: len(client.all(QuestionAsked)) == 2)
        first, second = client.all(QuestionAsked)
        client.agent.answer(second.id, "red")
        client.agent.answer(first.id, "blue")
        await client.first(TextReceived)
    given = {it["id"]: it["result"]["answer"] for it in server.answers()}
    assert given == {2: "blue", 1: "red"}


async def test_a_question_without_choices_is_open(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    bare = {"question": "Why?", "allowFreeform": False}
    server = scripted_server(script.handshake(), script.ask("chat/askQuestion", bare, 9), END)
    async with running(make_agent(server.command, tmp_path)) as client:
        asked = await client.first(QuestionAsked)
        assert asked == QuestionAsked("9", "Why?", allow_freeform=True)
        client.agent.answer(asked.id, "because")
        await client.first(TextReceived)
    assert server.answers()[0]["result"] == {"answer": "because", "cancelled": False}

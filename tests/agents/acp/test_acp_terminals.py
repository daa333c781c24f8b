"""Commands that an agent runs in terminals of ours: what it is answered, and what the chat gets."""

from pathlib import Path

import pytest
from tests.agents.acp.acp_client import CHAT, make_agent, running
from tests.agents.acp.scripted import Scripted
from tests.agents.acp.terminal_turns import (
    CHOICES,
    KILL,
    READ,
    RELEASE,
    SHOWN,
    STUBBORN,
    WAIT,
    asks,
    chatting,
    create,
    ends,
    request,
    update,
)

from eca_nvim.agents.acp.requests.terminals import SHOWN_BYTES
from eca_nvim.chat.vocabulary.call_details import ToolKind
from eca_nvim.chat.vocabulary.events import (
    ToolFinished,
    ToolRejected,
    ToolRunning,
)
from eca_nvim.chat.vocabulary.options import OptionsChanged
from eca_nvim.spawn import LINKS, OPENERS, child_environment

pytestmark = pytest.mark.anyio


async def test_a_command_from_its_start_to_its_release(
    scripted: Scripted, tmp_path: Path, marker: str
) -> None:
    line = 'printf "out\\n"; pwd >&2; echo "$ADDED $TERM $PAGER${NVIM-}"; exit 3'
    scripted.play(
        [
            asks(line),
            create(line),
            *map(request, (WAIT, READ, KILL, RELEASE, READ)),
            update(status="failed"),
        ]
    )
    async with running(make_agent(scripted.command, tmp_path)) as client:
        chat = await chatting(client, scripted)
        await chat.answer()
        _, created, waited, read, killed, released, unknown = await chat.ends()
        printed = (await chat.finished()).outputs
    assert created["terminalId"]
    assert waited == {"exitCode": 3}
    output = f"out\n{tmp_path}\n xterm-256color cat\n"
    assert read == {"output": output, "truncated": False, "exitStatus": {"exitCode": 3}}
    assert (killed, released) == ({}, {})
    assert unknown == {"error": "there is no such terminal in this session", "code": -32002}
    assert len(chat.asked) == 1, "the permission of the call covers it"
    assert chat.printed == output + "[exit code 3]\n"
    assert printed == (output + "[exit code 3]\n",), "it stays"


async def test_a_whole_line_without_arguments_is_read_by_a_shell_unless_it_is_a_program(
    scripted: Scripted, tmp_path: Path, marker: str
) -> None:
    line, program = "printf one > out.txt; cat out.txt", tmp_path / "a program; x"
    program.write_text("#!/bin/sh\nprintf two\n")
    program.chmod(0o755)
    own = {"PATH": str(tmp_path)}.items()
    scripted.play(
        [
            asks(line),
            request(["terminal/create", {"command": line}]),
            *map(request, (WAIT, READ)),
            request(["terminal/create", {"command": f"./{program.name}"}]),
            *map(request, (WAIT, READ)),
            request(
                [
                    "terminal/create",
                    {
                        "command": program.name,
                        "env": [{"name": name, "value": value} for name, value in own],
                    },
                ]
            ),
            *map(request, (WAIT, READ)),
            request(["terminal/create", {"command": "shift"}]),  # only a shell has it
            request(WAIT),
            ends("c"),
        ]
    )
    async with running(make_agent(scripted.command, tmp_path)) as client:
        chat = await chatting(client, scripted)
        for _ in range(4):
            await chat.answer()
        printed = [it["output"] for it in await chat.ends() if "output" in it]
    assert printed == ["one", "two", "two"]
    assert len(chat.asked) == 4, "the permission of the call covers the line"
    assert chat.asked[-1].call.command == "shift"
    assert (tmp_path / "out.txt").read_text() == "one"


async def test_a_page_that_a_command_opens_goes_to_the_host(
    scripted: Scripted, tmp_path: Path, marker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LINKS, str(tmp_path / "socket"))
    line = 'printf "%s %s" "$(command -v xdg-open)" "$ECA_NVIM_LINKS_FROM"'
    asked = {"command": line, "env": [{"name": "PATH", "value": "/usr/bin:/bin"}]}
    scripted.play(
        [asks(line), request(["terminal/create", asked]), *map(request, (WAIT, READ)), ends("c")]
    )
    environment = child_environment(server="claude")
    async with running(make_agent(scripted.command, tmp_path, environment=environment)) as client:
        chat = await chatting(client, scripted)
        await chat.answer()
        await chat.answer()
        printed = [it["output"] for it in await chat.ends() if "output" in it]
    assert printed == [f"{OPENERS}/xdg-open claude"]


async def test_what_no_permission_covers_is_asked_about_as_it_runs(
    scripted: Scripted, tmp_path: Path, marker: str
) -> None:
    (tmp_path / "sub").mkdir()
    sub = str(tmp_path / "sub")
    words = {"command": "printf", "args": ["%s", "a b; c"]}
    variables = {"cwd": sub, "env": [{"name": "LESS", "value": "x y"}]}
    scripted.play(
        [
            asks("printf one"),
            request(["terminal/create", words]),
            request(["terminal/create", words | variables]),
            request(WAIT),
            request(["terminal/create", words]),
        ]
    )
    async with running(make_agent(scripted.command, tmp_path)) as client:
        chat = await chatting(client, scripted)
        for place in (0, 2, 0, 2):
            await chat.answer(place)
        answers = await chat.ends()
        ours = [it.call for it in chat.asked][1:]
        assert [it.command for it in ours] == ["printf %s 'a b; c'"] * 3
        assert [(it.arguments or {})["folder"] for it in ours] == [
            str(tmp_path),
            sub,
            str(tmp_path),
        ]
        assert (ours[1].arguments or {})["variables"] == ("LESS=x y",)
        assert all(it.kind is ToolKind.EXECUTE for it in ours)
        assert chat.printed == "a b; c"
        [done] = [it for it in client.all(ToolFinished) if it.call.id == ours[1].id]
        assert (done.outputs, done.failed) == (("a b; c",), False)
    refused = {"error": "the user has not allowed this command", "code": -32603}
    assert (answers[1], answers[4]) == (refused, refused)
    assert answers[3] == {"exitCode": 0}


async def test_a_question_ends_with_the_call_that_it_is_about(
    scripted: Scripted, tmp_path: Path, marker: str
) -> None:
    line = "rm x"
    call = update("tool_call", kind="execute", rawInput={"command": line})
    create_it = {"begin": create(line)["request"]}
    asked = request(["is/it/asked", {}])
    scripted.play([call, create_it, asked, ends("c"), {"join": None}])
    async with running(make_agent(scripted.command, tmp_path)) as client:
        chat = await chatting(client, scripted)
        answers = await chat.ends()
        assert [it.call.command for it in chat.asked] == [line]
    assert answers[-1] == {"error": "the user has not allowed this command", "code": -32603}


async def test_a_command_that_cannot_run_is_one_line(
    scripted: Scripted, tmp_path: Path, marker: str
) -> None:
    wrong = [
        {"command": "no-such-program", "args": ["x"]},
        {"command": "true", "cwd": "sub"},
        {"command": "true", "cwd": "/no/such/folder"},
        {"command": "true", "cwd": "/a\0b"},
        {"command": "true", "env": [{"name": "A=B", "value": "x"}]},
        {"command": "true", "cwd": "/" + "a" * 300},
    ]
    create_all = [request(["terminal/create", it]) for it in wrong]
    others = {"sessionId": "another", "terminalId": "x"}
    scripted.play([*create_all, request(["terminal/output", others])])
    async with running(make_agent(scripted.command, tmp_path)) as client:
        chat = await chatting(client, scripted)
        await chat.answer()
        await chat.answer()
        answers = await chat.ends()
        assert [it.failed for it in client.all(ToolFinished)] == [True, True]
    assert [it["error"] for it in answers[1:4]] == [
        "cwd is not an absolute path: sub",
        "there is no such folder: /no/such/folder",
        "cwd has a NUL byte: '/a\\x00b'",
    ]
    assert "'no-such-program' is not on PATH" in answers[0]["error"]
    assert "illegal environment variable name" in answers[4]["error"]
    assert answers[5]["error"] == "there is no such folder: /" + "a" * 300
    assert answers[6]["error"] == "there is no session another"


async def test_the_output_is_cut_between_characters(
    scripted: Scripted, tmp_path: Path, marker: str
) -> None:
    line = "printf 'aä€😀ä€😀'; exit 1"
    scripted.play([asks(line), create(line, outputByteLimit=8), request(WAIT), request(READ)])
    async with running(make_agent(scripted.command, tmp_path)) as client:
        chat = await chatting(client, scripted)
        await chat.answer()
        answers = await chat.ends()
        assert chat.printed == "aä€😀ä€😀\n[exit code 1]\n"
    assert answers[-1]["output"] == "€😀"
    assert answers[-1]["truncated"] is True


@pytest.mark.parametrize("early", [True, False], ids=["before", "after"])
async def test_a_call_may_embed_a_terminal_before_or_after_it_prints(
    scripted: Scripted, tmp_path: Path, marker: str, *, early: bool
) -> None:
    """The call says that it searches, and the user has allowed the command for another one."""
    line = "printf 'first\\n'; printf second"
    shows = update("tool_call", "shown", title="look", kind="search", content=SHOWN)
    waits = [request(WAIT), request(RELEASE)]
    scripted.play(
        [
            asks(line, "allowed"),
            create(line),
            *([shows, *waits] if early else [*waits, shows]),
            ends("allowed"),
            ends("shown"),
        ]
    )
    async with running(make_agent(scripted.command, tmp_path)) as client:
        chat = await chatting(client, scripted)
        await chat.answer()
        await chat.ends()
        done = {it.call.title: it for it in client.all(ToolFinished)}
    shown = done[("look",)]
    assert shown.outputs == ("first\nsecond",)
    assert done[("run it",)].outputs == ()
    assert (shown.call.kind, shown.call.command) == (ToolKind.EXECUTE, line)


@pytest.mark.parametrize("late", [False, True], ids=["while it runs", "when it has ended"])
async def test_a_call_that_embeds_the_terminal_of_ours_is_ours(
    scripted: Scripted, tmp_path: Path, marker: str, *, late: bool
) -> None:
    """The agent shows the command after it began, and says that it was another one."""
    line = "printf one"
    said = {"title": "look", "kind": "read", "rawInput": {"command": "ls"}}
    shows = update("tool_call", "shown", status="in_progress", content=SHOWN, **said)
    waits = request(WAIT)
    steps = [waits, shows] if late else [shows, waits]
    asked = {"toolCallId": "shown", "kind": "execute", "rawInput": {"command": "rm x"}}
    more = [create(line), {"ask": {"toolCall": asked, "options": CHOICES}}]
    scripted.play([create(line), *steps, ends("shown"), *more, ends("shown")])
    async with running(make_agent(scripted.command, tmp_path)) as client:
        chat = await chatting(client, scripted)
        for _ in range(3):
            await chat.answer()
        await chat.ends()
        done = client.all(ToolFinished)
        commands = {it.call.id: it.call.command for it in client.all(ToolRunning)}
    ours, again, theirs = (it.call for it in chat.asked)
    assert list(commands.values()) == [line, line, "rm x"], "one block for each"
    assert [it.id for it in (ours, again, theirs)] == list(commands)
    first = [it for it in done if it.call.id == ours.id]
    assert {(it.call.command, it.outputs, it.failed) for it in first} == {(line, ("one",), False)}


async def test_a_terminal_that_nobody_embeds_is_shown_by_a_call_of_ours(
    scripted: Scripted, tmp_path: Path, marker: str
) -> None:
    """The agent does not ask in this mode, and announces no call."""
    named = [{"id": "ask", "name": "Ask"}, {"id": "yolo", "name": "YOLO"}]
    modes = {"currentModeId": "ask", "availableModes": named}
    scripted.play(
        [create("echo one; exit 2"), request(WAIT), create(STUBBORN), {"wait": "session/cancel"}],
        session={"modes": modes},
    )
    async with running(make_agent(scripted.command, tmp_path)) as client:
        client.agent.open_chat(CHAT)
        client.agent.set_option(CHAT, "mode", "yolo")
        chat = await chatting(client, scripted)
        await client.until(lambda: len(client.all(ToolFinished)) == 1)
        await chat.prints("ready")
        client.agent.stop(CHAT)
        await chat.ends()
        first, second = (it.call for it in client.all(ToolRunning))
        assert not chat.asked
        assert (first.command, second.command) == ("echo one; exit 2", STUBBORN)
        assert client.all(ToolFinished)[0].outputs == ("one\n[exit code 2]\n",)


async def test_a_terminal_is_one_of_its_session(
    scripted: Scripted, tmp_path: Path, marker: str
) -> None:
    theirs = {"sessionId": "scripted-2", "terminalId": "TERMINAL"}
    methods = ("output", "wait_for_exit", "kill", "release")
    scripted.play(
        [
            asks("exec cat"),
            create("exec cat"),
            *(request([f"terminal/{method}", theirs]) for method in methods),
            request(READ),
        ]
    )
    async with running(make_agent(scripted.command, tmp_path)) as client:
        client.agent.open_chat(CHAT)
        await client.until(lambda: len(client.all(OptionsChanged)) == 1)
        client.agent.open_chat("another")
        await client.until(lambda: len(client.all(OptionsChanged)) == 2)
        chat = await chatting(client, scripted)
        await chat.answer()
        answers = await chat.ends()
    refused = {"error": "there is no such terminal in this session", "code": -32002}
    assert answers[2:] == [*[refused] * 4, {"output": "", "truncated": False}]


async def test_of_a_flood_the_end_is_kept(scripted: Scripted, tmp_path: Path, marker: str) -> None:
    line = "yes 0123456789 | head -c 11000000; echo end"
    ends = [request(WAIT), request(READ), update(status="completed")]
    scripted.play([asks(line), create(line, outputByteLimit=16), *ends])
    async with running(make_agent(scripted.command, tmp_path)) as client:
        chat = await chatting(client, scripted)
        await chat.answer()
        answers = await chat.ends()
        [shown] = (await chat.finished()).outputs
        assert len(chat.printed) == 11_000_004
    assert answers[-1]["output"] == "\n0123456789\nend\n"
    assert answers[-1]["truncated"] is True
    assert len(shown) == SHOWN_BYTES
    assert shown.endswith("0123456789\nend\n")


async def test_a_rejected_command_is_shown_as_such(
    scripted: Scripted, tmp_path: Path, marker: str
) -> None:
    scripted.play([create("true")])
    async with running(make_agent(scripted.command, tmp_path)) as client:
        chat = await chatting(client, scripted)
        await chat.answer(2)
        await chat.ends()
        assert not client.all(ToolRunning)
        assert not client.all(ToolRejected), "the chat knows it from the user"


async def test_a_call_that_embeds_a_terminal_is_drawn_with_what_ran(
    scripted: Scripted, tmp_path: Path, marker: str
) -> None:
    """The call says `ls`, and a second terminal in it ran elsewhere and with a variable."""
    (tmp_path / "sub").mkdir()
    second = create(
        "touch there", cwd=str(tmp_path / "sub"), env=[{"name": "LESS", "value": "a b"}]
    )
    shows = update("tool_call", "shown", kind="execute", rawInput={"command": "ls"}, content=SHOWN)
    again = update("tool_call_update", "shown", content=SHOWN)
    scripted.play(
        [create("sleep 1; touch here"), shows, request(WAIT), second, again, ends("shown")]
    )
    async with running(make_agent(scripted.command, tmp_path)) as client:
        chat = await chatting(client, scripted)
        for _ in range(2):
            await chat.answer()
        await chat.ends()
        ended = client.all(ToolFinished)
    [done] = [it for it in ended if "touch here" in (it.call.command or "")]
    ran = ["sleep 1; touch here", f"cd {tmp_path}/sub && LESS='a b' touch there"]
    assert (done.call.command or "").split("\n") == ran
    assert "command" in (done.call.arguments or {}), "what the agent says is not lost"


async def test_a_folder_that_becomes_a_link_while_the_user_is_asked_is_not_used(
    scripted: Scripted, tmp_path: Path, marker: str
) -> None:
    build, elsewhere = tmp_path / "build", tmp_path.parent / "elsewhere"
    build.mkdir()
    elsewhere.mkdir()
    scripted.play([create("touch ran", cwd=str(build))])
    async with running(make_agent(scripted.command, tmp_path)) as client:
        chat = await chatting(client, scripted)
        await client.until(lambda: chat.asked)
        build.rmdir()
        build.symlink_to(elsewhere)
        await chat.answer()
        [answer] = await chat.ends()
    assert answer["error"] == f"not run, a link leads elsewhere now: {build}"
    assert not [*elsewhere.iterdir()]

"""Rolling back a chat with its files: one question, and nothing saved since is lost."""

import subprocess
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import AssertScreen, PrepareScript, StartNeovim
from tests.support.script import Steps, expect, handshake, reply, send, status, turn, write
from tests.support.servers import ScriptedServer
from tests.ui.staged import CHAT, WITHOUT_HOST, chat_text, draw, sent, wait_sent
from tests.ui.talk import Value, asks, done, draft, lines_of, say, start_chat, tool, wait_idle
from tests.ui.undone import outcome, plan, planned

from eca_nvim.review.change_list import Table

pytestmark = pytest.mark.either_nvim

SHELL: dict[str, Value] = {"name": "shell_command", "arguments": {"command": "make tidy"}}


def said(content_id: str, text: str) -> Steps:
    """Echo a prompt with the server's id of it."""
    content = {"type": "text", "text": f"{text}\n", "contentId": content_id}
    return send("chat/contentReceived", {"chatId": "$chat", "role": "user", "content": content})


def ran(path: Path, made: Path) -> Steps:
    """Run an approved command that changes a file and makes another."""
    return [
        *said("u1", "tidy up"),
        *asks("tidy", **SHELL),
        *expect("chat/toolCallApprove"),
        *tool("Running", "tidy", **SHELL),
        *write(path, "1\ntidied\n3\n"),
        *write(made, "made\n"),
        *done("tidy", "", **SHELL),
    ]


def wrote(path: Path) -> Steps:
    """Write a file by a tool that says so."""
    named: dict[str, Value] = {
        "name": "write_file",
        "arguments": {"path": str(path), "content": "1\ntidied\nthree\n"},
    }
    return [
        *said("u2", "go on"),
        *asks("named", **named),
        *expect("chat/toolCallApprove"),
        *tool("Running", "named", **named),
        *write(path, "1\ntidied\nthree\n"),
        *done("named", "", **named),
    ]


@pytest.fixture
def server(scripted_server: PrepareScript, workspace: Path) -> ScriptedServer:
    subprocess.run(["git", "init", "-q", str(workspace)], check=True)
    code = workspace / "code.txt"
    code.write_text("1\n2\n3\n")
    return scripted_server(
        handshake(),
        turn(ran(code, workspace / "made.txt"), status("idle")),
        turn(wrote(code), status("idle")),
        expect("chat/rollback"),
        reply("chat/rollback", {}),
    )


@pytest.fixture
def nvim(start_nvim: StartNeovim, server: ScriptedServer) -> Neovim:
    """Show a chat of two turns; a command of the first changed code.txt and made made.txt."""
    nvim = start_chat(
        start_nvim, server, "code.txt", settings={"approval": {"guard": 0}}, columns=80
    )
    for prompt in ("tidy up", "go on"):
        say(nvim, prompt)
        nvim.wait_screen("allow this?")
        nvim.command("Eca approve")
        nvim.wait_until("#require('eca').pending() == 0")
        wait_idle(nvim)
    return nvim


def take_back(nvim: Neovim, choice: int) -> None:
    """Press gu on the first prompt and choose what is taken back."""
    nvim.command("stopinsert | wincmd k")
    nvim.keys("gg/tidy up<CR>")
    nvim.input("gu")
    nvim.wait_screen('Roll back to before "tidy up"')
    nvim.input(f"{choice}<CR>")


def include(server: ScriptedServer) -> list[list[str]]:
    return [it["params"]["include"] for it in server.received("chat/rollback")]


def test_all_turns_are_one_question_and_what_was_saved_since_stays(
    nvim: Neovim, server: ScriptedServer, workspace: Path
) -> None:
    code = workspace / "code.txt"
    code.write_text(f"mine\n{code.read_text()}")
    take_back(nvim, 3)
    screen = nvim.wait_screen("undo turns 1 to 2: tidy up")
    assert "changed since, kept as it is" in screen
    assert "deleted, made by a command" in screen
    assert "u undo, messages too" in screen
    assert "Commands may have changed more, and that stays" in screen
    nvim.keys("u")
    nvim.wait_for(lambda: include(server) == [["messages"]], "the messages to be taken back")
    nvim.wait_for(lambda: draft(nvim) == "tidy up", "the prompt in the input")
    assert code.read_text() == "mine\n1\ntidied\nthree\n"
    assert not (workspace / "made.txt").exists()
    nvim.command("Eca checkpoints")
    nvim.wait_screen("before going back to tidy up")


def test_files_alone_go_back_and_the_messages_stay(
    nvim: Neovim, server: ScriptedServer, workspace: Path
) -> None:
    take_back(nvim, 2)
    screen = nvim.wait_screen("undo turns 1 to 2: tidy up")
    assert "messages too" not in screen
    nvim.keys("u")
    nvim.wait_screen("turns 1 to 2 undone in 2 files")
    assert (workspace / "code.txt").read_text() == "1\n2\n3\n"
    assert not (workspace / "made.txt").exists()
    assert include(server) == []
    assert any("go on" in line for line in lines_of(nvim))
    take_back(nvim, 2)
    nvim.wait_screen("no file to restore")


# --- the view alone -------------------------------------------------------------------------------


@pytest.fixture
def stage(start_nvim: StartNeovim, workspace: Path) -> Neovim:
    """Neovim without a host, with a chat on the screen that has one block."""
    (workspace / "code.txt").write_text("theirs\n")
    settings = {"approval": {"guard": 0}}
    nvim = start_nvim("code.txt", init=WITHOUT_HOST, settings=settings, columns=80, lines=24)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    draw(nvim, *chat_text("hello"))
    nvim.wait_screen("hello")
    nvim.command("set laststatus=0")
    nvim.command("wincmd p")
    return nvim


def ask(
    nvim: Neovim,
    *files: Table,
    unkept: tuple[str, ...] = (),
    turns: tuple[int, ...] = (3, 2),
    messages: bool = True,
) -> None:
    """Ask to roll back, and answer with a plan."""
    nvim.lua("require('eca.review.undo').roll_back(...)", CHAT, 7, messages)
    wanted = wait_sent(nvim, "plan_undo")[-1]
    assert (wanted["since"], wanted["messages"]) == (7, messages)
    answered = plan(*files, turns=turns, unkept=unkept, messages=messages)
    draw(nvim, ["answer", wanted["request"], answered])


def test_turns_without_a_checkpoint_are_named_and_left_to_the_server_on_demand(
    stage: Neovim, workspace: Path, assert_screen: AssertScreen
) -> None:
    ask(stage, planned(workspace / "code.txt"), unkept=("fix it", "and that"))
    stage.wait_screen("fix it")
    assert_screen(stage, "roll_back")
    stage.keys("Gt")
    stage.wait_screen("restored by the server, over what was saved since")
    assert_screen(stage, "roll_back_by_the_server")
    stage.keys("u")
    wanted = wait_sent(stage, "undo_turn")[-1]
    assert (wanted["turns"], [seen for _, seen in wanted["files"]]) == ([3, 2], ["so"])
    assert sent(stage, "rollback") == []
    draw(stage, ["answer", wanted["request"], outcome([])])
    asked = wait_sent(stage, "rollback")
    assert asked == [{"chat": CHAT, "block": 7, "messages": True, "tools": True}]


def test_the_server_undoes_nothing_unless_the_user_says_so(stage: Neovim) -> None:
    ask(stage, unkept=("fix it",), turns=(), messages=False)
    stage.wait_screen("no checkpoint, its files stay")
    stage.keys("u")
    stage.wait_screen("nothing was undone")
    ask(stage, unkept=("fix it",), turns=())
    stage.wait_screen("no checkpoint, its files stay")
    stage.keys("tku")
    (asked,) = wait_sent(stage, "rollback")
    assert (asked["messages"], asked["tools"]) == (True, False)
    assert sent(stage, "undo_turn") == []


def test_messages_alone_need_no_question(stage: Neovim) -> None:
    ask(stage, turns=())
    (asked,) = wait_sent(stage, "rollback")
    assert (asked["messages"], asked["tools"]) == (True, False)


def test_a_damaged_file_is_said_to_be_with_the_place_of_its_copy(
    stage: Neovim, workspace: Path
) -> None:
    path = workspace / "code.txt"
    ask(stage, planned(path), messages=False)
    stage.wait_screen("restored")
    stage.keys("u")
    wanted = wait_sent(stage, "undo_turn")[-1]
    fault = {"path": str(path), "fault": "input/output error", "copy": f"{path}.eca-copy-1"}
    draw(stage, ["answer", wanted["request"], outcome([], [fault])])
    stage.wait_screen("code.txt as it was: code.txt.eca-copy-1")
    assert "code.txt is damaged: input/output error" in stage.messages()
    stage.take_errors()

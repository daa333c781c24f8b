"""The last prompt to another model: both answers stay, and the keys go from one to the other."""

import subprocess
from itertools import chain
from pathlib import Path

from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import (
    Steps,
    expect,
    handshake,
    progress,
    reply,
    send,
    status,
    text,
    write,
)
from tests.support.servers import ScriptedServer
from tests.ui.talk import asks, done, draft, lines_of, say, start_chat, tool, wait_idle, wait_line
from tests.ui.test_roll_back import SHELL, said

COPY = [
    *expect("chat/fork"),
    *send("chat/opened", {"chatId": "copy", "title": "Chat (2)"}),
    *reply("chat/fork", {}),
    *expect("chat/rollback"),
    *reply("chat/rollback", {}),
]
OPENED = [*expect("chat/open"), *reply("chat/open", {"found": True})]


def ran(path: Path, made: str) -> Steps:
    """Run an approved command that changes a file."""
    return [
        *asks("tidy", **SHELL),
        *expect("chat/toolCallApprove"),
        *tool("Running", "tidy", **SHELL),
        *write(path, made),
        *done("tidy", "", **SHELL),
        *text(f"It says {made.strip()} now."),
    ]


def turn(prompt: str, *steps: Steps) -> Steps:
    """Play a turn as the server does, with its id of the prompt."""
    answer = {"chatId": "$chat", "model": "mock/mock-1", "status": "prompting"}
    begins = [*expect("chat/prompt"), *said(f"id of {prompt}", prompt), *status("running")]
    ends = [*status("idle"), *progress("finished")]
    return [*begins, *reply("chat/prompt", answer), *chain(*steps), *ends]


def allow(nvim: Neovim) -> None:
    nvim.wait_until("#require('eca').pending() == 1")
    nvim.command("Eca approve")
    nvim.wait_until("#require('eca').pending() == 0")
    wait_idle(nvim)


def prompts(server: ScriptedServer) -> list[tuple[str, str, str]]:
    sent = [it["params"] for it in server.received("chat/prompt")]
    return [(it["chatId"], it["model"], it["message"]) for it in sent]


def test_a_prompt_goes_to_another_model_and_back(
    start_nvim: StartNeovim, scripted_server: PrepareScript, workspace: Path
) -> None:
    subprocess.run(["git", "init", "-q", str(workspace)], check=True)
    code = workspace / "code.txt"
    code.write_text("before\n")
    server = scripted_server(
        handshake(), turn("hello", text("Hi.")), turn("tidy up", ran(code, "first\n")), COPY,
        turn("tidy up", ran(code, "second\n")), OPENED, turn("go on", text("Of the first.")),
        OPENED, OPENED,
    )  # fmt: skip
    settings = {"approval": {"guard": 0}}
    nvim = start_chat(start_nvim, server, "code.txt", settings=settings, columns=80)
    say(nvim, "hello")
    wait_line(nvim, "Hi.")
    wait_idle(nvim)
    say(nvim, "tidy up")
    allow(nvim)
    chat = nvim.lua("return require('eca').status().chat")
    nvim.keys("itype on<Esc>")
    nvim.keys(":Eca retry mock-2<CR>")
    nvim.wait_screen("The answer has changed files")
    nvim.input("2<CR>")
    nvim.wait_screen("undo turn 2")
    nvim.keys("u")
    allow(nvim)
    screen = nvim.wait_screen("It says second now.")
    wait_idle(nvim)
    assert code.read_text() == "second\n"
    assert "answer 2/2 · mock/mock-2   [r ]r" in screen
    assert "It says first now." not in screen
    assert draft(nvim) == "type on"
    nvim.keys("[r")
    screen = nvim.wait_screen("It says first now.")
    assert "answer 1/2 · mock/mock-1   [r ]r" in screen
    assert "Hi." in screen
    nvim.wait_until("require('eca').status().model == 'mock/mock-1'")
    assert code.read_text() == "second\n"
    assert draft(nvim) == "type on"
    nvim.keys("cc<Esc>")
    say(nvim, "go on")
    wait_line(nvim, "Of the first.")
    wait_idle(nvim)
    nvim.command("stopinsert | wincmd k")
    nvim.keys("gg]r")
    nvim.wait_screen("only one answer")
    nvim.keys("/answer 1.2<CR>")
    nvim.input("<CR>")
    nvim.wait_screen("answer 2/2 · mock/mock-2")
    assert not any("Of the first." in line for line in lines_of(nvim))
    nvim.wait_until("vim.fn.getline('.'):find('answer 2/2')")
    nvim.input("]r")
    nvim.wait_screen("Of the first.")
    models = ["mock/mock-1", "mock/mock-1", "mock/mock-2", "mock/mock-1"]
    chats, words = [chat, chat, "copy", chat], ["hello", "tidy up", "tidy up", "go on"]
    assert prompts(server) == list(zip(chats, models, words, strict=True))

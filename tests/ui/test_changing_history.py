"""A prompt that is sent while the history of its chat changes stays on the screen."""

from pathlib import Path

from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import (
    MODEL,
    Steps,
    expect,
    gate,
    handshake,
    leave,
    progress,
    reply,
    send,
    status,
    text,
    turn,
)
from tests.support.servers import ScriptedServer
from tests.ui.talk import draft, lines_of, prompts, say, start_chat, wait_idle, wait_line

SEND_AT_ONCE = """
local eca, change, prompt = require('eca'), ...
loadstring(change)()
eca.send(prompt)
local status = eca.status()
return { status.state, eca.chats()[1].state, vim.g.eca_status.state }
"""
CLEAR = "vim.cmd('Eca clear!')"
ROLL_BACK = """
local id = require('eca').status().chat
require('eca.host').send('rollback', { chat = id, block = 0, messages = true, tools = false })
"""
IDLE = "function() return require('eca').status().state == 'idle' end"
BUSY = ["running"] * 3


def named_turn(content_id: str, words: str, answer: str) -> Steps:
    """Answer a prompt that the server gives an id."""
    content = {"type": "text", "text": f"{words}\n", "contentId": content_id}
    echo = {"chatId": "$chat", "role": "user", "content": content}
    return [
        *(*expect("chat/prompt"), *send("chat/contentReceived", echo), *status("running")),
        *reply("chat/prompt", {"chatId": "$chat", "model": MODEL, "status": "prompting"}),
        *(*text(answer), *status("idle"), *progress("finished")),
    ]


def late(method: str, opened: Path) -> Steps:
    """Respond to a request once the gate is open; the word that the chat is empty comes before."""
    cleared = send("chat/cleared", {"chatId": "$chat", "messages": True})
    return [*expect(method), *gate(opened), *cleared, *reply(method, {})]


def start(start_nvim: StartNeovim, server: ScriptedServer) -> Neovim:
    nvim = start_chat(start_nvim, server)
    say(nvim, "one")
    wait_line(nvim, "first answer")
    wait_idle(nvim)
    return nvim


def send_at_once(nvim: Neovim, change: str, prompt: str) -> list[str]:
    """Change the history and send a prompt in one tick; returns the state then."""
    states: list[str] = nvim.lua(SEND_AT_ONCE, change, prompt)
    return states


def test_a_prompt_waits_and_is_shown_below_what_the_answer_left(
    start_nvim: StartNeovim, scripted_server: PrepareScript, tmp_path: Path
) -> None:
    cleared, cut, failed = tmp_path / "cleared", tmp_path / "cut", tmp_path / "failed"
    server = scripted_server(
        handshake(),
        turn(text("first answer")),
        late("chat/clear", cleared),
        named_turn("u2", "two", "second answer"),
        late("chat/rollback", cut),
        turn(text("third answer")),
        [*expect("chat/clear"), *gate(failed), *leave(3)],
    )
    nvim = start(start_nvim, server)

    assert send_at_once(nvim, CLEAR, "two") == BUSY
    nvim.wait_screen("⧗ two")
    assert prompts(server) == ["one"]
    cleared.write_text("")
    assert nvim.lua(f"return vim.wait(50000, {IDLE}, 5)") is True
    assert [line for line in lines_of(nvim) if line.strip()] == ["two", "second answer"]
    assert "⧗ two" not in nvim.screen

    assert send_at_once(nvim, ROLL_BACK, "three") == BUSY
    nvim.wait_screen("⧗ three")
    nvim.command("Eca stop")
    wait_idle(nvim)
    nvim.wait_screen("⧗ three")
    cut.write_text("")
    nvim.wait_until("not require('eca').transcript():find('second answer')")
    assert prompts(server) == ["one", "two"]
    nvim.wait_for(lambda: draft(nvim) == "two", "the prompt that was rolled back in the input")
    nvim.command("Eca unqueue")
    nvim.wait_for(lambda: draft(nvim) == "three\ntwo", "both prompts in the input")
    nvim.keys("<Esc><CR>")
    wait_line(nvim, "third answer")
    wait_idle(nvim)

    assert send_at_once(nvim, CLEAR, "four") == BUSY
    nvim.wait_screen("⧗ four")
    failed.write_text("")
    wait_line(nvim, "first answer")  # of the next server, which begins the script again
    shown = "\n".join(lines_of(nvim))
    assert shown.index("the server ended") < shown.index("four")
    wait_idle(nvim)

"""The panel of the trace on the screen, and saved traces that are played."""

import json
from pathlib import Path

import pytest
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import handshake, send, text, turn
from tests.support.servers import module_command, replay_acp


@pytest.mark.either_nvim
def test_a_trace_is_shown_saved_and_played(
    start_nvim: StartNeovim, scripted_server: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_server(
        handshake(),
        send("$/progress", {"type": "start", "taskId": "1", "title": "T"}),
        turn(*(text(f"word{number} ") for number in range(30)), text("the secret sk-abcdefghijk.")),
    )
    nvim = start_nvim(settings={"server": {"command": server.command}}, columns=80)
    nvim.keys(":EcaChat tell me<CR>")
    nvim.wait_screen("word29 the secret")
    nvim.keys("<Esc>:Eca trace<CR>")
    screen = nvim.wait_screen("recorded since").text()
    (bar,) = [line for line in screen.split("\n") if line.startswith(" trace of eca")]
    assert "f filter  s save  t only this chat, or all  g? keys" in bar
    nvim.keys("/contentReceived .31<CR>")
    nvim.keys("<CR>")
    nvim.wait_screen("sk-[hidden]")
    place = tmp_path / "saved.jsonl"
    nvim.keys("ggfno such thing<CR>")  # the first row stays, whatever is shown
    nvim.wait_screen("none of its messages is shown")
    nvim.keys(f"s<C-u>{place}<CR>")
    nvim.wait_screen("saved ")
    nvim.quit()

    assert all({"t", "dir", "msg"} == {*json.loads(it)} for it in place.read_text().splitlines())
    again = {"server": {"command": module_command("tests.support.replay_server", str(place))}}
    nvim = start_nvim(settings=again, columns=80)
    nvim.keys(":EcaChat tell me<CR>")
    nvim.wait_screen("word29 the secret sk-")


@pytest.mark.either_nvim
def test_the_trace_of_an_acp_agent_is_played(start_nvim: StartNeovim, tmp_path: Path) -> None:
    place = tmp_path / "saved.jsonl"
    first = replay_acp("pyecho-text", tmp_path).command
    for command in (first, module_command("tests.support.replay_acp", str(place))):
        settings = {"server": "it", "servers": {"it": {"command": command, "protocol": "acp"}}}
        nvim = start_nvim(settings=settings, columns=80)
        nvim.keys(":EcaChat tell me<CR>")
        nvim.wait_screen("Hello from the")
        nvim.keys("<Esc>:Eca trace<CR>")
        nvim.wait_screen("session/prompt")
        if command is first:
            nvim.keys(f"s<C-u>{place}<CR>")
            nvim.wait_screen("saved ")
        nvim.quit()

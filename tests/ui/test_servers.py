"""Several servers in one Neovim: two demo agents at once, on a real screen."""

import os
import signal
import sys
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.processes import command_line
from tests.ui.talk import LINES, host_of, lines_of, say, wait_line

from eca_nvim.server.find import KNOWN

pytestmark = pytest.mark.either_nvim

ROWS = "vim.api.nvim_buf_line_count(require('eca').chats()[{number}].buf)"
DEMO = """
import asyncio, itertools, re, sys
from eca_nvim.demo import __main__ as demo, engine

line = ("say", "one more line of the demo\\n")
engine.SCENES = {re.compile("stream"): itertools.repeat(line)}
engine.CHUNK_PAUSE_S = 0.002
sys.exit(asyncio.run(demo.serve()))
"""
"""A demo agent whose scene `stream` has no end; it speaks fast."""
STATES = """
vim.iter(require('eca').chats()):map(function(chat)
  return { chat.server_name, chat.state }
end):totable()
"""


@pytest.fixture
def nvim(start_nvim: StartNeovim) -> Neovim:
    """Start Neovim with two demo servers; each has its name among its arguments."""
    servers: dict[str, object] = {
        name: {"command": [sys.executable, "-c", DEMO, name]} for name in ("one", "two")
    }
    servers["later"] = {"command": ["no-such-agent"], "protocol": "acp"}
    settings = {"server": "one", "servers": servers, "approval": {"guard": 0}}
    return start_nvim(settings=settings, columns=110, lines=30)


def process_of(nvim: Neovim, name: str) -> int:
    """Return the process id of a server."""
    (found,) = [it for it in nvim.child.family() if command_line(it).endswith(f" {name}")]
    return found


def rows(nvim: Neovim, number: int) -> int:
    return int(nvim.lua(f"return {ROWS.format(number=number)}"))


def test_two_servers_at_once_and_the_end_of_one(nvim: Neovim) -> None:
    nvim.keys(":EcaChat<CR>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    assert "two" not in nvim.screen.text()
    say(nvim, "stream")
    nvim.wait_until(f"{ROWS.format(number=1)} > 20")
    nvim.keys(":lua require('eca').new({ server = 'two' })<CR>")
    say(nvim, "stream")
    nvim.wait_until(f"{ROWS.format(number=2)} > 20")
    running = [["one", "running"], ["two", "running"]]
    assert nvim.lua(f"return {STATES}") == running
    nvim.wait_screen(" · two · ● running")

    os.kill(process_of(nvim, "one"), signal.SIGKILL)
    nvim.wait_until("require('eca').chats()[1].state == 'idle'")
    before = rows(nvim, 2)
    nvim.wait_until(f"{ROWS.format(number=2)} > {before + 20}")
    assert nvim.lua(f"return {STATES}") == [["one", "idle"], ["two", "running"]]
    assert nvim.lua("return require('eca').status().server") == "ready"
    assert "signal 9" not in "\n".join(lines_of(nvim))

    nvim.keys(":Eca chats 1<CR>")
    wait_line(nvim, "signal 9")
    nvim.keys(":Eca restart<CR>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    say(nvim, "hello")
    wait_line(nvim, "Stop me with")
    assert nvim.lua("return require('eca').chats()[2].state") == "running"
    nvim.keys(":Eca quit two<CR>")
    nvim.wait_until("require('eca').chats()[2].state == 'idle'")
    assert nvim.lua("return require('eca').status().server") == "ready"


def test_a_server_is_chosen_by_name(nvim: Neovim) -> None:
    names = nvim.lua("return vim.fn.getcompletion('Eca server ', 'cmdline')")
    assert set(names) == {"acp-demo", "demo", "later", "one", "two", *KNOWN}
    nvim.keys(":Eca server twoo<CR>")
    nvim.wait_screen("there is no server 'twoo': did you mean two?")
    nvim.keys(":Eca server two<CR>:EcaChat<CR>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    assert nvim.lua("return require('eca').status().server_name") == "two"
    # The chat is empty: it goes to the server that is chosen.
    nvim.keys("<Esc>:Eca server later<CR>")
    wait_line(nvim, "servers.later.command: 'no-such-agent' not found: correct its path")
    wait_line(nvim, ":Eca server chooses another server, :Eca server demo the demo agent")
    nvim.keys(":Eca server goose<CR>")
    wait_line(
        nvim, "there is no goose on PATH: install it, see https://github.com/aaif-goose/goose"
    )
    nvim.keys(":Eca server one<CR>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    say(nvim, "hello")
    wait_line(nvim, "Stop me with")
    assert nvim.lua("return require('eca').chats()[1].server_name") == "one"
    # Now it has messages: it stays.
    nvim.keys(":Eca server two<CR>")
    nvim.wait_screen("this chat stays with one: :Eca new starts one with two")
    chat = nvim.lua("return require('eca').send('hello', { server = 'two' })")
    nvim.wait_until("#require('eca').chats() == 2")
    nvim.wait_for(lambda: "Stop me with" in "\n".join(nvim.lua(LINES, chat)), "an answer")
    assert nvim.lua("return require('eca').chats()[2].server_name") == "two"


def test_the_panel_has_all_known_servers_and_marks_the_one_that_answers(
    start_nvim: StartNeovim, tmp_path: Path
) -> None:
    (tmp_path / "qwen").touch(0o755)
    nvim = start_nvim(settings={"server": "demo"}, columns=80, lines=60)
    nvim.lua("vim.env.PATH = ...", str(tmp_path))
    nvim.keys(":Eca server<CR>")
    nvim.wait_screen("● here")
    rows = nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)")
    assert [row.split()[:3] for row in rows[:3]] == [
        ["here", "qwen", str(tmp_path / "qwen")],
        ["here", "acp-demo"],
        ["●", "here", "demo"],
    ]
    for name, it in sorted(KNOWN.items()):
        assert name == "qwen" or any(name in row and it.install in row for row in rows)
    nvim.keys("<CR>")
    nvim.wait_screen("new chats talk to qwen")
    nvim.wait_until("vim.startswith(vim.api.nvim_get_current_line(), '● here')")


@pytest.mark.parametrize("server", ["eca", "demo", "acp-demo"])
@pytest.mark.parametrize("there", [[], ["gemini", "codex-acp"]])
def test_the_first_screen_says_why_the_demo_agent_answers(
    start_nvim: StartNeovim, tmp_path: Path, there: list[str], server: str
) -> None:
    for program in there:
        (tmp_path / program).touch(0o755)
    nvim = start_nvim(settings={"server": server}, columns=110)
    nvim.lua("vim.env.PATH = ...", str(tmp_path))
    nvim.keys(":EcaChat<CR>")
    wait_line(nvim, "Say `hello` to see what I can do.")
    reason = [line for line in lines_of(nvim) if "This is a demo" in line]
    if server != "eca":
        assert reason == []
    elif there:
        (line,) = reason
        assert line.endswith(
            "Installed: codex, gemini. Try `:Eca server codex`, or `:Eca install eca`"
        )
    else:
        (line,) = reason
        assert line.endswith("`:Eca install eca` gets it; `:Eca server` lists agents.")


def test_what_an_earlier_host_has_drawn_stays_with_another_server(nvim: Neovim) -> None:
    """The next host knows nothing of it: the chat is empty there, and goes where it is sent."""
    nvim.check_errors = False
    nvim.keys(":EcaChat<CR>")
    say(nvim, "hello there")
    wait_line(nvim, "Stop me with")
    os.kill(host_of(nvim), signal.SIGKILL)
    wait_line(nvim, "the plugin host ended")
    nvim.keys(":Eca restart<CR>:EcaChat<CR>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    nvim.keys(":Eca server two<CR>")
    nvim.wait_until("require('eca').status().server_name == 'two'")
    say(nvim, "hello again")
    nvim.wait_for(lambda: "\n".join(lines_of(nvim)).count("Stop me with") == 2, "both answers")
    assert "hello there" in lines_of(nvim)

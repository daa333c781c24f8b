"""Servers of every generation, with the whole plugin: keys in, screens out."""

from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.generations.prepared import GENERATIONS, prepare, strange
from tests.support.processes import wait_gone
from tests.support.servers import ScriptedServer
from tests.support.workspace import FILES
from tests.ui.talk import lines_of, prompts, say, start_chat, wait_idle, wait_line

pytestmark = pytest.mark.either_nvim

every = pytest.mark.parametrize("name", GENERATIONS)
with_tools = pytest.mark.parametrize("name", GENERATIONS[1:])
older = pytest.mark.parametrize("name", GENERATIONS[:3])

WAITING = "#require('eca').pending() == 1"
NONE_WAITS = "#require('eca').pending() == 0"
PLUS = "def plus(a, b):"

DIAGNOSE = """
vim.fn.writefile({ 'né😀 = 1' }, 'src/calc.py')
vim.cmd.badd('src/calc.py')
local buffer = vim.fn.bufnr('src/calc.py')
vim.fn.bufload(buffer)
local place = { lnum = 0, col = 8, end_lnum = 0, end_col = 10, message = 'no' }
vim.diagnostic.set(vim.api.nvim_create_namespace('test'), buffer, { place })
"""
"""A finding behind characters of two and four bytes, one and two UTF-16 code units."""


@pytest.fixture
def server(name: str, tmp_path: Path) -> ScriptedServer:
    """Prepare the server of the generation that is asked for."""
    return prepare(name, tmp_path)


@pytest.fixture
def nvim(start_nvim: StartNeovim, server: ScriptedServer) -> Neovim:
    """Open a chat with it."""
    return start_chat(start_nvim, server, settings={"approval": {"guard": 0}})


def calc(workspace: Path) -> str:
    """Read the file that is changed."""
    return (workspace / "src/calc.py").read_text()


def stream(nvim: Neovim, count: int) -> None:
    """Have the turn that is the given one of its kind in the transcript."""
    say(nvim, "stream")
    nvim.wait_for(lambda: times(nvim, "One, two, three.") == count, f"answer {count}")
    wait_idle(nvim)


def times(nvim: Neovim, text: str) -> int:
    """Count the lines of the transcript that have a text in them."""
    return sum(text in line for line in lines_of(nvim))


@every
def test_a_conversation(nvim: Neovim, server: ScriptedServer) -> None:
    stream(nvim, 1)
    stream(nvim, 2)
    nvim.wait_screen("One, two, three.")
    assert times(nvim, "stream") == 2
    assert len(nvim.lua("return require('eca').chats()")) == 1
    assert "Error" not in nvim.messages()
    nvim.quit()
    assert strange(server) == []


@every
def test_an_approval_changes_the_file(
    nvim: Neovim, server: ScriptedServer, workspace: Path
) -> None:
    say(nvim, "edit")
    nvim.wait_until(WAITING)
    nvim.wait_screen("edit src/calc.py +1 -1")
    nvim.wait_screen(f"+{PLUS}")
    assert calc(workspace) == FILES["src/calc.py"]
    nvim.keys(":Eca approve<CR>")
    wait_idle(nvim)
    assert calc(workspace) == FILES["src/calc.py"].replace("def add(a, b):", PLUS)
    assert times(nvim, "✓ edit src/calc.py +1 -1") == 1
    nvim.wait_until(NONE_WAITS)
    stream(nvim, 1)
    nvim.quit()
    assert strange(server) == []


@every
def test_a_rejection_leaves_the_file(nvim: Neovim, workspace: Path) -> None:
    say(nvim, "edit")
    nvim.wait_until(WAITING)
    nvim.keys(":Eca reject<CR>")
    wait_idle(nvim)
    assert times(nvim, "edit src/calc.py +1 -1 rejected") == 1
    assert calc(workspace) == FILES["src/calc.py"]


@every
def test_the_change_is_shown_as_a_diff(nvim: Neovim) -> None:
    say(nvim, "edit")
    nvim.wait_until(WAITING)
    nvim.keys("<C-w>k/edit src<CR>gd")
    nvim.wait_until("vim.wo.diff")
    screen = nvim.wait_screen(PLUS)
    assert "def add(a, b):" in screen
    nvim.keys("a")
    wait_idle(nvim)


@with_tools
def test_models_and_agents_are_chosen(nvim: Neovim, server: ScriptedServer) -> None:
    nvim.wait_screen("claude-sonnet-4")
    nvim.keys(":Eca model openai/gpt-5<CR>:Eca agent plan<CR>")
    nvim.wait_screen("gpt-5")
    say(nvim, "ask")
    wait_line(nvim, "'model': 'openai/gpt-5'")
    wait_line(nvim, "'plan'")
    wait_idle(nvim)
    nvim.quit()
    assert strange(server) == []


@with_tools
def test_a_server_begins_with_the_agent_that_was_chosen_last(
    nvim: Neovim, server: ScriptedServer
) -> None:
    nvim.wait_screen("claude-sonnet-4")
    nvim.keys(":Eca agent plan<CR>")
    nvim.wait_screen("plan")
    nvim.keys(":Eca restart<CR>")
    nvim.wait_for(lambda: len(server.received("initialized")) == 2, "another server")
    first, second = [it["params"] for it in server.received("initialize")]
    key = "chatAgent" if server.journal.stem == "today" else "chatBehavior"
    assert "initializationOptions" not in first
    assert second["initializationOptions"][key] == "plan"
    nvim.wait_until("require('eca').status().agent == 'plan'")


@pytest.mark.parametrize("name", ["behaviors", "tool_servers"])
def test_what_the_server_forbids_or_cannot_remember_is_told(
    nvim: Neovim, server: ScriptedServer
) -> None:
    say(nvim, "forbidden")
    wait_line(nvim, "edit rejected by the server's configuration")
    wait_idle(nvim)
    say(nvim, "edit")
    nvim.wait_until(WAITING)
    screen = nvim.wait_screen(f"+{PLUS}")
    assert ("always" in screen) is (server.journal.stem == "tool_servers")
    nvim.keys(":Eca reject<CR>")
    wait_idle(nvim)


@older
def test_an_emptied_chat_begins_from_nothing(nvim: Neovim, server: ScriptedServer) -> None:
    stream(nvim, 1)
    nvim.wait_until("require('eca').status().tokens ~= nil")
    nvim.keys(":Eca! clear<CR>")
    nvim.wait_for(lambda: times(nvim, "One") == 0, "an empty chat")
    nvim.wait_until("require('eca').status().tokens == nil")
    welcomes = server.journal.stem != "first_draft"
    nvim.wait_for(lambda: times(nvim, "Welcome of old!") == welcomes, "the welcome")
    nvim.quit()
    assert strange(server) == []


@with_tools
def test_a_turn_is_stopped(nvim: Neovim) -> None:
    say(nvim, "wait")
    wait_line(nvim, "I wait.")
    nvim.keys("<C-c>")
    wait_idle(nvim)
    stream(nvim, 1)


@pytest.mark.parametrize("name", ["behaviors"])
def test_after_a_silent_stop_and_a_login_turns_end(
    start_nvim: StartNeovim, tmp_path: Path, name: str
) -> None:
    server = prepare(name, tmp_path, "mute-stop")
    nvim = start_chat(start_nvim, server)
    say(nvim, "wait")
    wait_line(nvim, "I wait.")
    nvim.keys("<C-c>")
    wait_line(nvim, "The server did not confirm the stop; the turn is ended here.")
    stream(nvim, 1)
    say(nvim, "login")
    nvim.wait_until("require('eca').status().state == 'login'")
    nvim.keys(":Eca answer stream<CR>")
    nvim.wait_for(lambda: times(nvim, "One, two, three.") == 2, "an answer after the login")
    wait_idle(nvim)
    stream(nvim, 3)
    assert prompts(server) == ["wait", "stream", "login", "stream", "stream"]


@pytest.mark.whole_start
@pytest.mark.parametrize("name", ["behaviors"])
def test_a_server_ends_its_own_servers_after_neovim(
    start_nvim: StartNeovim, tmp_path: Path, name: str
) -> None:
    server = prepare(name, tmp_path, "late-end")
    nvim = start_chat(start_nvim, server)
    nvim.wait_until("require('eca').status().server == 'ready'")
    family = nvim.child.family()
    nvim.quit()
    assert not wait_gone(family, 60)
    assert "(ended)" in [it["method"] for it in server.received()]


@pytest.mark.parametrize("name", GENERATIONS[1:3])
def test_what_cannot_steer_is_sent_next(nvim: Neovim, server: ScriptedServer) -> None:
    say(nvim, "wait")
    wait_line(nvim, "I wait.")
    say(nvim, "stream")
    nvim.wait_screen("this server cannot be steered: your prompt is queued")
    queue = "return require('eca.state.mirror').chat(require('eca').current()).queue"
    assert nvim.lua(queue) == [["queue", "stream"]]
    nvim.keys("<C-c>")
    wait_line(nvim, "One, two, three.")
    wait_idle(nvim)
    assert prompts(server) == ["wait", "stream"]
    assert strange(server) == []


@pytest.mark.parametrize("name", GENERATIONS[3:])
def test_diagnostics_reach_the_server(nvim: Neovim, server: ScriptedServer) -> None:
    nvim.lua(DIAGNOSE)
    say(nvim, "look")
    found = "{'start': {'line': 1, 'character': 6}, 'end': {'line': 1, 'character': 8}}"
    wait_line(nvim, f"I see [[{found}], [{found}], -32602].")


@older
def test_what_is_absent_is_said_once(nvim: Neovim, server: ScriptedServer) -> None:
    stream(nvim, 1)
    nvim.keys(":Eca trust on<CR>")  # what the server cannot do, the plugin does for it
    nvim.wait_screen("trust on: tools of this chat run WITHOUT ASKING")
    stream(nvim, 2)
    assert nvim.lua("return require('eca').status().trust")
    nvim.keys(":Eca resume<CR>")
    nvim.wait_screen("this server cannot list its saved chats")
    nvim.keys(":Eca rename Another<CR>")
    nvim.wait_screen("this server cannot rename chats")
    stream(nvim, 3)
    nvim.quit()
    assert strange(server) == []


@every
def test_a_chat_is_emptied(nvim: Neovim, server: ScriptedServer) -> None:
    stream(nvim, 1)
    nvim.keys(":Eca! clear<CR>")
    nvim.wait_for(lambda: times(nvim, "One") == 0, "an empty chat")
    stream(nvim, 1)
    assert [len(it["params"]["message"]) for it in server.received("chat/prompt")] == [6, 6]


@pytest.mark.parametrize("name", ["first_draft"])
class TestTheFirstDraft:
    """What only servers of the first draft do."""

    def test_a_connection_error_is_shown(self, nvim: Neovim) -> None:
        say(nvim, "fail")
        wait_line(nvim, "No route to gpt-4")
        wait_idle(nvim)
        stream(nvim, 1)

    def test_a_change_without_approval_is_made_and_can_be_undone(
        self, nvim: Neovim, workspace: Path
    ) -> None:
        say(nvim, "write")
        wait_idle(nvim)
        wait_line(nvim, "Change new/notes.txt")
        wait_line(nvim, "✓ write new/notes.txt +2 -0")
        assert (workspace / "new/notes.txt").read_text() == "one\ntwo\n"

    def test_an_open_buffer_follows_a_change(self, nvim: Neovim) -> None:
        nvim.keys("<C-w>h:edit src/calc.py<CR><C-w>l")
        say(nvim, "edit")
        nvim.wait_until(WAITING)
        nvim.keys(":Eca approve<CR>")
        nvim.wait_until(f"vim.fn.getbufline('src/calc.py', 1)[1] == '{PLUS}'")

    def test_the_deletion_of_a_file_is_called_so(self, nvim: Neovim, workspace: Path) -> None:
        say(nvim, "delete")
        nvim.wait_until(WAITING)
        nvim.wait_screen("delete src/calc.py")
        nvim.keys(":Eca approve<CR>")
        wait_line(nvim, "✓ delete src/calc.py +0 -")
        assert not (workspace / "src/calc.py").exists()

    def test_a_stop_drops_the_proposal(self, nvim: Neovim, workspace: Path) -> None:
        say(nvim, "edit")
        nvim.wait_until(WAITING)
        nvim.keys("<C-c>")
        wait_idle(nvim)
        nvim.wait_until(NONE_WAITS)
        assert calc(workspace) == FILES["src/calc.py"]
        stream(nvim, 1)

"""Earlier chats and changed histories: recorded sessions, through the whole plugin."""

import os
import signal
from pathlib import Path

import pytest
from tests.support import script
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.golden import assert_golden
from tests.support.recording import Event
from tests.support.servers import Replay
from tests.ui.recorded import told
from tests.ui.remembered import Reader, also, keep, play
from tests.ui.talk import catch_up, draft, host_of, lines_of, wait_kept, wait_line

pytestmark = pytest.mark.either_nvim

GOLDEN = Path(__file__).parent / "golden" / "history"
HELLO = "How can I help you today?"
MAY_SAY = {"chat/selectedModelChanged", "chat/selectedAgentChanged"}


class Relive:
    """Plays recordings to the plugin, and compares all chats with a golden file at the end."""

    def __init__(self, start_nvim: StartNeovim, folder: Path) -> None:
        self._start = start_nvim
        self._folder = folder
        self._replay: Replay

    def begin(self, name: str, events: list[Event]) -> Reader:
        """Start Neovim with the player of these events as the server."""
        self._name = name
        self._replay = play(name, events, self._folder)
        settings = {"server": {"command": self._replay.command}}
        self._reader = Reader(self._start(settings=settings, columns=120, lines=40))
        return self._reader

    def end(self) -> None:
        """Compare, and hold the client to what was recorded."""
        nvim = self._reader.nvim
        assert_golden(told(nvim), GOLDEN / f"{self._name}.txt")
        self._replay.assert_as_recorded(nvim)
        report = self._replay.report() or {}
        assert not set(report["unexpected"]) - MAY_SAY


@pytest.fixture
def relive(start_nvim: StartNeovim, tmp_path: Path) -> Relive:
    return Relive(start_nvim, tmp_path)


def test_list_open(relive: Relive) -> None:
    """A chat of an earlier session is resumed with its newest page, then paged to its beginning."""
    reader = relive.begin("list_open", keep("list_open", 5, 12, 15, 8, 10))
    reader.nvim.keys(":EcaChat<CR>:Eca resume<CR>")
    labels = reader.choose("Resume", "7 messages · mock/mock-1")
    assert [label.split("  ")[0] for label in labels] == ["Mock chat title"] * 2
    reader.until_said("▴ older messages (5 of 7)")
    reader.until("#require('eca').chats() == 1")
    assert reader.nvim.lua("return require('eca').status().title") == "Mock chat title"
    reader.go_to("▴ older messages")
    reader.nvim.keys("<CR>")
    reader.until_said("▴ older messages (3 of 7)")
    assert "think" in reader.lines()
    reader.nvim.keys(":Eca resume<CR>")
    reader.choose("Resume", "2 messages · mock/mock-2")
    reader.until_answered(HELLO)
    status = reader.nvim.lua("return require('eca').status()")
    assert (status["model"], status["trust"]) == ("mock/mock-2", False)
    relive.end()


def test_without_the_host_older_messages_say_how_to_load_them(relive: Relive) -> None:
    reader = relive.begin("list_open", keep("list_open", 5, 12, 15, 8, 10))
    reader.nvim.keys(":EcaChat<CR>:Eca resume<CR>")
    reader.choose("Resume", "7 messages · mock/mock-1")
    reader.until_said("▴ older messages (5 of 7)")
    os.kill(host_of(reader.nvim), signal.SIGKILL)
    reader.until_said("▴ older messages, not loaded: :Eca restart, then :Eca resume")
    reader.nvim.wait_screen("the plugin host")
    reader.nvim.take_errors()


def test_rollback(relive: Relive) -> None:
    """Files alone, of which no server is asked, then messages: the text returns to the input."""
    reader = relive.begin("rollback", keep("rollback", 2, 3, 4, 6))
    reader.prompt("hello first")
    reader.until_answered(HELLO)
    edit = "edit /workspace/src/calc.py return a - b=>return a-b"
    reader.prompt(edit)
    reader.until("#require('eca').pending() == 1")
    reader.nvim.keys(":Eca approve<CR>")
    reader.until_answered("Tool said: Successfully")
    reader.prompt("hello third")
    reader.until_answered(HELLO, 2)
    reader.go_to("Tool said")
    reader.nvim.keys("gu")
    reader.choose('Roll back to before "edit ', "files: ")
    reader.nvim.wait_screen("no file to restore")
    reader.nvim.keys(":EcaChat<CR>imore to say<Esc>")
    reader.go_to("return a - b=>")
    reader.nvim.keys(":Eca rollback<CR>")
    reader.choose('Roll back to before "edit ', "messages: ")
    reader.until_gone("hello third")
    given_back = f"{reader.here(edit)}\nmore to say"
    reader.until_drafted(given_back)
    wait_kept(reader.nvim, "more to say")
    wait_kept(reader.nvim, "return a-b")
    reader.nvim.keys(":Eca toggle<CR>:Eca toggle<CR>")
    catch_up(reader.nvim)
    assert reader.draft() == given_back
    relive.end()


def test_fork_flags(relive: Relive) -> None:
    """Flags are set and removed in place; a fork before a prompt puts it into the input."""
    chat, prompt = "815ffefe-d2a2-4986-9656-ffa7c46b9243", "057b6658-d43c-4075-8d2a-b073e8a3c482"
    asked = {"chatId": chat, "contentId": prompt, "include": ["messages"]}
    cleared = {"chatId": chat, "messages": True}
    events = also(
        keep("fork_flags", 2, 3, 4, 5, 6, 8, 9),
        9,
        {"jsonrpc": "2.0", "id": 900, "method": "chat/rollback", "params": asked},
        {"jsonrpc": "2.0", "method": "chat/cleared", "params": cleared},
        {"jsonrpc": "2.0", "id": 900, "result": {}},
    )
    reader = relive.begin("fork_flags", events)
    for number, text in enumerate(("hello one", "read /workspace/src/calc.py", "hello three")):
        reader.prompt(text)
        reader.until_answered("print(add(1, 2))" if number == 1 else HELLO, 2 if number == 2 else 1)
    reader.go_to(reader.here("read /workspace/src"))
    reader.nvim.keys(":Eca flag my flag<CR>")
    reader.until_said("⚑ my flag")
    reader.go_to("read src/calc.py")
    reader.nvim.keys(":Eca flag tool flag<CR>")
    reader.until_said("⚑ tool flag")
    reader.nvim.keys("gg]f")
    assert reader.nvim.eval("getline('.')") == "⚑ my flag"
    reader.nvim.keys("]f[f")
    assert reader.nvim.eval("getline('.')") == "⚑ my flag"
    reader.nvim.keys("gm")
    reader.until_gone("my flag")
    reader.go_to(reader.here("read /workspace/src"))
    reader.nvim.keys("gb")
    reader.until("require('eca').status().title == 'Mock chat title (2)'")
    reader.until_gone("read")
    reader.until_drafted(reader.here("read /workspace/src/calc.py"))
    relive.end()


def test_clear_delete_update(relive: Relive) -> None:
    """A chat is renamed, emptied, talked in again and deleted; another one while it runs."""
    reader = relive.begin(
        "clear_delete_update", keep("clear_delete_update", 2, 3, 8, 12, 13, 16, 19, 20)
    )
    reader.prompt("hello")
    reader.until_answered(HELLO)
    reader.nvim.keys(":Eca rename My custom title<CR>")
    reader.until("require('eca').status().title == 'My custom title'")
    reader.nvim.keys(":Eca clear<CR>")
    assert reader.choose('Clear "My custom title" for good?', "Clear") == ["Clear", "Keep"]
    reader.until_gone("hello")
    reader.prompt("hello after clear")
    reader.until_answered(HELLO)
    reader.nvim.keys(":Eca delete!<CR>")
    reader.until("#require('eca').chats() == 0")
    reader.nvim.keys(":Eca resume<CR>")
    reader.until("vim.fn.execute('messages'):find('no saved chats')")
    reader.prompt("slow 20")
    reader.until_said("tick 5")
    reader.nvim.keys(":Eca new<CR>:Eca chats 2<CR>:Eca delete!<CR>")
    reader.until("#require('eca').chats() == 1")
    relive.end()


def test_sort_by(relive: Relive) -> None:
    """The newest comes first in the picker; what is open already is just shown."""
    reader = relive.begin("sort_by", keep("sort_by", 2, 3, 4, 5))
    reader.prompt("hello")
    reader.until_answered(HELLO)
    reader.nvim.keys(":Eca new<CR>")
    reader.prompt("hello")
    reader.until_answered(HELLO)
    reader.nvim.keys(":Eca chats 1<CR>")
    reader.prompt("hello again")
    reader.until_answered(HELLO, 2)
    reader.nvim.keys(":Eca resume<CR>")
    labels = reader.choose("Resume", "2 messages")
    assert ["4 messages" in label for label in labels] == [True, False]
    assert all(" · open · " in label for label in labels)
    reader.until_answered(HELLO)
    relive.end()


def test_selections(relive: Relive) -> None:
    """A choice is sent for its chat; the server's answer is shown."""
    reader = relive.begin("selections", keep("selections", 2, 3))
    reader.nvim.keys(":EcaChat<CR>")
    reader.until("require('eca').status().model == 'mock/mock-1'")
    reader.nvim.keys(":Eca agent plan<CR>")
    reader.prompt("hello")
    reader.until_answered(HELLO)
    reader.nvim.keys(":Eca model mock/mock-reason<CR>:Eca agent code<CR>")
    reader.until("require('eca').status().agent == 'code'")
    reader.prompt("hello (no model param)")
    reader.until_answered(HELLO, 2)
    assert reader.nvim.lua("return require('eca').status().model") == "mock/mock-reason"
    relive.end()


def test_agent_persist(relive: Relive) -> None:
    """A chat is resumed by its id alone, and goes on with what it had."""
    reader = relive.begin("agent_persist", keep("agent_persist", 3, 4))
    reader.nvim.lua("require('eca').open({ chat = 'c-ap' })")
    reader.until_answered(HELLO)
    status = reader.nvim.lua("return require('eca').status()")
    assert (status["model"], status["variant"]) == ("mock/mock-reason", "high")
    reader.prompt("hello")
    reader.until_answered(HELLO, 2)
    relive.end()


def test_custom_agents(relive: Relive) -> None:
    """The agent of a chat of an earlier session is its own, a custom one too."""
    reader = relive.begin("custom_agents", keep("custom_agents", 4))
    reader.nvim.lua("require('eca').open({ chat = 'c-cu' })")
    reader.until_answered(HELLO, 2)
    reader.until("require('eca').status().agent == 'custom'")
    relive.end()


def test_a_long_history_that_comes_whole(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    """The window shows its end; the rest follows above, and moves nothing."""
    turns = [
        script.text(f"\nask {at}", role="user") + script.text(f"\nsay {at}\nof {at}\n")
        for at in range(300)
    ]
    history = (*turns, script.reply("chat/open", {"found": True, "title": "Long"}))
    server = scripted_server(script.handshake(), script.expect("chat/open"), *history)
    nvim = start_nvim(settings={"server": {"command": server.command}}, columns=80)
    nvim.keys(":lua require('eca').open({ chat = 'kept' })<CR>ityped")
    wait_line(nvim, "ask 0")
    catch_up(nvim)
    shown = [line for line in lines_of(nvim) if line]
    assert shown == [it for at in range(300) for it in (f"ask {at}", f"say {at}", f"of {at}")]
    nvim.wait_screen(lambda screen: "of 299" in screen and "ask 298" in screen)
    assert draft(nvim) == "typed"

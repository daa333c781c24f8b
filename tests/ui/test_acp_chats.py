"""Chats of an ACP agent that go on: after its death, that of the host, and in other Neovims."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgpack
import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.servers import module_command
from tests.ui.remembered import Reader
from tests.ui.talk import host_of, lines_of, say, wait_idle, wait_kept, wait_line

pytestmark = pytest.mark.either_nvim


def start(start_nvim: StartNeovim, folder: Path, *unknown: str) -> Neovim:
    """Start a Neovim with an agent that keeps its sessions in a folder; `unknown`: its lacks."""
    sessions = folder / "sessions"
    sessions.mkdir(exist_ok=True)
    command = module_command("tests.support.acp_keeper", str(sessions), *unknown)
    servers = {"keeper": {"command": command, "protocol": "acp"}}
    state = {"XDG_STATE_HOME": str(folder / "state")}
    settings = {"server": "keeper", "servers": servers}
    nvim = start_nvim(settings=settings, columns=120, lines=40, environment=state)
    nvim.keys(":EcaChat<CR>")
    return nvim


def journal(folder: Path) -> list[str]:
    """Return what the agents were asked for, with the id of the session."""
    return [f"{it['method']} {it['params'].get('sessionId', '')}" for it in report(folder)]


def report(folder: Path) -> list[dict[str, Any]]:
    """Return the messages that the agents got."""
    return [*map(json.loads, (folder / "sessions" / "report").read_text().splitlines())]


@pytest.fixture(autouse=True)
def what_agents_got_is_valid(tmp_path: Path) -> Iterator[None]:
    yield
    from tests.support.acp_models import MODELS, faults

    assert {it["method"] for it in report(tmp_path)} <= MODELS.keys()
    assert not [*faults(report(tmp_path))]


def talk(nvim: Neovim, text: str, number: int) -> None:
    say(nvim, text)
    wait_line(nvim, f"reply {number} to: {text}")


def kill_agent(nvim: Neovim) -> None:
    """Kill the only agent of a Neovim."""
    [agent] = [
        pid
        for pid in nvim.child.family()
        if b"acp_keeper" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]
    os.kill(agent, signal.SIGKILL)


def wait_used(nvim: Neovim, session: str) -> None:
    """Wait until it was saved that this Neovim uses a session."""
    state = Path(nvim.eval("$XDG_STATE_HOME"))

    def is_saved() -> bool:
        stores = [msgpack.unpackb(it.read_bytes()) for it in state.rglob("*.msgpack")]
        used = [it for store in stores for it in store["sessions"].values()]
        return any(session in it and nvim.pid in it for it in used)

    nvim.wait_for(is_saved, f"{session} to be used")


def resume(nvim: Neovim, title: str) -> list[str]:
    """Resume a saved chat; returns what was offered."""
    nvim.keys(":Eca resume<CR>")
    return Reader(nvim).choose("Resume", title)


def test_a_chat_goes_on_whatever_ends(start_nvim: StartNeovim, tmp_path: Path) -> None:
    nvim = start(start_nvim, tmp_path)
    talk(nvim, "one", 1)
    wait_idle(nvim)
    talk(nvim, "hang", 2)
    kill_agent(nvim)
    wait_line(nvim, "the agent ended, signal 9")
    talk(nvim, "three", 3)
    wait_idle(nvim)
    assert journal(tmp_path).count("session/resume kept-1") == 1
    wait_kept(nvim, "kept-1")  # else the next host does not know the session
    os.kill(host_of(nvim), signal.SIGKILL)
    nvim.wait_screen("the plugin host")
    nvim.take_errors()
    nvim.keys("<Esc>:Eca restart<CR>:Eca agent plan first<CR>")
    nvim.wait_until("require('eca').status().agent == 'Plan first'")
    assert journal(tmp_path).count("session/resume kept-1") == 2
    talk(nvim, "four", 4)
    wait_idle(nvim)
    nvim.finish()
    assert journal(tmp_path).count("session/new ") == 1

    later = start(start_nvim, tmp_path)
    [offered] = resume(later, "one")
    assert offered.startswith("one")
    wait_line(later, "reply 4 to: four")
    assert [line for line in lines_of(later) if line.startswith("reply")] == [
        *("reply 1 to: one", "reply 2 to: hang", "reply 3 to: three", "reply 4 to: four")
    ]
    talk(later, "five", 5)
    wait_idle(later)
    wait_used(later, "kept-1")

    other = start(start_nvim, tmp_path)
    resume(other, "one")
    wait_line(other, "Another Neovim uses this chat, too")
    talk(other, "six", 6)
    wait_idle(other)
    assert "Another Neovim" not in "\n".join(lines_of(later))
    other.finish()

    later.keys(":Eca fork<CR>")
    later.wait_until("#require('eca').chats() == 2")
    wait_line(later, "reply 6 to: six")
    talk(later, "elsewhere", 7)
    wait_idle(later)
    later.keys(":Eca delete!<CR>")
    later.wait_until("#require('eca').chats() == 1")
    [copy] = [it.split()[1] for it in journal(tmp_path) if it.startswith("session/delete")]
    later.wait_for(lambda: f"session/close {copy}" in journal(tmp_path), "the copy to be closed")
    assert not (tmp_path / "sessions" / f"{copy}.json").exists()
    assert (tmp_path / "sessions" / "kept-1.json").exists()


@pytest.mark.parametrize("when", ["early", "late", "twice"])
@pytest.mark.parametrize("unknown", ["load", "resume"])
def test_what_was_said_is_shown_once_however_the_agent_replays_it(
    start_nvim: StartNeovim, tmp_path: Path, unknown: str, when: str
) -> None:
    """Fast-agent replays what it resumes, and gemini goes on after its answer."""
    nvim = start(start_nvim, tmp_path, unknown, when)
    talk(nvim, "one", 1)
    wait_idle(nvim)
    nvim.keys(":Eca restart<CR>")
    talk(nvim, "two", 2)
    wait_idle(nvim)
    kill_agent(nvim)
    wait_line(nvim, "the agent ended, signal 9")
    talk(nvim, "three", 3)
    wait_idle(nvim)
    said = ["one", "reply 1 to: one", "two", "reply 2 to: two", "three", "reply 3 to: three"]
    assert words(nvim) == said
    wait_kept(nvim, "kept-1")
    nvim.finish()

    later = start(start_nvim, tmp_path, unknown, when)
    resume(later, "one")
    wait_line(later, "reply 3 to: three")
    talk(later, "four", 4)
    wait_idle(later)
    assert words(later) == [*said, "four", "reply 4 to: four"]


def test_a_chat_comes_back_in_its_mode_after_the_host_was_killed(
    start_nvim: StartNeovim, tmp_path: Path
) -> None:
    nvim = start(start_nvim, tmp_path)
    nvim.keys("<Esc>:Eca agent plan first<CR>")
    nvim.wait_until("require('eca').status().agent == 'Plan first'")
    nvim.keys("<Esc>G")
    talk(nvim, "one", 1)
    wait_idle(nvim)
    wait_kept(nvim, "kept-1")
    os.kill(host_of(nvim), signal.SIGKILL)
    nvim.wait_screen("the plugin host")
    nvim.take_errors()
    nvim.keys("<Esc>:Eca restart<CR>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    talk(nvim, "two", 2)
    wait_idle(nvim)
    assert nvim.lua("return require('eca').status().agent") == "Plan first"
    asked = journal(tmp_path)
    assert asked.index("session/set_mode kept-1", asked.index("session/resume kept-1"))


def words(nvim: Neovim) -> list[str]:
    """Return what the chat shows of what was said, without the ends of agents."""
    return [it for it in lines_of(nvim) if it and not it.startswith("the agent")]


def back(nvim: Neovim, prompt: str) -> None:
    """Go back to before a prompt, by gu on it."""
    nvim.keys("<Esc>:EcaChat<CR><Esc><C-w>k")
    nvim.keys(f"G?^{prompt}$<CR>")
    reader = Reader(nvim)
    nvim.input("gu")
    choice = "messages: remove them, and start a new session with the rest"
    assert choice in reader.choose(f'Roll back to before "{prompt}"', choice)
    wait_line(nvim, "The agent goes on in a new session")


def said_in(folder: Path, session: str) -> list[str]:
    """Return what was said in a session, as its agent keeps it."""
    kept = json.loads((folder / "sessions" / f"{session}.json").read_text())
    return [it["content"]["text"] for it in kept["said"]]


def test_back_with_an_agent_that_cannot_and_what_was_said_before_later(
    start_nvim: StartNeovim, tmp_path: Path
) -> None:
    nvim = start(start_nvim, tmp_path)
    for number, prompt in enumerate(("one", "two", "three"), 1):
        talk(nvim, prompt, number)
        wait_idle(nvim)
    back(nvim, "two")
    assert words(nvim)[:2] == ["one", "reply 1 to: one"]
    assert not any("two" in line for line in words(nvim))
    kill_agent(nvim)
    wait_line(nvim, "the agent ended, signal 9")
    nvim.keys(":EcaChat<CR><Esc>ggdG")
    talk(nvim, "two again", 1)
    wait_idle(nvim)
    first, *rest = said_in(tmp_path, "kept-3")  # the second has ended with its agent
    assert "## User\n\none\n\n## Assistant\n\nreply 1 to: one" in first
    assert rest == ["two again", "reply 1 to: two again"]
    assert len(said_in(tmp_path, "kept-1")) == 6
    wait_kept(nvim, "kept-3")
    nvim.finish()

    later = start(start_nvim, tmp_path)
    assert len(resume(later, "one")) == 2
    wait_line(later, "reply 1 to: two again")
    wait_line(later, "what was said before, as the agent got it")
    back(later, "two again")
    later.keys(":EcaChat<CR><Esc>ggdG")
    talk(later, "three", 1)
    wait_idle(later)
    assert "reply 1 to: one" in said_in(tmp_path, "kept-5")[0]

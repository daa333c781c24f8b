"""A login that an ACP agent wants: by itself, in a terminal, cancelled, refused, used again."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.support import servers
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.talk import draft, lines_of, wait_idle, wait_line

pytestmark = pytest.mark.either_nvim

TERMINAL = {"type": "terminal", "args": ["login"], "env": {"FLAVOUR": "plain mint"}}
WAYS: list[dict[str, Any]] = [
    {"id": "sign", "name": "Sign in", "description": "in your browser"},
    {"id": "old", "name": "Old account", "description": "Run `agent login`"},
    {"id": "slow", "name": "Slow browser"},
    {"id": "term", "name": "In a terminal", **TERMINAL},
    {"id": "key", "name": "A key", "type": "env_var", "vars": [{"name": "NO_SUCH_KEY"}]},
]
ANSWER = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "At work."}}

RUN_LOGIN = """
local number, command, folder = ...
require('eca.view')
require('eca.panels.login_terminal').run({
  number = number,
  title = '100%{x}',
  command = command,
  environment = { NVIM = '', PATH = vim.env.PATH },
  folder = folder or '/',
})
"""


class LockedAgent:
    """An agent that wants a login; `refuses`: the methods that do not work without."""

    def __init__(self, folder: Path, *refuses: str) -> None:
        self._script, self._report = folder / "script.json", folder / "report.jsonl"
        self.command = servers.acp_agent(self._script, self._report)
        ways = {"sign": None, "old": [-32603, "this account\x1b[31m\nis closed"], "slow": "slow"}
        login = {"refuses": refuses, "ways": ways, "key": str(folder / "key")}
        can = {"authMethods": WAYS, "agentCapabilities": {"auth": {"logout": {}}}}
        turns = [[{"update": ANSWER}]] * 9
        script = {"initialize": can, "login": login, "turns": turns}
        self._script.write_text(json.dumps(script))

    def got(self, method: str) -> list[Any]:
        """Return the parameters of the messages of a method so far."""
        lines = self._report.read_text().splitlines() if self._report.exists() else []
        read = map(json.loads, lines)
        return [it["params"] for it in read if it.get("method") == method]

    def start(self, start_nvim: StartNeovim) -> Neovim:
        agents = {"locked": {"command": self.command, "protocol": "acp"}}
        settings = {"server": "locked", "servers": agents, "approval": {"guard": 0}}
        return start_nvim(settings=settings, columns=100, lines=40)


def wait_asked(nvim: Neovim, question: str) -> str:
    """Wait until the float asks a question; returns its text."""
    nvim.wait_until(
        f"(require('eca').pending()[1] or {{ title = '' }}).title:find({question!r}, 1, true)"
    )
    asked = nvim.lua("return require('eca').pending()[1]")
    assert isinstance(asked["detail"], str)
    return asked["detail"]


def test_an_agent_logs_in_by_itself(start_nvim: StartNeovim, tmp_path: Path) -> None:
    agent = LockedAgent(tmp_path, "session/new")
    nvim = agent.start(start_nvim)
    nvim.keys(":EcaChat hello<CR>")
    screen = nvim.wait_screen("How do you want to log in?")
    for shown in ("Authentication required", "1 Sign in  in your browser", "needs $NO_SUCH_KEY"):
        assert shown in screen
    assert nvim.lua("return require('eca').status().state") == "waiting"

    nvim.keys(":Eca login <Tab>")  # asks for the ways, and does not wait for them
    assert nvim.eval("getcmdline()") == "Eca login "
    nvim.wait_until("#require('eca.actions.servers').logins() > 0")
    nvim.keys("<Tab>")
    assert nvim.eval("getcmdline()") == "Eca login key"
    nvim.keys("<C-c>")

    nvim.keys(":Eca login old<CR>")
    wait_line(nvim, "Old account: this account is closed (Run `agent login`)")
    nvim.keys(":Eca login key<CR>")
    wait_line(nvim, "reads $NO_SUCH_KEY, which is not set")
    nvim.keys(":Eca login slow<CR>")
    wait_line(nvim, "logs in: Slow browser; :Eca stop in this chat cancels it.")
    nvim.wait_screen("acp_agent.py logs in: Slow browser")
    nvim.keys("<C-c>")
    nvim.wait_screen("> hello")
    wait_idle(nvim)
    nvim.wait_for(lambda: agent.got("$/cancel_request"), "the cancelled login")
    assert not agent.got("session/prompt")

    nvim.keys(":EcaChat<CR><C-s><Esc>")
    wait_asked(nvim, "How do you want to log in?")
    nvim.keys(":Eca approval<CR>1")
    wait_line(nvim, "At work.")
    wait_idle(nvim)
    [sent] = agent.got("session/prompt")
    assert sent["prompt"][0]["text"] == "hello"
    assert "You are logged in." in lines_of(nvim)

    nvim.keys(":Eca logout<CR>il<BS><Esc>")  # who types on is logged out all the same
    wait_line(nvim, "You are logged out.")
    assert agent.got("logout") == [{}]
    assert not draft(nvim)


def test_a_login_in_a_terminal(start_nvim: StartNeovim, tmp_path: Path) -> None:
    agent = LockedAgent(tmp_path, "session/prompt")
    nvim = agent.start(start_nvim)
    nvim.keys(":EcaChat hello<CR>")
    wait_asked(nvim, "How do you want to log in?")
    nvim.keys(":Eca login term<CR>")
    asked = wait_asked(nvim, "Run this program in a terminal")
    words = shlex.split(asked.splitlines()[1])
    assert words == ["FLAVOUR=plain mint", *agent.command, "login"]
    assert nvim.eval("tabpagenr('$')") == 1

    nvim.keys(":Eca approval<CR>1")
    nvim.wait_screen("Neovim: {}, flavour: plain mint, log in?")
    assert nvim.mode == "t"
    nvim.input("no\r")
    wait_line(nvim, "In a terminal: the program ended with exit code 3")
    wait_asked(nvim, "How do you want to log in?")
    nvim.wait_for(lambda: nvim.mode.startswith("n"), "the end of the terminal mode")
    nvim.wait_screen("Process exited 3")
    nvim.keys(":q<CR>")
    assert nvim.eval("tabpagenr('$')") == 1

    nvim.keys(":Eca login term<CR>")
    wait_asked(nvim, "Run this program in a terminal")
    nvim.keys(":Eca approval<CR>1")
    nvim.wait_screen("flavour: plain mint")
    nvim.keys("<C-\\><C-n>:tabclose<CR>")
    wait_line(nvim, "In a terminal: its terminal was closed")
    wait_asked(nvim, "How do you want to log in?")
    assert nvim.eval("tabpagenr('$')") == 1

    nvim.keys(":Eca login term<CR>")
    wait_asked(nvim, "Run this program in a terminal")
    nvim.keys(":Eca approval<CR>1")
    nvim.wait_screen("flavour: plain mint")
    nvim.input("yes\r")
    wait_line(nvim, "At work.")
    wait_idle(nvim)
    assert nvim.eval("tabpagenr('$')") == 1
    assert len(agent.got("initialize")) == 2
    texts = [it["prompt"][0]["text"] for it in agent.got("session/prompt")]
    assert texts == ["hello", "hello"]  # refused, and sent again


def test_the_terminal_takes_no_keys_of_somebody_who_types(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(columns=80, lines=24)
    nvim.keys(":EcaChat<CR>ihello")
    nvim.lua(RUN_LOGIN, 1, ["sh", "-c", "read x"])
    assert nvim.mode == "i"
    nvim.keys(" world<Esc>")
    nvim.wait_screen("hello world")
    nvim.keys("gt")
    nvim.wait_screen("login: 100%{x}")
    nvim.lua("require('eca.panels.login_terminal').finish(1)")  # it was cancelled
    assert nvim.eval("tabpagenr('$')") == 1
    assert nvim.mode == "n"

    nvim.lua(RUN_LOGIN, 2, ["/no/such"])
    nvim.wait_screen("cannot run /no/such: it is not found, or not executable")
    nvim.lua(RUN_LOGIN, 2, ["sh"], "/no/such/folder")
    nvim.wait_screen("cannot run sh: there is no folder /no/such/folder")
    assert nvim.eval("tabpagenr('$')") == 1

    nvim.lua(RUN_LOGIN, 3, ["sh", "-c", "read x"])
    nvim.wait_for(lambda: nvim.mode == "t", "the terminal")
    nvim.input("\r")
    nvim.wait_until("vim.fn.tabpagenr('$') == 1")
    nvim.wait_for(lambda: nvim.mode == "n", "the mode before")
    assert draft(nvim) == "hello world"

"""The host ends at once and in order, after the happy path of every feature.

One Neovim uses all of them, with a server and an agent of the other protocol, and quits. Which
subcommands, intents and requests of agents were used is recorded, not claimed: a new one that
nothing here uses fails the test.
"""

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.agents.acp.file_turns import read, write
from tests.agents.acp.scripted import Scripted
from tests.agents.acp.terminal_turns import KILL, READ, RELEASE, WAIT, asks, create, request, update
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.processes import adopting, command_line, statuses, wait_gone
from tests.ui.every_feature import FEATURES, PENDING, eca, prompt, wait_asked
from tests.ui.talk import host_of, say, wait_idle, wait_line

from eca_nvim.chat.vocabulary.intents import INTENTS
from eca_nvim.disk.private import KINDS
from eca_nvim.protocol.acp import AGENT_REQUESTS

pytestmark = [pytest.mark.either_nvim, pytest.mark.whole_start]

Value: TypeAlias = Any

AT_ONCE = 2.0
"""Seconds in which everything is gone after Neovim: 0.1 on an idle machine. It was 3 when the
guardian had to kill the host."""
RECORDER = """
_G.used = { subcommands = {}, intents = {} }
vim.ui.select = function(items, _, on_choice)
  on_choice(items[1], 1)
end
vim.ui.input = function(options, on_done)
  on_done(options.default or 'text')
end
local host = require('eca.host')
local send = host.send
host.send = function(name, ...)
  _G.used.intents[name] = true
  return send(name, ...)
end
_G.known = { subcommands = {} }
local keymaps, by_action = require('eca.keymaps'), {}
for name, subcommand in pairs(require('eca.commands.subcommands').by_name) do
  table.insert(_G.known.subcommands, name)
  by_action[subcommand.action or ''] = name
  local run = subcommand.run
  subcommand.run = run and function(...)
    _G.used.subcommands[name] = true
    if type(run) == 'string' then
      local module, member = run:match('^(.*)%.([%w_]+)$')
      return require('eca.' .. module)[member](...)
    end
    return run(...)
  end
end
local run_action = keymaps.run
keymaps.run = function(action, ...)
  _G.used.subcommands[by_action[action] or ''] = true
  return run_action(action, ...)
end
"""
"""Lua code for the start: records what is used; lists take their first item."""
USED = "local known, used = _G.known[...], _G.used[...] return { known, vim.tbl_keys(used) }"
ELSEWHERE = {
    "subcommands": {"install", "update", "uninstall", "health"},  # in processes of their own
    "intents": {
        *("attach", "drawn", "returned"),  # the ways of all others
        "image",  # needs a terminal with images
        "stop_message",  # the demo has written the message before anybody can stop it
    },
}
"""What this test does not use."""
LOGINS = [
    {"id": "sign", "name": "Sign in"},
    {"id": "term", "name": "In a terminal", "type": "terminal", "args": ["login"]},
]
FIELDS = {"one": {"type": "string"}, "two": {"type": "string"}}
DONE = update("tool_call_update", status="completed")
LONG = "a line\n" * 2000  # a text that is kept in a file
RUNS_ON = "sleep 600"
UNSENT = "words that were not sent"


def agent_script(workspace: Path) -> tuple[Sequence[Sequence[Value]], Value]:
    """Return turns of an agent of the other protocol with all of its requests, and its logins."""
    file = workspace / "a.txt"
    form = {"requestedSchema": {"properties": FIELDS, "required": [*FIELDS]}}
    asked = {"sessionId": "scripted", "mode": "form", "message": "Two things.", **form}
    command = [asks("echo x; read y"), create("echo x; read y"), request(READ), request(KILL)]
    turns = (
        [read(file), write(file, f"two\n{LONG}")],
        [*command, request(WAIT), request(RELEASE), DONE],
        [{"request": ["elicitation/create", asked]}],
        [asks(RUNS_ON), create(RUNS_ON), request(WAIT)],
    )
    login = {"ways": {"sign": None}, "key": str(workspace / "key")}
    can = {"authMethods": LOGINS, "agentCapabilities": {"auth": {"logout": {}}}}
    return turns, {"initialize": can, "login": login}


def log_in(nvim: Neovim) -> None:
    """Log in to the agent, out, and in again by a program in a terminal."""
    eca(nvim, "server sdk", "login sign")
    wait_line(nvim, "You are logged in.")
    eca(nvim, "logout")
    wait_line(nvim, "You are logged out.")
    eca(nvim, "login term")
    nvim.wait_until(PENDING)
    nvim.keys(":Eca approval<CR>1")
    nvim.wait_screen("Neovim: {}")
    nvim.input("yes\r")
    nvim.wait_until("vim.fn.tabpagenr('$') == 1")
    nvim.wait_until("require('eca').status().server == 'ready'")


def agent_asks(nvim: Neovim) -> None:
    """Answer all that the agent asks; its last command runs on."""
    prompt(nvim, "files", "choose 1")
    prompt(nvim, "a command", "approve")
    nvim.command("EcaChat")
    say(nvim, "a form")
    wait_asked(nvim, "one")
    nvim.command("Eca answer one")
    wait_asked(nvim, "two")
    nvim.lua("require('eca.input.decide').previous_field(require('eca.state.mirror').pending()[1])")
    wait_asked(nvim, "one")
    nvim.command("Eca answer one")
    wait_asked(nvim, "two")
    nvim.command("Eca answer two")
    wait_idle(nvim)
    nvim.command("EcaChat")
    say(nvim, "another command")
    nvim.wait_until(PENDING)
    nvim.command("Eca approve")
    nvim.wait_for(lambda: RUNS_ON in family_of(nvim).values(), "the command")


def family_of(nvim: Neovim) -> dict[int, str]:
    """Return the command lines of all processes but Neovim, by their ids."""
    return {pid: command_line(pid) for pid in nvim.child.family() - {nvim.pid}}


@contextmanager
def bridge(nvim: Neovim, scripted: Scripted) -> Iterator[None]:
    """Start our MCP server as the agent would, and wait until it answers."""
    [*_, made] = [it["params"] for it in scripted.report if it.get("method") == "session/new"]
    [told] = made["mcpServers"]
    command, variables = [told["command"], *told["args"]], nvim.launch.variables()
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=variables, stdin=pipe, stdout=pipe) as started:
        assert started.stdin is not None
        assert started.stdout is not None
        started.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        started.stdin.flush()
        assert b"result" in started.stdout.readline()
        yield


def private_folders(nvim: Neovim) -> set[str]:
    """Return the kinds of our private folders that there are."""
    names = [it.name for it in Path(nvim.launch.variables()["TMPDIR"]).iterdir()]
    return {kind for kind in KINDS if any(name.startswith(kind) for name in names)}


@pytest.fixture
def used(
    start_nvim: StartNeovim, quick_demo: list[str], workspace: Path, tmp_path: Path
) -> Iterator[Neovim]:
    """Start a Neovim in which every feature was used, and that has an unsent text."""
    subprocess.run(["git", "init", "--quiet"], cwd=workspace, check=True)
    program = tmp_path / "wl-paste"
    program.write_text("#!/bin/sh\nprintf '\\211PNG\\r\\n\\032\\n data'")
    program.chmod(0o755)
    (workspace / "a.txt").write_text(f"one\n{LONG}")
    scripted = Scripted(tmp_path)
    turns, more = agent_script(workspace)
    scripted.play(*turns, **more)
    sdk = {"command": scripted.command, "protocol": "acp", "mcp": {"editor": True}}
    many = {"quick": {"command": quick_demo}, "sdk": sdk}
    settings = {"server": "quick", "servers": many, "approval": {"guard": 0}}
    nvim = start_nvim(
        "src/calc.py",
        init=RECORDER,
        settings=settings,
        columns=160,
        lines=40,
        environment={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )
    nvim.lua("_G.known.intents = ...", [*INTENTS])
    nvim.keys(":EcaChat<CR>")
    for feature in (*FEATURES, log_in, agent_asks):
        feature(nvim)
    for what, elsewhere in ELSEWHERE.items():
        known, seen = map(set, nvim.lua(USED, what))
        assert known - seen == elsewhere - seen, what
    assert {*AGENT_REQUESTS} <= {it.get("to") for it in scripted.report} | {WAIT[0]}
    assert not scripted.faults()
    assert not [it for it in scripted.answers() if "error" in it]
    nvim.keys(f":EcaChat<CR>i{UNSENT}<Esc>")
    with bridge(nvim, scripted):
        yield nvim


def test_nothing_is_left_to_the_guardian(used: Neovim) -> None:
    family = family_of(used)
    [guardian] = [pid for pid, line in family.items() if "guardian.py" in line]
    host = host_of(used)
    assert private_folders(used) == {"eca-images-", "eca-mcp-"}
    with adopting():
        used.quit()
        left = wait_gone(family, AT_ONCE)
        ended = statuses({*family} - left)
    assert not left, [family[pid] for pid in left]
    assert ended[guardian] == 0, "it had to end something"
    assert ended.get(host, 0) == 0  # or Neovim has taken it
    assert not private_folders(used)
    kept = Path(used.launch.variables()["XDG_STATE_HOME"], "nvim", "eca")
    assert not [*kept.glob("*.unsent")], "the host takes it over when it has saved everything"
    assert any(UNSENT.encode() in it.read_bytes() for it in kept.glob("*.msgpack"))

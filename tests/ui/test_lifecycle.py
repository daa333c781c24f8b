"""From the start of a server to the end of Neovim: nothing hangs, nothing is left behind."""

import os
import signal
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.processes import command_line
from tests.support.script import (
    content,
    expect,
    handshake,
    leave,
    stderr,
    stream,
    stubborn,
    text,
    turn,
)
from tests.support.servers import ScriptedServer
from tests.ui.talk import (
    asks,
    draft,
    host_of,
    lines_of,
    prompts,
    say,
    start_chat,
    wait_idle,
    wait_line,
)

pytestmark = [pytest.mark.either_nvim, pytest.mark.whole_start]

LADDER = 60.0
"""Seconds in which any server is gone, on a busy machine."""


def servers_of(nvim: Neovim) -> set[int]:
    """Return the process ids of the servers of a host that runs."""
    return {it for it in nvim.child.descendants() if "scripted_server" in command_line(it)}


def streaming(
    start_nvim: StartNeovim, scripted_server: PrepareScript, *, polite: bool
) -> tuple[Neovim, ScriptedServer]:
    """Start a chat in which a server streams without end."""
    temper = [] if polite else stubborn()
    flood = stream(10_000_000, ("word ", "more\n"), rate=200, until="shutdown")
    server = scripted_server(handshake(), temper, turn(flood))
    nvim = start_chat(start_nvim, server)
    say(nvim, "go")
    wait_line(nvim, "word")
    return nvim, server


POLITE = pytest.mark.parametrize("polite", [True, False], ids=["polite", "stubborn"])


@POLITE
def test_quitting_ends_all(
    polite: bool, start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    nvim, server = streaming(start_nvim, scripted_server, polite=polite)
    nvim.quit()
    assert not nvim.child.orphans(LADDER)
    if polite:
        assert [it["method"] for it in server.received()[-2:]] == ["shutdown", "exit"]


WAIT = """
local frames, has_come = require('eca.view.frames'), false
local receive = frames.receive
vim.api.nvim_create_autocmd('VimLeavePre', { callback = function()
  frames.receive = function(...)
    receive(...)
    %s
    vim.schedule(vim.schedule_wrap(function() has_come = true end)) -- after a message
  end
  vim.wait(30000, function() return has_come end)
end })
"""


TOO_LATE = "require('eca.ui.notify').error('too late')"


@pytest.mark.parametrize("message", ["", TOO_LATE], ids=["a frame", "an error"])
def test_quitting_is_not_held_up_by_what_comes_while_a_plugin_waits(
    message: str, start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    nvim, _ = streaming(start_nvim, scripted_server, polite=True)
    nvim.lua(WAIT % message)
    assert nvim.quit() == 0


@POLITE
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
def test_killing_neovim_ends_all(
    number: int, polite: bool, start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    nvim, _ = streaming(start_nvim, scripted_server, polite=polite)
    nvim.kill(number)
    assert not nvim.child.orphans(LADDER)


ASK = """
_G.told = nil
require('eca').transcript(nil, function(text) _G.told = tostring(text) end)
"""


@POLITE
def test_killing_the_host_ends_the_server_and_a_restart_goes_on(
    polite: bool, start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    nvim, server = streaming(start_nvim, scripted_server, polite=polite)
    old, host = servers_of(nvim), host_of(nvim)
    os.kill(host, signal.SIGSTOP)
    nvim.lua(ASK)
    os.kill(host, signal.SIGKILL)
    nvim.wait_until("require('eca').status().server == 'failed'")
    nvim.wait_until("_G.told == 'nil'")
    nvim.lua(ASK)
    nvim.wait_until("_G.told == 'nil'")
    assert nvim.lua("return require('eca').status().state") == "idle"
    assert not nvim.blocked()
    nvim.wait_for(lambda: not any(map(command_line, old)), "the end of the server")
    nvim.take_errors()
    nvim.keys(":Eca restart<CR>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    assert "go" in lines_of(nvim)
    say(nvim, "on")
    nvim.wait_for(lambda: prompts(server) == ["go", "on"], "the next prompt")
    nvim.wait_until("require('eca').status().state == 'running'")


@pytest.mark.parametrize("again", ["EcaChat", "lua require('eca').send('wait')"])
@pytest.mark.parametrize("wiped", ["before", "after"])
def test_a_chat_is_drawn_again_whose_buffers_and_host_are_gone(
    wiped: str, again: str, start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(handshake(), turn(text("one")))
    nvim = start_chat(start_nvim, server)
    say(nvim, "go")
    wait_line(nvim, "one")
    host = host_of(nvim)
    os.kill(host, signal.SIGSTOP if wiped == "before" else signal.SIGKILL)
    if wiped == "after":
        nvim.wait_until("require('eca').status().server == 'failed'")
    nvim.keys(f":silent! %bwipeout!<CR><C-w>o:{again}<CR>")
    if wiped == "before":
        os.kill(host, signal.SIGKILL)
        nvim.wait_until("require('eca').status().server == 'failed'")
    nvim.take_errors()
    nvim.keys(":EcaChat<CR>")
    say(nvim, "on")
    wait_line(nvim, "on")
    wait_line(nvim, "one")


def test_who_quits_at_once_leaves_no_server_of_a_host_that_was_killed(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    nvim, _ = streaming(start_nvim, scripted_server, polite=False)
    os.kill(host_of(nvim), signal.SIGKILL)
    nvim.wait_until("require('eca').status().server == 'failed'")
    nvim.take_errors()
    nvim.quit()
    assert not nvim.child.orphans(LADDER)


HEAR = """
_G.heard = {}
for _, name in ipairs({ 'EcaApprovalResolved', 'EcaTurnFinished' }) do
  vim.api.nvim_create_autocmd('User', { pattern = name, callback = function(event)
    local state = require('eca').status().state
    table.insert(_G.heard, vim.tbl_extend('error', event.data, { event = name, state = state }))
  end })
end
"""


def test_what_waited_for_the_user_is_stopped_when_the_host_is_killed(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(handshake(), turn(asks("a"), expect("chat/promptStop")))
    nvim = start_chat(start_nvim, server)
    nvim.lua(HEAR)
    say(nvim, "go")
    [waits] = nvim.wait_until("#require('eca').pending() == 1 and require('eca').pending()")
    wait_line(nvim, " waiting")
    chat = nvim.lua("return require('eca').status().chat")
    os.kill(host_of(nvim), signal.SIGKILL)
    nvim.wait_until("#_G.heard == 2")
    assert nvim.lua("return _G.heard") == [
        {"event": "EcaApprovalResolved", "chat": chat, "id": waits["id"], "outcome": "gone"}
        | {"state": "idle"},
        {"event": "EcaTurnFinished", "chat": chat, "reason": "gone", "state": "idle"},
    ]
    told = [line for line in lines_of(nvim) if line.endswith(" stopped")]
    assert len(told) == 1
    assert told[0].startswith("⊘ ")
    assert not [line for line in lines_of(nvim) if line.endswith(" waiting")]
    nvim.take_errors()


def test_a_server_that_ends_is_an_entry_with_its_last_words(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    words = stderr("loading\nOutOfMemoryError: heap\n")
    server = scripted_server(
        handshake(), turn(text("half an ans"), words, expect("chat/promptSteer"), leave(7))
    )
    nvim = start_chat(start_nvim, server)
    say(nvim, "go")
    wait_line(nvim, "half an ans")
    say(nvim, "and then?")
    wait_line(nvim, "It wrote: OutOfMemoryError: heap")
    shown = lines_of(nvim)
    assert shown[-3] == "· the last lines of the server's log"
    assert "exit code 7" in shown[-2]
    closed = list(shown)
    nvim.keys("<C-w>kG2k<CR><C-w>j")
    wait_line(nvim, "loading")
    shown = lines_of(nvim)
    assert [line.strip() for line in shown if line not in closed] == [
        "loading",
        "OutOfMemoryError: heap",
    ]
    status = nvim.lua("return require('eca').status()")
    assert (status["server"], status["state"]) == ("failed", "idle")
    nvim.wait_screen("and then?")
    nvim.keys(":Eca restart<CR>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    assert lines_of(nvim)[: len(shown)] == shown
    say(nvim, "again")
    nvim.wait_for(lambda: "again" in "".join(prompts(server)[1:]), "the next prompt")


def test_a_prompt_after_the_servers_end_starts_it_again(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    titled = content({"type": "metadata", "title": "About $prompt"}, "system")
    answered = turn(titled, text("I heard $prompt."))
    server = scripted_server(handshake(), answered, expect("chat/prompt"), leave(1))
    nvim = start_chat(start_nvim, server)
    say(nvim, "one")
    wait_line(nvim, "I heard one.")
    wait_idle(nvim)
    say(nvim, "two")
    wait_line(nvim, "exit code 1")
    say(nvim, "three")
    wait_line(nvim, "I heard three.")
    assert prompts(server) == ["one", "two", "three"]
    lines = lines_of(nvim)
    [forgotten] = [line for line in lines if "It does not know what was said above" in line]
    assert lines.index("two") < lines.index(forgotten) < lines.index("three")
    assert nvim.lua("return require('eca').status().title") == "About one"


def test_the_server_is_quit_politely_and_starts_when_it_is_needed(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(handshake(), turn())
    nvim = start_chat(start_nvim, server)
    say(nvim, "one")
    nvim.wait_for(lambda: prompts(server) == ["one"], "the prompt")
    wait_idle(nvim)
    nvim.keys(":Eca quit<CR>")
    nvim.wait_until("require('eca').status().server == 'stopped'")
    nvim.wait_for(lambda: server.received("exit"), "the farewell")
    assert [it["method"] for it in server.received()[-2:]] == ["shutdown", "exit"]
    say(nvim, "two")
    nvim.wait_for(lambda: prompts(server) == ["one", "two"], "the next prompt")


def test_a_restart_ends_the_old_server_first(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    nvim, server = streaming(start_nvim, scripted_server, polite=False)
    old = servers_of(nvim)
    nvim.keys(":Eca restart<CR>")
    nvim.wait_for(lambda: len(server.received("initialized")) == 2, "the new server")
    assert not old & nvim.child.descendants()


def test_a_restart_takes_the_options_as_they_are_now(
    start_nvim: StartNeovim, scripted_server: PrepareScript, demo_server: list[str]
) -> None:
    nvim, server = streaming(start_nvim, scripted_server, polite=True)
    nvim.lua(
        "local now = { server = { command = ... }, diff = { lines = 2 } }"
        "vim.g.eca = vim.tbl_extend('force', vim.g.eca, now)",
        demo_server,
    )
    nvim.keys(":Eca restart<CR>")
    nvim.wait_for(lambda: server.received("exit"), "the farewell")
    nvim.wait_until("require('eca').status().server == 'ready'")
    say(nvim, "hello")
    nvim.wait_screen("demo agent")
    say(nvim, "fix")
    nvim.wait_screen("more lines")


def unusable(kind: str, folder: Path) -> tuple[list[str], str]:
    """Return a command that cannot be started, and the message."""
    path = folder / "eca"
    match kind:
        case "missing":
            return ["/nowhere/eca"], "/nowhere/eca"
        case "not on PATH":
            return ["eca-that-nobody-has"], "eca-that-nobody-has"
        case "not executable":
            path.write_text("#!/bin/sh\n")
            return [str(path)], "not executable"
        case "a folder":
            path.mkdir()
            return [str(path)], "eca"
        case _:
            path.write_text("#!/bin/sh\necho no such option >&2\nexit 3\n")
            path.chmod(0o755)
            return [str(path)], "no such option"


def test_a_server_that_is_not_there_is_told_once_for_a_chat_and_its_prompt(
    start_nvim: StartNeovim,
) -> None:
    command = {"server": {"command": ["/nowhere/eca"]}}
    nvim = start_nvim(settings=command, columns=80, lines=24)
    nvim.keys(":EcaChat hello<CR>")
    wait_line(nvim, "/nowhere/eca")
    nvim.wait_for(lambda: draft(nvim) == "hello", "the prompt, given back")
    told = [line for line in lines_of(nvim) if "/nowhere/eca" in line]
    assert len(told) == 1


@pytest.mark.parametrize(
    "kind", ["missing", "not on PATH", "not executable", "a folder", "no server"]
)
def test_a_server_that_cannot_start_is_told_at_once(
    kind: str, start_nvim: StartNeovim, tmp_path: Path
) -> None:
    command, told = unusable(kind, tmp_path)
    nvim = start_chat(start_nvim, command, columns=80, lines=24)
    nvim.wait_until("require('eca').status().server == 'failed'")
    wait_line(nvim, told)
    shown = "\n".join(lines_of(nvim))
    assert "Traceback" not in shown
    assert len([line for line in lines_of(nvim) if line]) <= 2
    assert not nvim.blocked()
    say(nvim, "hello")
    nvim.wait_until("require('eca').status().state == 'idle'")


def test_two_neovims_have_a_server_each(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    first, _ = streaming(start_nvim, scripted_server, polite=True)
    second, server = streaming(start_nvim, scripted_server, polite=True)
    first.quit()
    assert not first.child.orphans(LADDER)
    said = len(lines_of(second))
    second.wait_for(lambda: len(lines_of(second)) > said + 5, "the other chat to go on")
    assert not server.received("shutdown")

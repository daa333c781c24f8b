"""What ends programs in a soak: restarts, kills, other Neovims. Nothing that was sent is lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from tests.soak.agents import RECORDED, RECORDED_ACP
from tests.soak.user import Action, User, eca
from tests.support.editor import Neovim

SERVERS = ("eca_nvim.demo", "script_server", "acp_keeper", "engine.CHUNK_PAUSE_S", "acp.INTRO")
"""Parts of the command lines of servers."""


def kill_server(user: User) -> None:
    """Kill a server."""
    _kill(user, user.processes(user.one_of(SERVERS)))


def kill_host(user: User) -> None:
    """Kill the host; the next prompt starts it again."""
    pid = user.host()
    user.mark("orphaned")
    _kill(user, [pid] if pid else [])
    user.nvim.wait_until(f"require('eca.host').pid() ~= {pid or 0}")
    if user.chance.random() < 0.5:
        user.eca("restart")


def stop_for_a_moment(user: User) -> None:
    """Have the host or a server stand still, and go on."""
    pids = user.processes(user.one_of(("launch.py", *SERVERS)))
    for pid in pids[:1]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
            user.nvim.child.channel.pump(0.2)
            os.kill(pid, signal.SIGCONT)


def _kill(user: User, pids: list[int]) -> None:
    for pid in pids[:1]:
        user.note(f"kill {pid}")
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def another_neovim(user: User) -> None:
    """Work in a second Neovim of the project; kill it; in the next its words are there."""
    words = [user.word() for _ in range(3)]
    with _another(user, "keeper") as first:
        for word in words[:2]:
            first.keys(f"ihello {word}<C-s><Esc>")
            first.wait_until("require('eca').status().state == 'idle'")
        first.keys(f"ihang {words[2]}<C-s><Esc>")
        first.wait_until(f"require('eca').transcript():find('{words[2]}')")
        first.kill(signal.SIGKILL)
    with _another(user, "keeper") as second:
        second.wait_until("require('eca').status().server == 'ready'")
        second.lua("vim.ui.select = function(items, _, done) done(items[1]) end")
        second.keys(f":Eca resume {words[0]}<CR>")
        for word in words:
            second.wait_until(f"(require('eca').transcript() or ''):find('{word}')")
        user.found += len(words)


def recorded(user: User) -> None:
    """Play a recording in a second Neovim: answer all that it asks, and leave while it runs."""
    name = user.one_of((*RECORDED, *RECORDED_ACP, "acp-demo"))
    user.note(f"another Neovim plays {name}")
    with _another(user, name) as other:
        for _ in range(4):
            other.keys("ihello<C-s><Esc>")
            other.lua("vim.wait(400, function() return require('eca').pending()[1] ~= nil end)")
            other.keys(f":Eca {user.one_of(('approve', 'reject', 'approve-all'))}<CR>")
            other.leave_prompt()
            other.lua("require('eca').answer('1')")


@contextmanager
def _another(user: User, server: str) -> Iterator[Neovim]:
    """Start another Neovim, whose state is that of the first; end it."""
    launch, home = user.nvim.launch, user.home.with_name("other")
    shared = {"XDG_STATE_HOME": str(user.home / "state")}
    settings = {**launch.settings, "server": server}
    other = replace(launch, home=home, marker=str(home), environment=shared, settings=settings)
    nvim = Neovim(other)
    nvim.check_errors = False
    try:
        nvim.keys(":EcaChat<CR>")
        yield nvim
    finally:
        nvim.finish()


ACTIONS = (
    *(Action(2, eca("restart", "restart|restart!|quit|start|quit! script|demo")),),
    *(Action(2, kill_server), Action(2, stop_for_a_moment)),
    *(Action(1, another_neovim), Action(2, recorded)),
)
KILLS = (Action(2, kill_host),)
"""Only at first: what is said of the host's memory is said of one host."""

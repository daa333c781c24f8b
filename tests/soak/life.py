"""One soak of one Neovim: actions by chance, a rest after each hundred, and its report."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from tests.soak import chats, editing, endings
from tests.soak.agents import servers
from tests.soak.closed_windows import kept_of_a_window
from tests.soak.counts import WATCH_HANDLES, Counts, Names, most
from tests.soak.rest import SETTLING, rest
from tests.soak.user import User
from tests.support.autocommands import WATCHED
from tests.support.editor import Neovim
from tests.support.launch import REPOSITORY, Launch
from tests.support.processes import command_line, marked, wait_gone
from tests.support.workspace import make_workspace

Value: TypeAlias = Any

WARM = 2
"""Rests until all that is made once is made."""
EVERY = 100
"""Actions between two rests."""
CHOOSE = """
math.randomseed(1)
vim.ui.select = function(items, _, done)
  vim.schedule(function()
    local place = math.random(#items + 1)
    done(items[place], items[place] and place or nil)
  end)
end
vim.ui.input = function(_, done) vim.schedule(function() done('hello') end) end
"""
"""Lua code for the start: lists answer by themselves, a moment later."""


GIVEN_BACK = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_TRIM_THRESHOLD_": "65536",
    "MALLOC_MMAP_THRESHOLD_": "16384",
}
"""The environment in which what a host has freed is not counted as its own (glibc)."""

LOAD = """
local lua = ...
for name, kind in vim.fs.dir(lua, { depth = 9 }) do
  if kind == 'file' and name:find('%.lua$') then
    require((name:gsub('%.lua$', ''):gsub('/', '.'):gsub('%.init$', '')))
  end
end
require('eca.editor.checktime').files({}) -- makes its timer
vim.cmd.edit(vim.fn.getcwd()) -- loads what shows a folder, as of a link
vim.cmd.bwipeout()
"""
"""Lua code that loads all modules, whose namespaces and commands are there then."""


def start(version: str, home: Path) -> User:
    """Start a Neovim in a project of its own."""
    project = make_workspace(home / "project")
    for line in ("init -q", "add .", "-c user.name=a -c user.email=a@b commit -qm one"):
        subprocess.run(["git", *line.split()], cwd=project, check=True)
    settings: dict[str, Value] = {
        "python": sys.executable,
        "server": "soak",
        "servers": servers(home, project),
    }
    settings |= {"approval": {"guard": 0}, "completion": {"inline": True}}
    mine, init = home / "nvim", WATCHED + WATCH_HANDLES + CHOOSE
    launch = Launch(version, mine, project, str(mine), 120, 40, settings, init)
    nvim = Neovim(replace(launch, environment=GIVEN_BACK))
    nvim.check_errors = False
    nvim.keys(":EcaChat<CR>")
    return User(nvim, mine)


class Life:
    """The life of a Neovim, and what was counted in it."""

    def __init__(self, user: User) -> None:
        self._user = user
        self._names: Names = {}
        self.rests: list[Counts] = []
        self.wrong: list[str] = []
        self.actions = 0

    def live(self, seconds: float, seed: str) -> None:
        """Do everything once, so that what is made at its first use is there; then go by chance."""
        began, user = time.monotonic(), self._user
        user.chance = random.Random(seed)
        user.lua(LOAD, str(REPOSITORY / "lua"))
        user.eca("trust on")
        user.eca("trust off")
        for action in (*chats.ACTIONS, *editing.ACTIONS, *endings.ACTIONS, *endings.KILLS):
            self.tell(user.attempt(action.run))
        self._rest()
        while (spent := time.monotonic() - began) < seconds:
            user.chance = random.Random(f"{seed} {self.actions}")
            kills = endings.KILLS if spent < seconds / 3 else ()
            table = (*chats.ACTIONS, *editing.ACTIONS, *endings.ACTIONS, *kills)
            (action,) = user.chance.choices(table, [it.weight for it in table])
            self.tell(user.attempt(action.run))
            self.actions += 1
            if self.actions % EVERY == 0:
                self._rest()

    def end(self) -> None:
        """Quit; nothing outlives Neovim."""
        try:
            self._user.nvim.finish()
        except Exception as fault:  # noqa: BLE001 - whatever it is, the report says it
            self.tell([f"the end: {fault}"])
        left = wait_gone(marked(str(self._user.home.with_name("other"))), SETTLING)
        self.tell([f"left of another Neovim: {command_line(pid)}" for pid in left])

    def _rest(self) -> None:
        """Rest; what there is more of than at the first rests is wrong."""
        first = most(self.rests[:WARM]) if len(self.rests) >= WARM else None
        now, names, found = rest(self._user, first, self._names)
        self._names = self._names if first else names
        self.tell([f"rest {len(self.rests)}: {line}" for line in found])
        self.rests.append(now)
        self._user.note(f"counts {now}")

    def tell(self, found: list[str]) -> None:
        """Note what is wrong, and show it at once."""
        self.wrong += found
        for line in found:
            self._user.note(f"WRONG {line}")
            sys.stderr.write(f"Neovim {self._user.nvim.launch.version}: {line}\n")
            sys.stderr.flush()


def soak(version: str, seconds: float, seed: int, home: Path) -> dict[str, Value]:
    """Use a Neovim for so long; return its report."""
    kept = kept_of_a_window(version, home / "closed")
    user, began = start(version, home), time.monotonic()
    life = Life(user)
    try:
        life.live(seconds, f"{seed} {version}")
    except Exception as fault:  # noqa: BLE001 - see above
        life.tell([f"the run has ended: {type(fault).__name__}: {fault}"])
    life.end()
    lost = sum(" lost: " in it for it in life.wrong)
    done = {"seconds": round(time.monotonic() - began), "actions": life.actions}
    words = {"sent words found again": user.found, "sent words lost": lost}
    last = {"rests": life.rests, "kept": kept, "wrong": life.wrong, "last": [*user.done]}
    return {"version": version, **done, **words, **last}

"""How a test starts Neovim: which binary, with which settings, isolated from the user.

Neovim sees nothing of the person who runs the tests: its environment is new, and every folder that
it reads or writes is in the test's own temporary one.
"""

import fcntl
import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests.support.processes import MARKER
from tests.support.screen import Value

REPOSITORY = Path(__file__).parents[2]
VERSIONS = ("0.10.4", "0.12.4")
OTHERS: dict[str, Path] = {}
"""Neovims by version that are not unpacked by the set-up: `pytest --nvim=PATH`."""
RUNTIME = ("-c", "lua io.write(vim.env.VIMRUNTIME)", "-c", "quit")
"""Has a Neovim say where its files are: as `bin/nvim` of the others, tests name the folder."""
SAID = re.compile(r"NVIM v(\S+)")
FOLDERS = {
    "HOME": "home",
    "TMPDIR": "tmp",
    "XDG_CONFIG_HOME": "config",
    "XDG_DATA_HOME": "data",
    "XDG_RUNTIME_DIR": "run",
    "XDG_STATE_HOME": "state",
}
CACHE = REPOSITORY / ".cache" / "user"
"""Shared by all tests, as a user's starts share it: the first host fills it."""
NO_PYTHON = "vim.g.loaded_python3_provider = 0"
"""Otherwise Neovim tries every Python on the machine when a Python file is opened."""
COMPILED_ONCE = """
vim.loader.path = '{0}'
vim.loader.enable()
"""
"""Users' plugin managers do this, too: to compile is half of a chat's start in Neovim."""
COMPILE = """
for _, folder in ipairs({{ '{0}/lua', vim.env.VIMRUNTIME }}) do
  local files = vim.fs.find(function(name) return vim.endswith(name, '.lua') end,
    {{ path = folder, type = 'file', limit = math.huge }})
  vim.iter(files):each(loadfile)
end
"""
READ_AT_ONCE = f"""
package.preload['eca.ui.message'] = function()
  local message = dofile('{REPOSITORY}/lua/eca/ui/message.lua')
  message.READING = 0
  return message
end
"""
"""A warning is read with the next key: tests type faster than a user reads."""


class MissingNeovim(AssertionError):
    """Raised if a Neovim that the tests need is missing."""


def know_binary(nvim: Path) -> str:
    """Let tests use a Neovim of the user's; return its version. Raises MissingNeovim."""
    try:
        said = subprocess.run([nvim, "--version"], stdout=subprocess.PIPE, text=True, check=False)
    except OSError as fault:
        raise MissingNeovim(str(fault)) from fault
    found = SAID.match(said.stdout)
    if found is None:
        raise MissingNeovim(f"{nvim} is no Neovim: {said.stdout!r}")
    OTHERS[found[1]] = nvim
    return found[1]


@cache
def runtime_of(version: str) -> dict[str, str]:
    """Return the variable that names the files of a Neovim of the user's."""
    if version not in OTHERS:
        return {}
    command = [str(OTHERS[version]), "--clean", "--headless", *RUNTIME]
    folder = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return {"VIMRUNTIME": folder}


def neovim_binary(version: str) -> Path:
    """Return the path of a Neovim. Raises MissingNeovim."""
    path = OTHERS.get(version, REPOSITORY / ".cache" / "neovim" / version / "bin" / "nvim")
    if not os.access(path, os.X_OK):
        raise MissingNeovim(f"no Neovim {version} at {path}: `make test` fetches it")
    return path


def compile_lua(version: str, folder: Path) -> None:
    """Have a Neovim compile its own Lua and the plugin's, unless the folder has it.

    Neovims that run at the same time would read each other's unfinished files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not any(folder.iterdir()):
            lua = COMPILED_ONCE.format(folder) + COMPILE.format(REPOSITORY)
            command = [str(neovim_binary(version)), "--clean", "--headless", "-l", "-"]
            subprocess.run(command, input=lua, text=True, check=True)


@dataclass(frozen=True)
class Launch:
    """One start of Neovim.

    `home` contains all folders that Neovim uses, `settings` become `vim.g.eca`, `init` is Lua code
    that runs before any plugin, `arguments` are for Neovim (files to open, `-c` commands);
    compiled Lua is in the folder `compiled`.
    """

    version: str
    home: Path
    cwd: Path
    marker: str
    columns: int = 100
    lines: int = 24
    settings: Mapping[str, Value] = field(default_factory=dict)
    init: str = ""
    arguments: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    compiled: Path | None = None

    def prepare(self) -> None:
        """Make the folders and the start-up file that `command` names."""
        for name in FOLDERS.values():
            (self.home / name).mkdir(parents=True, exist_ok=True)
        (self.home / FOLDERS["XDG_RUNTIME_DIR"]).chmod(0o700)
        loader = COMPILED_ONCE.format(self.compiled) if self.compiled else ""
        lines = (loader, NO_PYTHON, READ_AT_ONCE, self._settings_lua(), self.init, "")
        self.prelude.write_text("\n".join(lines))

    def command(self) -> list[str]:
        """Return the command line; only this repository is on the runtime path."""
        return [
            *(str(neovim_binary(self.version)), "--embed", "--clean"),
            *("--cmd", f"set rtp^={REPOSITORY} shortmess+=I modeline"),
            *("--cmd", f"luafile {self.prelude}"),
            *self.arguments,
        ]

    def variables(self) -> dict[str, str]:
        """Return the environment of Neovim."""
        return {
            **{name: str(self.home / folder) for name, folder in FOLDERS.items()},
            "XDG_CACHE_HOME": str(CACHE),
            "LANG": "C.UTF-8",
            "NVIM_LOG_FILE": str(self.home / "nvim.log"),
            "PATH": os.environ["PATH"],
            "TERM": "xterm-256color",
            MARKER: self.marker,
            **self.environment,
            **runtime_of(self.version),
        }

    @property
    def prelude(self) -> Path:
        """The Lua file that runs before any plugin."""
        return self.home / "prelude.lua"

    def _settings_lua(self) -> str:
        """Pass JSON in a level-5 long bracket, which cannot occur in JSON."""
        if not self.settings:
            return ""
        encoded = json.dumps(dict(self.settings))
        nulls = "{ luanil = { object = true, array = true } }"
        return f"vim.g.eca = vim.json.decode([=====[{encoded}]=====], {nulls})"

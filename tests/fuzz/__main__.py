"""`python -m tests.fuzz RUNS [TARGET…]`: runs each target so often, each in a process of its own.

The input of a finding is left in the folder `.cache/fuzz/found`.
"""

import io
import os
import re
import subprocess
import sys
import time
from contextlib import redirect_stderr
from importlib import import_module
from pathlib import Path
from subprocess import PIPE, STDOUT
from typing import Any

from tests.support.launch import REPOSITORY, VERSIONS, neovim_binary

FOUND = Path(".cache/fuzz/found")
LONGEST = 4096
"""Bytes of an input."""
PATIENCE = 60
"""Seconds that one input may take."""
SHOWN = 30
"""Lines that are shown of a finding."""
EDITORS = {f"Lua in Neovim {version}": version for version in VERSIONS}
WHOLE = {f"whole plugin in Neovim {version}": version for version in VERSIONS}
"""Their runs are the messages that the servers have said."""


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def load() -> tuple[Any, dict[str, Any]]:
    """Return the fuzzer, which `make fuzz` alone installs, and the targets, made for it."""
    atheris = import_module("atheris")
    told = io.StringIO()  # the names of the modules
    with redirect_stderr(told), atheris.instrument_imports(include=["eca_nvim"]):
        targets = import_module("tests.fuzz.targets")
    return atheris, dict(targets.TARGETS)


def fuzz(atheris: Any, name: str, target: Any, runs: int) -> str:  # noqa: ANN401 - has no types
    """Run a target in a copy of this process, which ends with it; return what that said."""
    log = FOUND / f"{name}.log"
    pid = os.fork()
    if pid == 0:
        with log.open("w") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        limits = [f"-runs={runs}", f"-max_len={LONGEST}", f"-timeout={PATIENCE}"]
        atheris.Setup([name, f"-artifact_prefix={FOUND}/{name}-", *limits], target)
        atheris.Fuzz()  # does not return
    os.waitpid(pid, 0)
    said = log.read_text(errors="replace")
    log.unlink()
    return said


def read_in(version: str, runs: int) -> str:
    """Run the texts that Lua reads in a Neovim; return what that said."""
    seed = str(time.time_ns() % 10**9)
    script = ("-l", "tests/fuzz/texts.lua", str(REPOSITORY), str(runs), seed)
    command = [str(neovim_binary(version)), "--clean", "--headless", *script]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def play_in(version: str, runs: int) -> str:
    """Play so many changed messages through a whole plugin; return what that said."""
    seed = str(time.time_ns() % 10**9)
    command = [sys.executable, "-m", "tests.fuzz.whole", version, str(runs), seed]
    done = subprocess.run(command, stdout=PIPE, stderr=STDOUT, text=True, check=False)
    return done.stdout


def said_by(name: str, runs: int) -> str:
    """Run a target that needs a Neovim; return what it said."""
    if name in EDITORS:
        return read_in(EDITORS[name], runs)
    return play_in(WHOLE[name], runs)


def run(runs: int, wanted: list[str]) -> int:
    """Run targets and print a table; returns how many have a finding."""
    FOUND.mkdir(parents=True, exist_ok=True)
    atheris, targets = load()
    names = wanted or [*targets, *EDITORS, *WHOLE]
    failed = 0
    for name in names:
        began = time.monotonic()
        is_ours = name in targets
        said = fuzz(atheris, name, targets[name], runs) if is_ours else said_by(name, runs)
        done = re.search(r"Done (\d+) runs", said)
        failed += done is None
        result = f"{done[1]} runs" if done else "FOUND"
        say(f"{name:45} {result:>16} {time.monotonic() - began:7.1f} s")
        if done is None:
            say("\n".join(said.splitlines()[-SHOWN:]))
    say(f"{len(names)} targets, {failed} with a finding")
    return failed


if __name__ == "__main__":
    sys.exit(run(int(sys.argv[1]), sys.argv[2:]))

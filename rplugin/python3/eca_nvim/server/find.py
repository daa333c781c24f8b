"""Finds the server to start: the user's own command, else `eca` on PATH, else the demo agent.

Rules kept here:
- A command that the user has set is used or refused, never replaced by another one.
- The demo agent runs on our own Python and finds this package by its path: it need not be
  installed. `-I` keeps the user's Python settings and the project's files out of it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from eca_nvim.environment import child_environment

OPTION: Final = "server.command"
PROGRAM: Final = "eca"
DEMO_LABEL: Final = "demo agent"
DEMO_FOLDER: Final = "ECA_DEMO_FOLDER"
"""The variable that names the folder in which the demo agent works."""

_PACKAGE_FOLDER: Final = Path(__file__).parents[2]
_RUN_DEMO: Final = (
    "import runpy, sys; sys.path.insert(0, sys.argv.pop()); "
    "runpy.run_module('eca_nvim.demo', run_name='__main__')"
)


class BadServerOption(Exception):
    """Raised when `server.command` cannot be started; the text says why in one line."""


class ServerCommand(NamedTuple):
    """How to start a server.

    `label` names it for the user: its path, or "demo agent". `environment` is the whole environment
    of its process. `folder` is its working folder, None for the user's workspace.
    """

    command: tuple[str, ...]
    label: str
    environment: Mapping[str, str]
    folder: str | None = None

    @property
    def identity(self) -> str:
        """A hash of the command line, which may contain a key: the same for the same server."""
        from hashlib import sha256  # noqa: PLC0415 - not needed before the server is started

        return sha256(os.fsencode("\0".join(self.command))).hexdigest()[:16]


def find_server(
    option: Sequence[str] | None, variables: Mapping[str, str], *, demo: bool = False
) -> ServerCommand:
    """Find the server to start.

    `option`: `server.command`, None to search for one. `variables`: added to the environment of
    every child process. `demo`: use the demo agent in any case. Raises BadServerOption.
    """
    environment = child_environment(variables)
    if demo:
        return _demo(environment)
    if option is not None:
        return _chosen(option, environment)
    found = _executable(PROGRAM, environment.get("PATH"))
    if found is None:
        return _demo(environment)
    return ServerCommand((found, "server"), found, environment)


def _chosen(option: Sequence[str], environment: Mapping[str, str]) -> ServerCommand:
    if isinstance(option, str) or not all(isinstance(word, str) for word in option):
        raise BadServerOption(f"{OPTION} is {option!r}: it must be a list of words")
    if not option or not option[0].strip():
        raise BadServerOption(f"{OPTION} names no program: set a list like ['eca', 'server']")
    program = option[0]
    if program.startswith("~/"):
        program = str(Path(program).expanduser())
    found = _executable(program, environment.get("PATH"))
    if found is None:
        raise BadServerOption(f"{OPTION}: {_fault_of(program)}")
    return ServerCommand((found, *option[1:]), found, environment)


def _executable(program: str, path: str | None) -> str | None:
    """Find a program by its path, or in the folders of a PATH.

    Not with `shutil.which`: importing `shutil` loads the modules for archives, which takes time.
    """
    folders = (os.defpath if path is None else path).split(os.pathsep)
    places = [program] if os.sep in program else [f"{it}/{program}" for it in folders if it]
    return next((it for it in places if _is_file(it) and os.access(it, os.X_OK)), None)


def _is_file(path: str) -> bool:
    """Return whether a path leads to a file; false for one that the user may not look at."""
    return os.path.isfile(path)  # noqa: PTH113 - the method of `Path` raises PermissionError


def _fault_of(program: str) -> str:
    """Return why a program cannot be run, and the remedy."""
    if os.sep in program and _is_file(program):
        return f"{program!r} is not executable: allow it with chmod +x"
    return f"{program!r} not found: correct its path"


def _demo(environment: Mapping[str, str]) -> ServerCommand:
    command = (sys.executable, "-I", "-c", _RUN_DEMO, str(_PACKAGE_FOLDER))
    folder = environment.get(DEMO_FOLDER) or _new_demo_folder()
    return ServerCommand(command, DEMO_LABEL, {**environment, DEMO_FOLDER: folder}, folder)


def _new_demo_folder() -> str:
    """Return a path that nobody else can have made; the demo agent makes and removes the folder."""
    import secrets  # noqa: PLC0415 - only needed for the demo agent
    import tempfile  # noqa: PLC0415

    name = f"eca-demo-{secrets.token_hex(8)}"
    return str(Path(tempfile.gettempdir()).resolve() / name)

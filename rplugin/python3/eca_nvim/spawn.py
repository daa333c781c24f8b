"""Spawn: starts a process with its environment, or says in a line why not, with a remedy."""

import errno
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import dropwhile
from pathlib import Path, PurePath
from typing import Final

OPENERS: Final = str(Path(__file__).with_name("openers"))
"""The folder of the programs that hand web addresses to the host (`mcp/link_socket`)."""
_OPENERS_END: Final = "/eca_nvim/openers/"  # how it ends for each copy of this plugin
LINKS: Final = "ECA_NVIM_LINKS"
"""The variable with the socket of the host that takes them; without it they are opened as ever."""
LINKS_PYTHON: Final = "ECA_NVIM_LINKS_PYTHON"
LINKS_FROM: Final = "ECA_NVIM_LINKS_FROM"
"""The variable with the name of the server for which a process runs."""
_LINKS_BROWSER: Final = "ECA_NVIM_LINKS_BROWSER"  # the user's own BROWSER

SHORT: Final = "/tmp"  # noqa: S108 - a folder in it is ours alone
"""Where a folder is made whose path would be too long for a socket elsewhere."""

_EDITORS: Final = frozenset({"NVIM", "VIM", "VIMRUNTIME", "MYVIMRC"})
_PREFIXES: Final = ("NVIM_", "__NVIM")  # NVIM_LISTEN_ADDRESS, NVIM_LOG_FILE, and pynvim's own
_USERS: Final = frozenset({"NVIM_APPNAME"})  # it only names a configuration


def child_environment(added: Mapping[str, str] | None = None, server: str = "") -> dict[str, str]:
    """Return the whole environment of a process to start, with the variables `added` to it.

    server: for which it runs; what it lets a browser open goes to the host.

    Without those that lead to the running Neovim, its socket and its own files: a program with that
    address can press keys in the editor, so a tool could approve its own call. What the user adds
    (`server.env`) is set as it is.
    """
    kept = {name: value for name, value in os.environ.items() if not _leads_to_editor(name)}
    environment = {**kept, **(added or {})}
    if LINKS in kept and server:
        _add_openers(environment, has_own="BROWSER" in (added or {}))
        environment[LINKS_FROM] = server
    return environment


def _add_openers(environment: dict[str, str], *, has_own: bool) -> None:
    """Put our programs before all others; a BROWSER that the user has set for this stays.

    Those of other Neovims around this one are left out: they would hand over to ours, without end.
    """
    browser = environment.get("BROWSER", "")
    if not has_own:
        environment["BROWSER"] = f"{OPENERS}/xdg-open"
        if browser and _OPENERS_END not in browser:
            environment[_LINKS_BROWSER] = browser
    folders = environment.get("PATH", os.defpath).split(os.pathsep)
    others = [it for it in folders if not f"{it.rstrip(os.sep)}/".endswith(_OPENERS_END)]
    environment["PATH"] = os.pathsep.join((OPENERS, *others))


def _leads_to_editor(name: str) -> bool:
    return name in _EDITORS or (name.startswith(_PREFIXES) and name not in _USERS)


_INTERPRETERS: Final = frozenset(
    ("python", "pypy", "node", "bun", "ruby", "perl", "java", "sh", "bash", "npx", "bunx", "uvx")
)
_BARE: Final = ("--yes", "-jar")
_BARE_LETTERS: Final = frozenset("BEIOPSmqsuy")
"""Options of interpreters that no value follows, or only what they run; and the letters of such."""
_ENV: Final = "env"
_ENV_BARE: Final = frozenset(("-", "--", "-i", "-v"))
"""Options of `env` that no value follows, besides those that end in one (`--unset=NAME`)."""


class StartError(Exception):
    """Raised when a process cannot be started; the text is one line with a remedy."""


def spawn(
    command: Sequence[str], env: Mapping[str, str], cwd: str | None
) -> subprocess.Popen[bytes]:
    """Start a process in a session of its own, with three unbuffered pipes.

    `env` is its whole environment. Raises StartError.
    """
    with explaining(command, env, cwd):
        return subprocess.Popen(
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            cwd=cwd,
            start_new_session=True,
        )


@contextmanager
def explaining(command: Sequence[str], env: Mapping[str, str], cwd: str | None) -> Iterator[None]:
    """Raise StartError if a command is empty, or if what starts it fails."""
    if not command or not command[0]:
        raise StartError("the command is empty: name a program")
    try:
        yield
    except OSError as error:
        raise explained(error, command[0], env, cwd) from error
    except ValueError as error:
        raise StartError(f"{command!r} is not a command, {error}: correct it") from error


def find_program(program: str, path: str | None) -> str | None:
    """Find a program by its path, or in the folders of a PATH; None if there is none.

    An empty item of PATH names no folder: for `shutil.which` it is the working folder.
    """
    folders = (os.defpath if path is None else path).split(os.pathsep)
    places = [program] if os.sep in program else [f"{it}/{program}" for it in folders if it]
    return next((it for it in places if is_file(it) and os.access(it, os.X_OK)), None)


def program_name(command: Sequence[str]) -> str:
    """Return what a command line runs: its program, or what that interprets or prepares for."""
    program, *words = command
    name = PurePath(program).name
    if name == _ENV:
        return _after_env(words) or program
    if name.rstrip("0123456789.") not in _INTERPRETERS:
        return program
    for word in words:
        if not word.startswith("-"):
            return word or program
        if word not in _BARE and not _BARE_LETTERS.issuperset(word[1:]):
            break  # its value may follow
    return program


def _after_env(words: Sequence[str]) -> str | None:
    """Return what `env` runs with these words; None if that is not clear."""
    command = list(dropwhile(lambda word: word in _ENV_BARE or "=" in word, words))
    return program_name(command) if command and not command[0].startswith("-") else None


def is_file(path: str) -> bool:
    """Return whether a path leads to a file; false for one that the user may not look at."""
    return os.path.isfile(path)  # noqa: PTH113 - the method of `Path` raises PermissionError


def explained(error: OSError, program: str, env: Mapping[str, str], cwd: str | None) -> StartError:
    """Return what was wrong when a program did not start."""
    if cwd is not None and error.filename == cwd:
        return StartError(f"cannot enter {cwd!r}, {error.strerror}: start in another folder")
    match error:
        case FileNotFoundError() | NotADirectoryError():
            return _not_found(program, env, cwd)
        case PermissionError():
            return StartError(f"{program!r} is not executable: allow it with chmod +x")
        case OSError(errno=errno.ENOEXEC):
            return StartError(
                f"{program!r} is not built for this machine: install the build that is"
            )
        case OSError(errno=errno.EMFILE | errno.ENFILE):
            return StartError(f"too many files are open to start {program!r}: raise ulimit -n")
        case _:
            return StartError(f"{program!r} does not start: {error.strerror}")


def _not_found(program: str, env: Mapping[str, str], cwd: str | None) -> StartError:
    is_path = os.sep in program
    place = str(Path(cwd or ".", program)) if is_path else program
    if found := shutil.which(place, os.F_OK, env.get("PATH")):
        return StartError(f"{found!r} needs an interpreter that is missing: see its first line")
    if is_path:
        return StartError(f"{program!r} does not exist: correct the path")
    return StartError(f"{program!r} is not on PATH: install it or give its whole path")

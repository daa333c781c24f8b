"""Git: runs git for a repository of our own, or to list the files of a project; blocks.

Rules kept here:
- git reads nothing of the user's or the system's configuration, and no variable that is meant for
  another repository. It starts no other program: no hooks, filters or monitors.
- It runs with a low priority, and without a terminal that it could read.
- Each git holds a lock on its repository that ends with it, also if the host is killed before. Who
  can lock it alone knows that all other files of locks are left from a kill.
"""

import fcntl
import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

from eca_nvim.guardian import MARK, marked
from eca_nvim.spawn import child_environment
from eca_nvim.system import sleeps_in
from eca_nvim.threads import run_beside

PATIENCE, LISTING_PATIENCE, MODULE_PATIENCE = 300.0, 60.0, 3600.0
"""Seconds that git may take; to list files; and a module of ours that asks it many times."""
CHECK_INTERVAL = 0.05
"""Seconds between two checks while git runs."""
LINE: Final = "\n"
MISSING: Final = "git is not installed: checkpoints need it"

_OPTIONS: Final = {
    "core.attributesFile": os.devnull,
    "core.bare": "true",
    "core.hooksPath": os.devnull,
    "core.protectHFS": "false",
    "core.protectNTFS": "false",
    "gc.auto": "0",
    "pack.compression": "1",  # a tenth faster, and no larger than git's own loose files
    "pack.threads": "1",
    "pack.windowMemory": "64m",
}
"""What differs from what git does by itself, or may be another value on another system."""
_RUN: Final = (
    "import runpy, sys; sys.path.insert(0, sys.argv[1]); "
    "runpy.run_module(sys.argv[2], run_name='__main__')"
)
_OPENS_A_PIPE = "wait_for_partner"
"""Where Linux has a process sleep that opens a named pipe without a writer."""


class GitFailed(Exception):
    """Raised when git cannot do what was asked; the text says why in one line."""


class NoRoom(GitFailed):
    """Raised when the disk is full, or a file may not become that large."""


def clean_environment() -> dict[str, str]:
    """Return the environment for git, without what is meant for other repositories."""
    inherited = child_environment().items()
    kept = {key: value for key, value in inherited if not key.startswith("GIT_")}
    return {**kept, "GIT_ALLOW_PROTOCOL": "none", "GIT_TERMINAL_PROMPT": "0"}


def _git() -> str:
    git = shutil.which("git")
    if git is None:
        raise GitFailed(MISSING)
    return git


def git_version() -> str:
    """Return what git calls itself, in one line. Raises GitFailed."""
    told = _run([_git(), "--version"], b"", clean_environment(), "/", LISTING_PATIENCE)
    return told.decode(errors="replace").strip()


def list_project(
    folder: str, which: Sequence[str] = ("--cached", "--others"), seconds: float = LISTING_PATIENCE
) -> bytes:
    """Return the files of a project, each with a NUL after it, without what git ignores there.

    A repository inside the folder is one entry. which: options of `ls-files`, for other files.
    Raises GitFailed: a part would look like all.
    """
    # A repository's configuration may name programs that git would start, and may come from a
    # system where `A` is `a`: git would not list the one if it knows the other.
    options = ["-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}"]
    options += ["-c", "core.ignoreCase=false"] if _tells_case(folder) else []
    environment = clean_environment() | {
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "LC_ALL": "C",
    }
    command = [_git(), *options, "ls-files", "-z", "--exclude-standard", *which]
    return _run(command, b"", environment, folder, seconds)


def _tells_case(folder: str) -> bool:
    """Return whether a folder is surely where `a` and `A` are two files."""
    above, name = os.path.split(folder.rstrip("/"))
    return name != name.swapcase() and not os.path.lexists(f"{above}/{name.swapcase()}")


def run_git(repository: Path, task: str, *arguments: str, fed: bytes = b"") -> bytes:
    """Run a task of git for a bare repository; return what it prints. Raises GitFailed."""
    options = [it for pair in _OPTIONS.items() for it in ("-c", "=".join(pair))]
    command = [*_priority(), _git(), *options, task, *arguments]
    environment = clean_environment() | {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_DIR": str(repository),
        "GIT_LITERAL_PATHSPECS": "1",
        "LC_ALL": "C",
    }
    try:
        with locked(repository, fcntl.LOCK_SH) as lock:
            return _run(command, fed, environment, str(repository), PATIENCE, lock)
    except OSError as fault:
        raise GitFailed(f"{repository}: {fault.strerror}") from fault


def run_module(name: str, fed: bytes) -> bytes:
    """Run a module of ours that asks git, with a low priority; return what it prints.

    Raises GitFailed.
    """
    command = [sys.executable, "-I", "-c", _RUN, str(Path(__file__).parents[2]), name]
    return _run([*_priority(), *command], fed, child_environment(), "/", MODULE_PATIENCE)


def _priority() -> Sequence[str]:
    """Return what stands before a command so that it has a low priority.

    On Linux that of input and output follows from it: see ioprio_set(2).
    """
    nice = shutil.which("nice")
    return [] if nice is None else [nice]


@contextmanager
def locked(repository: Path, how: int) -> Iterator[int | None]:
    """Lock a repository; yields a file that holds the lock, None if nothing can be locked there.

    how: as for `flock`. Raises BlockingIOError, and OSError for one that is not there.
    """
    lock = os.open(repository, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        held = True
        try:
            fcntl.flock(lock, how)
        except BlockingIOError:
            raise
        except OSError:  # some file systems of networks
            held = False
        yield lock if held else None
    finally:
        os.close(lock)


def _run(
    command: Sequence[str],
    fed: bytes,
    environment: Mapping[str, str],
    folder: str,
    seconds: float,
    lock: int | None = None,
) -> bytes:
    try:
        git = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment if MARK in environment else marked(environment),
            cwd=folder,
            start_new_session=True,
            pass_fds=() if lock is None else (lock,),
        )
    except OSError as fault:
        where = f"{folder}: " if fault.filename == folder else "git cannot be run: "
        raise GitFailed(f"{where}{fault.strerror}") from fault
    printed, said = _wait(git, fed, seconds, folder)
    if git.returncode == -signal.SIGXFSZ:
        raise NoRoom("files may not be that large here: see ulimit -f")
    if git.returncode:
        raise _fault(said.decode(errors="replace").strip())
    return printed


def _wait(
    git: subprocess.Popen[bytes], fed: bytes, seconds: float, folder: str
) -> tuple[bytes, bytes]:
    """Return what git prints and complains of. Raises GitFailed if it would not end."""
    ended, stuck = threading.Event(), threading.Event()
    with git:
        try:
            run_beside(partial(_watch, git, ended, stuck))
            told = git.communicate(fed, timeout=seconds)
        except subprocess.TimeoutExpired:
            raise GitFailed(f"git has not ended after {seconds:.0f} s") from None
        finally:
            ended.set()
            git.kill()  # does nothing if it has ended
    if stuck.is_set():
        pipe = _pipe(folder)
        name = "a file that git reads" if pipe is None else Path(pipe).name
        raise GitFailed(f"{name} is a named pipe, remove it: {pipe or folder}")
    return told


def _watch(git: subprocess.Popen[bytes], ended: threading.Event, stuck: threading.Event) -> None:
    """End a git that waits for a named pipe, as a `.gitignore` may be; elsewhere its time ends."""
    while not ended.wait(CHECK_INTERVAL):
        if sleeps_in(git.pid) == _OPENS_A_PIPE:
            stuck.set()
            git.kill()


def _pipe(folder: str) -> str | None:
    """Return a named pipe that has the place of a file that git reads and would wait for."""
    for above, _, names in os.walk(folder):
        is_of_git = ".git" in Path(above).parts
        for path in (f"{above}/{it}" for it in names if is_of_git or it.startswith(".git")):
            with suppress(OSError):
                if stat.S_ISFIFO(os.lstat(path).st_mode):
                    return path
    return None


def _fault(said: str) -> GitFailed:
    """Return the fault of a git that has ended with complaints, or none: it was killed."""
    lines = said.split(LINE)
    line = next((it for it in lines if it.startswith("fatal: ")), lines[-1] or "it was killed")
    return GitFailed(f"git: {line.removeprefix('fatal: ')}")

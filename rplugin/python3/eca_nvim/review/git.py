"""Git: runs git for a repository of our own, or to list the files of a project; blocks.

Rules kept here:
- git reads nothing of the user's or the system's configuration, and no variable that is meant for
  another repository. It starts no other program: no hooks, filters or monitors.
- It runs with a low priority.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import which
from typing import Final

from eca_nvim.spawn import child_environment

PATIENCE, LISTING_PATIENCE = 300.0, 60.0
"""Seconds that git may take, and to list files."""
LINE: Final = "\n"
MISSING: Final = "git is not installed: checkpoints need it"

_OPTIONS: Final = {
    "core.attributesFile": os.devnull,
    "core.autocrlf": "false",
    "core.excludesFile": os.devnull,
    "core.fileMode": "true",
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.ignoreCase": "false",
    "core.precomposeUnicode": "false",
    "core.preloadIndex": "true",
    "core.protectHFS": "false",
    "core.protectNTFS": "false",
    "core.safecrlf": "false",
    "core.splitIndex": "false",
    "core.symlinks": "true",
    "core.untrackedCache": "false",
    "gc.auto": "0",
    "gc.reflogExpire": "now",
    "index.version": "4",
    "maintenance.auto": "false",
}


class GitFailed(Exception):
    """Raised when git cannot do what was asked; the text says why in one line."""


class GitSlow(GitFailed):
    """Raised when git does not end in its time."""


def clean_environment() -> dict[str, str]:
    """Return the environment for git, without what is meant for other repositories."""
    inherited = child_environment().items()
    kept = {key: value for key, value in inherited if not key.startswith("GIT_")}
    return {**kept, "GIT_ALLOW_PROTOCOL": "none", "GIT_TERMINAL_PROMPT": "0"}


def list_project(folder: str) -> bytes:
    """Return the files of a project, each with a NUL after it, without what git ignores there.

    A repository inside the folder is one entry. Raises GitFailed: a part would look like all.
    """
    git = which("git")
    if git is None:
        raise GitFailed(MISSING)
    # A repository's configuration may name programs that git would start.
    options = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-C", folder)
    what = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    environment = clean_environment() | {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    return _run([git, *options, *what], b"", environment, "/", LISTING_PATIENCE)


def run_git(
    repository: Path,
    task: str,
    *arguments: str,
    root: str | None = None,
    index: Path | None = None,
    fed: bytes = b"",
) -> bytes:
    """Run a task of git for a bare repository; return what it prints. Raises GitFailed.

    root: the folder whose files it is about; index: the file for its list of them.
    """
    git = which("git")
    if git is None:
        raise GitFailed(MISSING)
    nice = which("nice")
    priority, options = [nice] if nice else [], list[str]()
    for name, value in {**_OPTIONS, "core.bare": str(root is None).lower()}.items():
        options += ["-c", f"{name}={value}"]
    command = [*priority, git, *options, task, *arguments]
    environment = _environment(repository, root, index)
    return _run(command, fed, environment, root or str(repository), PATIENCE)


def _run(
    command: Sequence[str], fed: bytes, environment: Mapping[str, str], folder: str, seconds: float
) -> bytes:
    try:
        done = subprocess.run(
            command,
            input=fed,
            capture_output=True,
            env=environment,
            cwd=folder,
            check=False,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        raise GitSlow(f"git has not ended after {seconds:.0f} s") from None
    except OSError as fault:
        raise GitFailed(f"git cannot be run: {fault.strerror}") from fault
    if done.returncode:
        raise GitFailed(f"git: {done.stderr.decode(errors='replace').strip().rpartition(LINE)[2]}")
    return done.stdout


def _environment(repository: Path, root: str | None, index: Path | None) -> Mapping[str, str]:
    environment = clean_environment() | {
        "GIT_AUTHOR_EMAIL": "eca",
        "GIT_AUTHOR_NAME": "eca",
        "GIT_COMMITTER_EMAIL": "eca",
        "GIT_COMMITTER_NAME": "eca",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_DIR": str(repository),
        "LC_ALL": "C",
    }
    if root is not None:
        environment["GIT_WORK_TREE"] = root
    if index is not None:
        environment["GIT_INDEX_FILE"] = str(index)
    return environment

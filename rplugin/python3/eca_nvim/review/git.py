"""Git: runs git for a repository of our own, or to list the files of a project; blocks.

Rules kept here:
- git reads nothing of the user's or the system's configuration, and no variable that is meant for
  another repository. It starts no other program: no hooks, filters or monitors.
- It runs with a low priority.
"""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from shutil import which
from typing import Final

from eca_nvim.spawn import child_environment

PATIENCE: Final = 300.0
"""Seconds that git may take."""

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


def clean_environment() -> dict[str, str]:
    """Return the environment for git, without what is meant for other repositories."""
    inherited = child_environment().items()
    kept = {key: value for key, value in inherited if not key.startswith("GIT_")}
    return {**kept, "GIT_ALLOW_PROTOCOL": "none", "GIT_TERMINAL_PROMPT": "0"}


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
        raise GitFailed("git is not installed: checkpoints need it")
    nice = which("nice")
    priority, options = [nice] if nice else [], list[str]()
    for name, value in {**_OPTIONS, "core.bare": str(root is None).lower()}.items():
        options += ["-c", f"{name}={value}"]
    try:
        done = subprocess.run(
            [*priority, git, *options, task, *arguments],
            input=fed,
            capture_output=True,
            env=_environment(repository, root, index),
            cwd=root or repository,
            check=False,
            timeout=PATIENCE,
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise GitFailed(f"git {task} failed: {fault}") from fault
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().split("\n")[-1]
        raise GitFailed(f"git {task} failed: {said}")
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

"""Path risks: paths that lead out of the workspace, or to files that other programs obey.

Rules kept here:
- Links are followed, both of the path as written and of the path with `..` resolved: programs
  differ in which of the two they use. Of a path that does not exist the existing folders count.
- Nothing is opened. A path that no file can have is no risk.
- A git folder is recognised by its name or its content: those of work trees, submodules and bare
  repositories may have any name and be anywhere. git runs programs that are configured there.
"""

from __future__ import annotations

import os
import posixpath
import pwd
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Final

_LONGEST: Final = 4096  # bytes of a path (PATH_MAX)
_GIT: Final = ".git"
_OF_REPOSITORIES: Final = (_GIT, ".jj", ".hg")
_IN_GIT_FOLDERS: Final = ("HEAD", "objects", "refs")
_OF_EDITOR: Final = frozenset(
    {
        *(".nvim.lua", ".nvimrc", ".exrc"),  # see 'exrc'
        *(".vimrc", ".gvimrc", ".vim", ".vscode", ".idea"),
    }
)
_OF_SYSTEM: Final = frozenset(
    {
        *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile"),
        *(".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc"),
        *(".login", ".logout", ".inputrc", ".envrc", ".ssh", ".gnupg", ".netrc", ".npmrc"),
        *(".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".xresources", ".pam_environment"),
        *(".gitconfig", ".gitattributes", ".gitmodules", ".hgrc", ".tmux.conf", ".screenrc"),
        *(".husky", ".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml", ".yarnrc.yml"),
    }
)
_FOLDERS_OF_SYSTEM: Final = (
    *((".config", it) for it in ("autostart", "environment.d", "fish", "git", "nvim", "systemd")),
    *((".local", it) for it in ("bin", "share")),
)
OF_AGENTS: Final[Mapping[str, frozenset[str]]] = {
    "aider": frozenset({".aider.conf.yml"}),
    "amp": frozenset({".amp"}),
    "auggie": frozenset({".augment"}),
    "claude": frozenset({".claude", ".claude.json", "claude.md", "claude.local.md"}),
    "cline": frozenset({".cline", ".clinerules"}),
    "codex": frozenset({".codex", "agents.override.md"}),
    "copilot": frozenset({".copilot", "copilot-instructions.md"}),
    "crush": frozenset({".crush", "crush.json", ".crush.json", "crush.md"}),
    "cursor": frozenset({".cursor", ".cursorrules"}),
    "droid": frozenset({".factory"}),
    "eca": frozenset({".eca", ".nvim"}),
    "fast-agent": frozenset({"fastagent.config.yaml", "fastagent.secrets.yaml", ".fast-agent"}),
    "gemini": frozenset({".gemini", "gemini.md"}),
    "goose": frozenset({".goose", ".goosehints"}),
    "junie": frozenset({".junie"}),
    "kilo": frozenset({".kilocode", ".kilocodemodes"}),
    "kimi": frozenset({".kimi"}),
    "kiro": frozenset({".kiro"}),
    "opencode": frozenset({".opencode", "opencode.json", "opencode.jsonc"}),
    "qwen": frozenset({".qwen", "qwen.md"}),
    "roo": frozenset({".roo", ".roorules", ".roomodes"}),
    "vibe": frozenset({".vibe"}),
    "windsurf": frozenset({".windsurf", ".windsurfrules"}),
}
"""Files and folders that agents obey, by their names, in lower case.

In a workspace; it may itself be in a folder with such a name.
"""
_OF_ANY_AGENT: Final = frozenset({"agents.md"}).union(*OF_AGENTS.values())
_OF_TOOL_SERVERS: Final = (".json", ".jsonc", ".toml", ".yaml", ".yml")
"""Ends of the names of files with `mcp` in them that name programs which agents start."""


class PathRisk(Enum):
    """Why a path needs the user's attention, in words for him."""

    OUTSIDE = "outside the workspace by a link"
    LINK = "another file or folder by a link"
    GIT = "in a git folder, from which git runs programs"
    EDITOR = "run by Neovim or another editor when it starts there"
    SYSTEM = "what a shell, git, ssh or the desktop runs or obeys"
    AGENT = "what the agent itself may do"


def path_risks(path: str, folders: Sequence[str]) -> dict[PathRisk, str]:
    """Return the risks of a path, each with the real path; none for an ordinary workspace file.

    path: absolute, or relative to the first folder. folders: the workspace, absolute.
    """
    found: dict[PathRisk, str] = {}
    for real, written in _real_paths(posixpath.join(*folders[:1], path)):
        for risk in _risks(PurePosixPath(real), PurePosixPath(written), folders):
            found.setdefault(risk, real)
    return found


def real_path(path: str) -> str:
    """Return a path with all links resolved, whether it exists or not. Raises ValueError."""
    return posixpath.realpath(path)


def is_inside(path: str, folders: Iterable[str]) -> bool:
    """Return whether a real path is in one of some folders, which may be named by links."""
    return _is_in(PurePosixPath(path), map(real_path, folders))


def _real_paths(path: str) -> Iterator[tuple[str, str]]:
    """Yield the real paths that a program may end up with, each with the path as written."""
    for written in dict.fromkeys((posixpath.normpath(path), path)):
        try:
            if len(os.fsencode(written)) <= _LONGEST:
                yield real_path(written), posixpath.normpath(written)
        except ValueError:  # a NUL, or half a surrogate pair
            continue


def _risks(
    real: PurePosixPath, written: PurePosixPath, folders: Sequence[str]
) -> Iterator[PathRisk]:
    if _is_in(written, folders) and not _is_in(real, map(real_path, folders)):
        yield PathRisk.OUTSIDE
    elif _leads_elsewhere(real, written, folders):
        yield PathRisk.LINK
    names = {_plain(name) for name in (*real.parts, *written.parts)}
    if _GIT in names or any(map(_is_git_folder, (real, *real.parents))):
        yield PathRisk.GIT
    inside = [tuple(map(_plain, _below(path, folders))) for path in (real, written)]
    below = {name for names in inside for name in names}
    if below & _OF_EDITOR:
        yield PathRisk.EDITOR
    pairs = {pair for names in inside for pair in pairwise(names)}
    if below & _OF_SYSTEM or not pairs.isdisjoint(_FOLDERS_OF_SYSTEM):
        yield PathRisk.SYSTEM
    if below & _OF_ANY_AGENT or any(map(_names_tool_servers, below)):
        yield PathRisk.AGENT


def _leads_elsewhere(real: PurePosixPath, written: PurePosixPath, folders: Sequence[str]) -> bool:
    """Return whether a path is another one than it says, beyond a link to the workspace itself."""
    folder = next((it for it in folders if written.is_relative_to(it)), "/")
    return real != PurePosixPath(real_path(folder)) / written.relative_to(folder)


def is_project(folder: str) -> bool:
    """Return whether a folder is in a repository that may be a project."""
    real = PurePosixPath(real_path(folder))
    above = (str(it) for it in (real, *real.parents) if any(map(os.path.lexists, _marks(it))))
    return may_be_project(folder) and any(map(may_be_project, above))


def _marks(folder: PurePosixPath) -> Iterator[PurePosixPath]:
    """Yield what is in a folder that is a repository."""
    return (folder / name for name in _OF_REPOSITORIES)


def may_be_project(folder: str) -> bool:
    """Return whether a folder may be a project: not the home folder, one above it, or the root."""
    real = PurePosixPath(real_path(folder))
    homes = (posixpath.expanduser("~"), _home_of_user(), "/")
    return not any(PurePosixPath(real_path(home)).is_relative_to(real) for home in homes)


def _home_of_user() -> str:
    """Return the home folder that the system knows, whatever the environment says."""
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:  # a user without an entry, as in containers
        return "/"


def _plain(name: str) -> str:
    """Return a name as file systems that ignore case, or blanks and dots at the end, read it."""
    return name.casefold().rstrip(". ")


def _names_tool_servers(name: str) -> bool:
    return "mcp" in name and name.endswith(_OF_TOOL_SERVERS)


def _is_in(path: PurePosixPath, folders: Iterable[str]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _below(path: PurePosixPath, folders: Sequence[str]) -> Sequence[str]:
    """Return the names of a path below the workspace, all if it is outside."""
    inside = (it for it in (*folders, *map(real_path, folders)) if path.is_relative_to(it))
    return path.relative_to(next(inside, "/")).parts


def _is_git_folder(folder: PurePosixPath) -> bool:
    return all(os.path.lexists(folder / name) for name in _IN_GIT_FOLDERS)

"""Path risks: paths that lead out of the workspace, or to files that other programs obey.

Nothing is opened. A path that no file can have is no risk.
"""

import os
import posixpath
import pwd
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path, PurePosixPath
from stat import S_ISDIR, S_ISREG
from typing import Final

_LONGEST: Final = 4096  # bytes of a path (PATH_MAX)
_GIT: Final = ".git"
_OF_REPOSITORIES: Final = (_GIT, ".jj", ".hg")
_IN_GIT_FOLDERS: Final = ("HEAD", "objects", "refs")


class _Names:
    """Names of files, or of a folder and a file in it (`.local/bin`).

    `*` stands for any text of a name. What stands between two is looked for once (`(?>…)`): else a
    long name would take quadratic time.
    """

    def __init__(self, *patterns: str) -> None:
        self._patterns = patterns

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile("|".join(map(_expression, self._patterns)))  # 1.5 ms of the start

    def has(self, name: str) -> bool:
        """Return whether a name is one of these."""
        return self._compiled.fullmatch(name) is not None


def _expression(pattern: str) -> str:
    first, *others = map(re.escape, pattern.split("*"))
    middle = "".join(f"(?>[^/]*?{part})" for part in others[:-1])
    return f"{first}{middle}[^/]*{others[-1]}" if others else first


_RUN_PROGRAMS: Final = frozenset({_GIT, ".hg", ".jj", ".sl", ".svn"})
"""Folders of version control, from which it runs programs."""
_OF_EDITOR: Final = _Names(
    *(".nvim.lua", ".nvimrc", ".exrc"),  # see 'exrc'
    *(".vimrc", ".gvimrc", ".vim", ".lazy.lua", ".lvimrc", ".local.vimrc", ".vimspector.json"),
    *(".vscode", ".idea", ".helix", ".zed", ".fleet", "*.sublime-project", ".devcontainer*"),
    *(".emacs*", ".dir-locals*.el"),
)
_OBEYED_SECRETS: Final = (".env", ".env.*", ".envrc*", ".ssh", ".gnupg", ".netrc", ".npmrc")
_OF_SYSTEM: Final = _Names(
    *_OBEYED_SECRETS,
    *(".bash*", ".zsh*", ".zprofile", ".zlog*", ".profile*", ".kshrc", ".*cshrc", ".xonshrc"),
    *(".login", ".logout", ".inputrc", ".direnv", ".autoenv*", ".yarnrc*", ".pam_environment"),
    *(".xprofile", ".xinitrc", ".xsession*", ".xresources", "*.desktop", ".config"),
    *(".local/bin", ".local/share", ".tmux.conf", ".screenrc", ".wezterm.lua"),
    *(".gitconfig", ".gitattributes", ".gitmodules", ".lfsconfig", ".hgrc"),
    *(".githooks", ".git-hooks", ".husky", ".pre-commit-config.*", "lefthook*", ".lefthook*"),
    *(".overcommit.yml", ".lintstagedrc*"),
    *("mise.toml", "mise.*.toml", ".mise*", ".tool-versions", ".gdbinit", ".lldbinit", ".pdbrc"),
)
_WITH_SECRETS: Final = _Names(
    *_OBEYED_SECRETS,
    *("*.env", "_netrc", ".pypirc", ".pgpass", ".my.cnf", ".htpasswd", ".git-credentials"),
    *(".aws", ".azure", ".kube", ".docker/config.json", "gcloud", ".vault-token"),
    *(
        ".password-store",
        "*.pem",
        "*.key",
        "*.p12",
        "*.pfx",
        "*.jks",
        "*.keystore",
        "*.kdbx",
        "*.gpg",
        "*.age",
    ),
    *("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.tfvars", "*.tfstate"),
    *("secrets", "secrets.*", ".secrets*", "*.secret", "*.secrets", "credentials", "credentials.*"),
    "fastagent.secrets.yaml",
)
OF_AGENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "aider": (".aider*",),
    "amp": (".amp",),
    "amazon q": (".amazonq",),
    "auggie": (".augment*",),
    "claude": (".claude*", "claude.md", "claude.local.md"),
    "cline": (".cline*",),
    "codex": (".codex", "agents.override.md"),
    "continue": (".continue*",),
    "copilot": (
        *(".copilot", "copilot-instructions.md", ".github/agents", ".github/chatmodes"),
        *(".github/copilot*", ".github/hooks", ".github/instructions", ".github/prompts"),
        ".github/skills",
    ),
    "crush": (".crush*", "crush.json", "crush.md"),
    "cursor": (".cursor*",),
    "droid": (".factory",),
    "eca": (".eca", ".nvim"),
    "fast-agent": ("fastagent.config.yaml", "fastagent.secrets.yaml", ".fast-agent"),
    "gemini": (".gemini", "gemini.md"),
    "goose": (".goose*",),
    "grok": (".grok",),
    "iflow": (".iflow", "iflow.md"),
    "junie": (".junie",),
    "kilo": (".kilocode*",),
    "kimi": (".kimi",),
    "kiro": (".kiro",),
    "opencode": (".opencode", "opencode.json", "opencode.jsonc"),
    "qoder": (".qoder",),
    "qwen": (".qwen", "qwen.md"),
    "roo": (".roo*",),
    "trae": (".trae",),
    "vibe": (".vibe",),
    "windsurf": (".windsurf*",),
    "any": ("agents.md", "agent.md", ".agents", ".agent", ".rules"),
}
"""Files and folders that agents obey, as patterns of lower-case names.

In a workspace; it may itself be in a folder with such a name.
"""
_OF_TOOL_SERVERS: Final = ("*mcp*.json", "*mcp*.jsonc", "*mcp*.toml", "*mcp*.y*ml")
"""Files that name programs which agents start."""
_OF_ANY_AGENT: Final = _Names(*chain(*OF_AGENTS.values()), *_OF_TOOL_SERVERS)


class PathRisk(Enum):
    """Why a path needs the user's attention, in words for them."""

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


def may_have_secrets(path: str, folders: Sequence[str]) -> bool:
    """Return whether a file may have secrets in it, by the names of it and of its folders.

    path: absolute. folders: the workspace, whose own names do not count. Git's files count.
    """
    for each in chain.from_iterable(_real_paths(path)):
        names = _below(PurePosixPath(each), folders)
        if any(map(_WITH_SECRETS.has, _steps(names))) or not _RUN_PROGRAMS.isdisjoint(names):
            return True
    return False


def real_path(path: str) -> str:
    """Return a path with all links resolved, whether it exists or not. Raises ValueError."""
    return posixpath.realpath(path)


def is_inside(path: str, folders: Iterable[str]) -> bool:
    """Return whether a real path is in one of some folders, which may be named by links."""
    return _is_in(PurePosixPath(path), map(real_path, folders))


def _real_paths(path: str) -> Iterator[tuple[str, str]]:
    """Yield the real paths that a program may end up with, each with the path as written.

    Programs differ in whether they follow links before they resolve `..`. Of a path that does not
    exist the existing folders count.
    """
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
    if names & _RUN_PROGRAMS or _is_in_git_folder(real):
        yield PathRisk.GIT
    below = [name for path in (real, written) for name in _steps(_below(path, folders))]
    homes = [home for home in _homes() if real.is_relative_to(home)]
    at_home = [name for home in homes for name in _steps(real.relative_to(home).parts)]
    if any(map(_OF_EDITOR.has, [*below, *at_home])):
        yield PathRisk.EDITOR
    if any(map(_OF_SYSTEM.has, [*below, *at_home])) or _is_in(real, _linked_from_home()):
        yield PathRisk.SYSTEM
    if any(map(_OF_ANY_AGENT.has, below)):
        yield PathRisk.AGENT


def _linked_from_home() -> Iterator[str]:
    """Yield the real paths to which links of the home folder lead that programs obey."""
    for home in {*_homes()}:
        for folder in (home, posixpath.join(home, ".config")):
            with suppress(OSError), os.scandir(folder) as entries:
                for entry in entries:
                    name = _plain(entry.name) if folder == home else ".config"
                    obeyed = _OF_SYSTEM.has(name) or _OF_EDITOR.has(name)
                    if obeyed and entry.is_symlink():
                        yield real_path(entry.path)


def _steps(parts: Sequence[str]) -> Iterator[str]:
    """Yield the names of a path, and each with the one before it (`.local/bin`)."""
    names = [*map(_plain, parts)]
    yield from names
    yield from map("/".join, pairwise(names))


def _leads_elsewhere(real: PurePosixPath, written: PurePosixPath, folders: Sequence[str]) -> bool:
    """Return whether a path is another one than it says, beyond a link to the workspace itself."""
    folder = next((it for it in folders if written.is_relative_to(it)), "/")
    return real != PurePosixPath(real_path(folder)) / written.relative_to(folder)


def is_project(folder: str) -> bool:
    """Return whether a folder is in a repository that may be a project."""
    real = PurePosixPath(real_path(folder))
    above = (str(it) for it in (real, *real.parents) if _is_repository(it))
    return may_be_project(folder) and any(map(may_be_project, above))


def projects(folders: Iterable[str], is_treated: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the folders that are projects: in a repository, or treated as one by the user.

    The home folder, one above it, or the root never is. is_treated: whether the user has said so of
    a folder, whose path is real.
    """
    return tuple(
        it for it in folders if is_project(it) or (may_be_project(it) and is_treated(real_path(it)))
    )


def _is_repository(folder: PurePosixPath) -> bool:
    """Return whether a folder has a repository of the user's, or of the system's administrator.

    Anybody can make an empty file with the name of one in a folder that all may write. A `.git`
    that is a file names the folder of git, as in work trees.
    """
    for name in _OF_REPOSITORIES:
        with suppress(OSError, ValueError):
            status = Path(folder / name).stat()
            is_link = name == _GIT and S_ISREG(status.st_mode) and status.st_size > 0
            if status.st_uid in (os.getuid(), 0) and (S_ISDIR(status.st_mode) or is_link):
                return True
    return False


def may_be_project(folder: str) -> bool:
    """Return whether a folder may be a project: not the home folder, one above it, or the root."""
    real = PurePosixPath(real_path(folder))
    return not any(PurePosixPath(home).is_relative_to(real) for home in (*_homes(), "/"))


def _homes() -> tuple[str, str]:
    """Return the real home folders: that of the environment, and that which the system knows."""
    try:
        known = pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:  # a user without an entry, as in containers
        known = "/"
    return real_path(posixpath.expanduser("~")), real_path(known)


def _plain(name: str) -> str:
    """Return a name as file systems that ignore case, or blanks and dots at the end, read it."""
    return name.casefold().rstrip(". ")


def _is_in(path: PurePosixPath, folders: Iterable[str]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _below(path: PurePosixPath, folders: Sequence[str]) -> Sequence[str]:
    """Return the names of a path below the workspace, all if it is outside."""
    inside = (it for it in (*folders, *map(real_path, folders)) if path.is_relative_to(it))
    return path.relative_to(next(inside, "/")).parts


def _is_in_git_folder(path: PurePosixPath) -> bool:
    """Return whether a path is in a folder that git takes for its own, or would once it is there.

    Those of work trees, submodules and bare repositories may have any name and be anywhere.
    Any folder with three names is one: who writes the last of them has git run anything.
    """
    return any(
        all(mark == name or os.path.lexists(folder / mark) for mark in _IN_GIT_FOLDERS)
        for folder, name in zip(path.parents, reversed(path.parts), strict=False)
    )


class UnfitFolder(Exception):
    """Raised when a folder cannot be part of the workspace; the message is one line."""


class Folders(list[str]):
    """The folders of the workspace: those of the start, then those that the user has added.

    Absolute. All who ask what is in the workspace share this list, which changes. Added folders are
    real paths: a link that is changed later does not lead to more.
    """

    def __init__(self, first: Iterable[str]) -> None:
        super().__init__(first)
        self.first = tuple(self)

    @property
    def added(self) -> tuple[str, ...]:
        """Those that the user has added."""
        return tuple(self[len(self.first) :])

    def add(self, path: str) -> str:
        """Add a folder and return its real path. Raises UnfitFolder."""
        folder = _real_folder(path)
        if is_inside(folder, self):
            raise UnfitFolder(f"{folder} is in the workspace")
        if not may_be_project(folder):
            raise UnfitFolder(f"{folder} is too much for an agent: add a folder in it")
        self.append(folder)
        return folder

    def drop(self, path: str) -> str:
        """Remove an added folder and return its real path. Raises UnfitFolder."""
        folder = real_path(path)
        if folder not in self.added:
            raise UnfitFolder(f"{folder} was not added with :Eca folder add")
        self[:] = (*self.first, *(it for it in self.added if it != folder))
        return folder


def _real_folder(path: str) -> str:
    try:
        if posixpath.isabs(path) and S_ISDIR(Path(path).stat().st_mode):
            return real_path(path)
    except (OSError, ValueError):
        pass
    raise UnfitFolder(f"there is no folder {path}")

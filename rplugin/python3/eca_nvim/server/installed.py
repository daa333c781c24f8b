"""Installed: the servers in our own folder: which version of each is used, and the one before it.

FOLDER/NAME/state.json names both. It is replaced as a whole, so a server is always the old or the
new one; one process at a time changes a server.
"""

import fcntl
import json
import os
import shutil
import string
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from eca_nvim.digests import new_id

_LONGEST_NAME: Final = 64
_IN_NAMES: Final = frozenset(f"{string.ascii_lowercase}{string.digits}_-")
_IN_VERSIONS: Final = frozenset(f"{string.ascii_letters}{string.digits}._-")
_STATE: Final = "state.json"
_LOCK: Final = "lock"
KEPT: Final = "download"
"""How the names of files begin that a later attempt goes on with."""


class NotInstalled(Exception):
    """Raised when something is not installed; the text is one line with fault and remedy."""


class Version(NamedTuple):
    """A version of a server that is installed.

    command: its whole command line. folder: what it consists of, in the folder of the server.
    environment: variables that it needs.
    """

    version: str
    command: tuple[str, ...]
    protocol: str
    folder: str
    environment: Mapping[str, str] = MappingProxyType({})


class Versions(NamedTuple):
    """The version that is used, and the one that can be used again."""

    current: Version | None = None
    previous: Version | None = None


def is_name(name: str) -> bool:
    """Return whether a server may have this name: it is that of a folder."""
    is_short = 0 < len(name) <= _LONGEST_NAME
    return is_short and name[0] not in "_-" and _IN_NAMES.issuperset(name)


def versions(folder: str | None, name: str) -> Versions:
    """Return the versions of a server; none if its state cannot be read, or `folder` is None."""
    if folder is None or not is_name(name):
        return Versions()
    try:
        told = json.loads(Path(folder, name, _STATE).read_bytes())
        return Versions(*(_version(told.get(key)) for key in Versions._fields))
    except (OSError, ValueError, TypeError, AttributeError):
        return Versions()


def _version(told: Mapping[str, Any] | None) -> Version | None:
    if told is None:
        return None
    found = Version(**{**told, "command": (*told["command"],)})
    texts = (*found[:1], *found.command, *found[2:4], *found.environment.values())
    if isinstance(told["command"], str) or not all(isinstance(it, str) for it in texts):
        raise TypeError("another program has written it")
    return found


def installed_names(folder: str | None) -> list[str]:
    """Return the names of all installed servers."""
    with suppress(OSError):
        names = (it.name for it in Path(folder or "").iterdir())
        return sorted(it for it in names if versions(folder, it).current)
    return []


def place_for(folder: str, name: str, version: str) -> str:
    """Return a path for a version of a server that nothing has. Raises NotInstalled."""
    if not is_name(name):
        raise NotInstalled(f"{name!r} cannot be the name of a folder")
    safe = "".join(it if it in _IN_VERSIONS else "_" for it in version[:40]).lstrip(".")
    return str(Path(folder, name, f"{safe}-{new_id()[:8]}"))


@contextmanager
def changing(folder: str, name: str) -> Iterator[Path]:
    """Return the folder of a server, made if it is missing, for this process alone.

    Raises NotInstalled if another process changes it, and OSError.
    """
    home = Path(folder, name)
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (home / _LOCK).open("wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise NotInstalled(
                f"another Neovim is installing or removing {name}: wait for it, then try again"
            ) from None
        yield home


def switch(folder: str, name: str, version: Version) -> None:
    """Use a version from now on, and keep the one before; older ones are removed."""
    old = versions(folder, name).current
    _write(folder, name, Versions(version, old))
    kept = {it.folder for it in (version, old) if it is not None}
    for path in Path(folder, name).iterdir():
        if path.is_dir() and str(path) not in kept:
            shutil.rmtree(path, ignore_errors=True)


def switch_back(folder: str, name: str) -> Version:
    """Use the version before again; the one of now becomes that. Raises NotInstalled."""
    current, previous = versions(folder, name)
    if previous is None or not Path(previous.folder).is_dir():
        raise NotInstalled(f"no earlier version of {name} is kept")
    _write(folder, name, Versions(previous, current))
    return previous


def remove(folder: str, name: str) -> None:
    """Remove all versions of a server. Raises NotInstalled if there are none."""
    home = Path(folder, name)
    if versions(folder, name) == Versions():
        raise NotInstalled(f"{name} was not installed by :Eca install: nothing is removed")
    (home / _STATE).unlink()
    shutil.rmtree(home, ignore_errors=True)


def _write(folder: str, name: str, told: Versions) -> None:
    path = Path(folder, name, _STATE)
    new = path.with_suffix(".new")
    table = {key: it and {**it._asdict()} for key, it in told._asdict().items()}
    with new.open("w", encoding="utf-8") as file:
        json.dump(table, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)

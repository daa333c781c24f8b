"""Compiled modules: one file with the code of all modules that a start needs, some 450.

Most are not ours: Python's own, pynvim's, anyio's. Finding each in the folders of the path, and its
code beside it, takes longer than running it; where the package's folder cannot be written, Python
would also compile ours again at each start.

Rules kept here:
- The file is a cache. A module of it is used for as long as its source has the size and the date
  that it had; all of them, as long as the same Python looks for modules in the same folders, and
  nothing was added to one of these. Otherwise Python imports as always.
- The host writes it when it ends, if it has imported modules in another way. It is replaced in one
  step, and only the user can write it: a file that others can write is not read.
- Nothing here raises, and nothing but the standard library is imported.
"""

from __future__ import annotations

import atexit
import marshal
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from types import CodeType, ModuleType
from typing import Final, NamedTuple, TypeAlias

_PYTHON: Final = MAGIC_NUMBER + sys.version.encode()
_PRIVATE: Final = 0o600
_OTHERS: Final = 0o022
"""Permissions of everybody else to write a file."""
_LENGTH_BYTES: Final = 8
"""Bytes at the beginning of the file: the length of the table that follows them. The code of all
modules follows the table."""


_Key: TypeAlias = tuple[bytes, str, tuple[tuple[str, int], ...]]
"""What the modules depend on besides their sources: the Python, the folder of our package, and the
folders of the path with their dates."""


class _Source(NamedTuple):
    """What the source of a module was when its code was written."""

    path: str
    date: int
    size: int
    is_package: bool

    @property
    def is_fresh(self) -> bool:
        """Whether it has not changed since."""
        try:
            found = os.stat(self.path)  # noqa: PTH116 - a Path would double what it takes
        except OSError:
            return False
        return (found.st_mtime_ns, found.st_size) == (self.date, self.size)


class _Row(NamedTuple):
    """A row of the table: a module's source, and the bytes at which its code begins and ends."""

    source: _Source
    begin: int
    end: int


class _Loader(SourceFileLoader):
    """Loads a module whose code is in the file; in everything else it is as Python's own."""

    def __init__(self, name: str, row: _Row, file: int) -> None:
        super().__init__(name, row.source.path)
        self._row = row
        self._file = file

    @property
    def packed_code(self) -> bytes:
        """The code of the module, marshalled."""
        return os.pread(self._file, self._row.end - self._row.begin, self._row.begin)

    def get_code(self, _name: str) -> CodeType | None:
        """Return the code of the module."""
        code: CodeType = marshal.loads(self.packed_code)  # noqa: S302
        return code


class _Finder:
    """Finds the modules of the file."""

    def __init__(self, file: int, rows: Mapping[str, _Row]) -> None:
        self._file = file
        self._rows = rows

    def find_spec(
        self, name: str, _path: object = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the place of a module, None if it is not here as it is now."""
        row = self._rows.get(name)
        if row is None or not row.source.is_fresh:
            return None
        loader, path = _Loader(name, row, self._file), row.source.path
        spec = ModuleSpec(name, loader, origin=path, is_package=row.source.is_package)
        spec.has_location = True
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(os.path.dirname(path))  # noqa: PTH120
        return spec

    def all(self) -> dict[str, ModuleSpec]:
        """Return the places of all modules that are here as they are now, by their names."""
        found = {name: self.find_spec(name) for name in self._rows}
        return {name: spec for name, spec in found.items() if spec is not None}


def use(package: str, file: str) -> None:
    """Import modules from a file, which is kept up to date for a package (its folder)."""
    key = _key(package)
    finder = _open(file, key)
    if finder is not None:
        sys.meta_path.insert(0, finder)
    atexit.register(_save, file, key, finder, frozenset(sys.modules))


def _key(package: str) -> _Key:
    """Return the key of this start."""
    return (_PYTHON, package, tuple((folder, _date(folder)) for folder in sys.path))


def _date(folder: str) -> int:
    """Return when something was added to a folder, in ns; 0 if it does not exist."""
    try:
        return os.stat(folder).st_mtime_ns  # noqa: PTH116 - as above
    except OSError:
        return 0


def _open(file: str, key: _Key) -> _Finder | None:
    """Open the file; return None if there is none for this key, or none that can be used."""
    try:
        opened = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        rows = _table(opened, key)
    except (OSError, EOFError, ValueError, TypeError, AttributeError):
        rows = {}
    if not rows:
        os.close(opened)
        return None
    return _Finder(opened, rows)


def _table(file: int, key: _Key) -> dict[str, _Row]:
    """Read the table; raises what marshal raises, and what other content leads to."""
    found = os.fstat(file)
    if found.st_uid != os.geteuid() or found.st_mode & _OTHERS:
        return {}
    length = int.from_bytes(os.read(file, _LENGTH_BYTES), sys.byteorder)
    told, size, rows = marshal.loads(os.read(file, min(length, found.st_size)))  # noqa: S302
    codes = _LENGTH_BYTES + length
    if (told, codes + size) != (key, found.st_size):
        return {}
    return {
        name: _Row(_Source(*source), codes + begin, codes + end)
        for name, (source, begin, end) in rows.items()
    }


# --- writing --------------------------------------------------------------------------------------


def _save(file: str, key: _Key, finder: _Finder | None, early: frozenset[str]) -> None:
    """Write the file if modules were imported in another way, but for those that were too early."""
    from eca_nvim.disk.replacing import replace  # noqa: PLC0415 - not needed at the start

    found = [(name, getattr(it, "__spec__", None)) for name, it in tuple(sys.modules.items())]
    imported = {
        name: spec
        for name, spec in found
        if spec is not None and type(spec.loader) is SourceFileLoader and name not in early
    }
    if imported:
        with suppress(OSError, SyntaxError, ValueError):  # an update is under way
            known = {} if finder is None else finder.all()
            replace(file, _packed(key, {**known, **imported}), _PRIVATE)


def _packed(key: _Key, modules: Mapping[str, ModuleSpec]) -> bytes:
    """Return the content of a file with these modules. Raises OSError, SyntaxError, ValueError."""
    rows, codes, size = {}, list[bytes](), 0
    for name, spec in modules.items():
        source, code = _source(spec), _packed_code(spec)
        rows[name] = (tuple(source), size, size + len(code))
        codes.append(code)
        size += len(code)
    table = marshal.dumps((key, size, rows))
    return b"".join([len(table).to_bytes(_LENGTH_BYTES, sys.byteorder), table, *codes])


def _source(spec: ModuleSpec) -> _Source:
    """Return the source of a module as it is before its code is read. Raises OSError."""
    path = str(spec.origin)
    found = Path(path).stat()
    is_package = spec.submodule_search_locations is not None
    return _Source(path, found.st_mtime_ns, found.st_size, is_package)


def _packed_code(spec: ModuleSpec) -> bytes:
    loader = spec.loader
    if isinstance(loader, _Loader):
        return loader.packed_code
    assert isinstance(loader, SourceFileLoader)
    return marshal.dumps(loader.get_code(spec.name))

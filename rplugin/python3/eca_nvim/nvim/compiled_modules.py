"""Compiled modules: one file with the code of all modules that a start needs, some 450.

Most are not ours: Python's own, pynvim's, anyio's. Finding each in the folders of the path, and its
code beside it, takes longer than running it; where the package's folder cannot be written, Python
would also compile ours again at each start.

Rules kept here:
- The file is a cache. A module of it is used for as long as its source has the size and the date
  that it had; all of them, as long as the same Python looks for modules in the same folders, and
  nothing was added to one of these. Otherwise Python imports as always.
- Damaged code could crash Python, so nothing is used without a look at its digest.
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
from importlib.util import MAGIC_NUMBER, source_hash
from pathlib import Path
from types import CodeType, ModuleType
from typing import Final, NamedTuple, TypeAlias

_PYTHON: Final = MAGIC_NUMBER + sys.version.encode()
_PRIVATE: Final = 0o600
_OTHERS: Final = 0o022
"""Permissions of everybody else to write a file."""
_DIGEST_BYTES: Final = 8
_HEAD: Final = 2 * _DIGEST_BYTES
"""Bytes at the beginning of the file: the length of the table that follows them, and its digest.
The code of all modules follows the table."""


_Key: TypeAlias = tuple[bytes, str, tuple[tuple[str, int], ...]]
"""What the modules depend on besides their sources: the Python, the folder of our package, and the
folders of the path with their dates; and this file with its date, as it knows the table's form."""


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


class _Module(NamedTuple):
    """A module's source, and its code, marshalled."""

    source: _Source
    code: bytes


class _Row(NamedTuple):
    """A row of the table: a module's source, where its code is in the file, and its digest."""

    source: _Source
    begin: int
    size: int
    digest: bytes


class _Loader(SourceFileLoader):
    """Loads a module whose code was in the file; in everything else it is as Python's own."""

    def __init__(self, name: str, module: _Module) -> None:
        super().__init__(name, module.source.path)
        self._packed = module.code

    def get_code(self, name: str) -> CodeType | None:
        """Return the code of the module. It is kept until the module is executed, not longer."""
        packed, self._packed = self._packed, b""
        if not packed:
            return super().get_code(name)
        code: CodeType = marshal.loads(packed)  # noqa: S302
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
        module = None if row is None else self._read(row)
        if module is None:
            return None
        path, is_package = module.source.path, module.source.is_package
        spec = ModuleSpec(name, _Loader(name, module), origin=path, is_package=is_package)
        spec.has_location = True
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(os.path.dirname(path))  # noqa: PTH120
        return spec

    def all(self) -> dict[str, _Module]:
        """Return all modules that are here as they are now, by their names."""
        found = {name: self._read(row) for name, row in self._rows.items()}
        return {name: module for name, module in found.items() if module is not None}

    def _read(self, row: _Row) -> _Module | None:
        """Read a module, None if it has changed or its code is damaged."""
        if not row.source.is_fresh:
            return None
        try:
            code = os.pread(self._file, row.size, row.begin)
        except OSError:
            return None
        return _Module(row.source, code) if source_hash(code) == row.digest else None


def use(package: str, file: str) -> None:
    """Import modules from a file, which is kept up to date for a package (its folder)."""
    key = _key(package)
    finder = _open(file, key)
    if finder is not None:
        sys.meta_path.insert(0, finder)
    atexit.register(_save, file, key, finder, frozenset(sys.modules))


def _key(package: str) -> _Key:
    """Return the key of this start."""
    return (_PYTHON, package, tuple((place, _date(place)) for place in (*sys.path, __file__)))


def _date(place: str) -> int:
    """Return when a file was written or a folder got or lost a file, in ns; 0 if it is gone."""
    try:
        return os.stat(place).st_mtime_ns  # noqa: PTH116 - as above
    except OSError:
        return 0


def _open(file: str, key: _Key) -> _Finder | None:
    """Open the file; return None if there is none for this key, or none that can be used."""
    try:
        opened = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        rows = _table(opened, key)
    except (OSError, ValueError, TypeError):
        rows = {}
    if not rows:
        os.close(opened)
        return None
    return _Finder(opened, rows)


def _table(file: int, key: _Key) -> dict[str, _Row]:
    """Read the table, if it is whole and for this key. Raises OSError."""
    found = os.fstat(file)
    if found.st_uid != os.geteuid() or found.st_mode & _OTHERS:
        return {}
    head = os.read(file, _HEAD)
    length = int.from_bytes(head[:-_DIGEST_BYTES], sys.byteorder)
    table = os.read(file, min(length, found.st_size))
    if source_hash(table) != head[-_DIGEST_BYTES:]:
        return {}
    told, rows = marshal.loads(table)  # noqa: S302
    if told != key:
        return {}
    codes = _HEAD + length
    return {
        name: _Row(_Source(*source), codes + begin, size, digest)
        for name, (source, begin, size, digest) in rows.items()
    }


# --- writing --------------------------------------------------------------------------------------


def _save(file: str, key: _Key, finder: _Finder | None, early: frozenset[str]) -> None:
    """Write the file if modules were imported in another way, but for those that were too early."""
    found = [(name, getattr(it, "__spec__", None)) for name, it in tuple(sys.modules.items())]
    imported = {
        name: spec
        for name, spec in found
        if spec is not None and type(spec.loader) is SourceFileLoader
        if spec.name == name and name not in early
    }
    if imported:
        with suppress(OSError, ImportError, SyntaxError, ValueError):  # an update is under way
            from eca_nvim.disk.replacing import remove, replace  # noqa: PLC0415 - not needed before

            modules = {} if finder is None else finder.all()
            modules |= {name: _compiled(spec) for name, spec in imported.items()}
            folder, name = os.path.split(file)
            place = f"{os.path.realpath(folder)}/{name}"
            if finder is None and Path(place).is_file():  # never a device
                remove(place)  # its owner or its permissions may be why we have not read it
            replace(place, _content(key, modules), _PRIVATE)


def _compiled(spec: ModuleSpec) -> _Module:
    """Return an imported module as it is now. Raises OSError, ImportError, SyntaxError, ValueError.

    What its source was is read first: if that is written meanwhile, the code is never used.
    """
    loader = spec.loader
    assert isinstance(loader, SourceFileLoader)
    found = Path(loader.path).stat()
    is_package = spec.submodule_search_locations is not None
    source = _Source(loader.path, found.st_mtime_ns, found.st_size, is_package)
    return _Module(source, marshal.dumps(loader.get_code(spec.name)))


def _content(key: _Key, modules: Mapping[str, _Module]) -> bytes:
    """Return the content of a file with these modules."""
    rows, codes, begin = {}, list[bytes](), 0
    for name, (source, code) in modules.items():
        rows[name] = (tuple(source), begin, len(code), source_hash(code))
        codes.append(code)
        begin += len(code)
    table = marshal.dumps((key, rows))
    length = len(table).to_bytes(_HEAD - _DIGEST_BYTES, sys.byteorder)
    return b"".join([length, source_hash(table), table, *codes])

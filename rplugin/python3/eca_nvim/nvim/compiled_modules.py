"""Compiled modules: one file with the code of all our modules, because a start needs 250 of them.

Reading one file instead of 250 saves a third of the time that importing them takes; where the
package's folder cannot be written, also compiling them again at each start.

Rules kept here:
- The file is a cache. It is used for as long as the sources of all its modules have the size and
  the date that they had, by the same Python; otherwise Python imports as always.
- The host writes it when it ends, if it has imported modules that are not in it. It is replaced in
  one step, and only the user can write it: a file that others can write is not read.
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
from types import ModuleType
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:  # it loads a dozen modules more
    from importlib.abc import Loader

_PYTHON: Final = MAGIC_NUMBER + sys.version.encode()
_PRIVATE: Final = 0o600
_OTHERS: Final = 0o022
"""Permissions of everybody else to write a file."""


class _Module(NamedTuple):
    """The code of a module, marshalled, and what its source was then."""

    source: str
    date: int
    size: int
    is_package: bool
    code: bytes

    @property
    def is_fresh(self) -> bool:
        """Whether the source has not changed since."""
        found = os.stat(self.source)  # noqa: PTH116 - a Path would double what it takes
        return (found.st_mtime_ns, found.st_size) == (self.date, self.size)


class _Compiled:
    """Imports modules from their code."""

    def __init__(self, modules: Mapping[str, _Module]) -> None:
        self._modules = modules

    def find_spec(
        self, name: str, _path: object = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the place of a module, None if it is not one of these."""
        module = self._modules.get(name)
        if module is None:
            return None
        loader: Loader = self  # type: ignore[assignment]
        spec = ModuleSpec(name, loader, origin=module.source, is_package=module.is_package)
        spec.has_location = True
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(str(Path(module.source).parent))
        return spec

    def create_module(self, _spec: ModuleSpec) -> None:
        """Have Python make the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Run a module's code."""
        exec(marshal.loads(self._modules[module.__name__].code), vars(module))  # noqa: S102, S302


def use(package: str, file: str) -> None:
    """Import the modules of a package (its folder) from a file, which is kept up to date."""
    modules = _read(package, file)
    if modules:
        sys.meta_path.insert(0, _Compiled(modules))
    atexit.register(_save, package, file, modules)


def _read(package: str, file: str) -> dict[str, _Module]:
    """Return the modules of a file; none if one of them has changed."""
    try:
        with Path(file).open("rb") as opened:
            found = os.fstat(opened.fileno())
            if found.st_uid != os.geteuid() or found.st_mode & _OTHERS:
                return {}
            python, folder, rows = marshal.load(opened)  # noqa: S302
        if (python, folder) != (_PYTHON, package):
            return {}
        modules = {name: _Module(*row) for name, row in rows.items()}
        return modules if all(it.is_fresh for it in modules.values()) else {}
    except (OSError, EOFError, ValueError, TypeError, AttributeError):
        return {}


def _save(package: str, file: str, known: Mapping[str, _Module]) -> None:
    """Write the file if modules were imported that it does not have."""
    from eca_nvim.disk.replacing import replace  # noqa: PLC0415 - not needed at the start

    root = Path(package).name
    imported = [name for name in sys.modules if f"{name}.".startswith(f"{root}.")]
    if set(imported) <= set(known):
        return
    with suppress(OSError, SyntaxError):  # an update is under way
        compiled = {name: _compiled(name) for name in imported if name not in known}
        modules = {**known, **{name: it for name, it in compiled.items() if it is not None}}
        rows = {name: tuple(module) for name, module in modules.items()}
        replace(file, marshal.dumps((_PYTHON, package, rows)), _PRIVATE)


def _compiled(name: str) -> _Module | None:
    """Return the code of an imported module; None if there is no source of it. Raises OSError."""
    spec = sys.modules[name].__spec__
    if spec is None or not isinstance(spec.loader, SourceFileLoader):
        return None
    source = spec.loader.path
    found = Path(source).stat()
    code = marshal.dumps(spec.loader.get_code(name))
    is_package = spec.submodule_search_locations is not None
    return _Module(source, found.st_mtime_ns, found.st_size, is_package, code)

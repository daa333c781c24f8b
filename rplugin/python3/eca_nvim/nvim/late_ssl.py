"""The module `ssl`, left out of the start: loading OpenSSL would take a twentieth of it.

The host opens no connection that needs it, but asyncio and anyio import it.

Rules kept here:
- asyncio is told that there is none: it works on a Python without OpenSSL.
- anyio gets a stand-in, which loads the real module when anything of it is used.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Final

NAME: Final = "ssl"


class LateSsl(ModuleType):
    """`ssl` before its first use."""

    class SSLContext:
        """What anyio imports by name, for annotations; the real one takes its place."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):  # asked for by the import system, which can do without
            raise AttributeError(name)
        if sys.modules.get(NAME) is self:
            del sys.modules[NAME]
        real = import_module(NAME)
        vars(self).update(vars(real))
        found: object = getattr(real, name)
        return found


@contextmanager
def without_ssl() -> Iterator[None]:
    """Import asyncio in this context; afterwards `ssl` is loaded by its first use."""
    sys.modules[NAME] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        sys.modules[NAME] = LateSsl(NAME)

"""Late SSL: keeps OpenSSL out of the host's start-up, of which loading it takes a twentieth.

The host opens no connection that needs it, but asyncio and anyio import `ssl`.

Rules kept here:
- For asyncio the module seems to be missing: it works on a Python without OpenSSL.
- anyio gets a stand-in, which loads the real module on the first access.
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
    """A stand-in for `ssl` until its first use."""

    class SSLContext:
        """Imported by anyio by name, for annotations; replaced by the real one."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):  # the import system asks for these and works without
            raise AttributeError(name)
        if sys.modules.get(NAME) is self:
            del sys.modules[NAME]
        real = import_module(NAME)
        vars(self).update(vars(real))
        found: object = getattr(real, name)
        return found


@contextmanager
def without_ssl() -> Iterator[None]:
    """Hide `ssl` while asyncio is imported in this context; later its first use loads it."""
    sys.modules[NAME] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        sys.modules[NAME] = LateSsl(NAME)

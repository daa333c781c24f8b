"""The kinds of messages of the vocabulary."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import TypeVar

from msgspec import Struct

from eca_nvim.chat import vocabulary

Message = TypeVar("Message", bound=Struct)


def kinds(base: type[Message]) -> Iterator[type[Message]]:
    """Yield all kinds of a message; an agent may have further ones for itself."""
    for module in iter_modules(vocabulary.__path__, f"{vocabulary.__name__}."):
        import_module(module.name)
    for each in base.__subclasses__():
        if each.__module__.startswith(vocabulary.__name__):
            yield from list(kinds(each)) or [each]

"""Digests of names and texts, without OpenSSL: loading it takes a fiftieth of the host's start-up.

`hashlib` loads OpenSSL whichever digest it is used for. It is faster for contents, and imported
late where these are digested. Python has a SHA-256 of its own, in a module whose name depends on
the version; a Python without it has `hashlib`.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any

_MODULES = ("_sha2", "_sha256", "hashlib")


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text, whatever the form of its line ends, as Neovim does."""
    import hashlib  # noqa: PLC0415 - not needed at start-up

    content = text.replace("\r\n", "\n").replace("\r", "\n").encode(errors="surrogateescape")
    return hashlib.sha256(content).hexdigest()


def name_digest(name: bytes) -> str:
    """Return 16 hexadecimal digits of the SHA-256 of a short text."""
    return str(_module().sha256(name).hexdigest()[:16])


@cache
def _module() -> Any:  # noqa: ANN401 - a module
    """Return the first module that there is: to look for one that is missing takes long."""
    for module in _MODULES:
        with suppress(ImportError):
            return import_module(module)
    raise ImportError("this Python has no SHA-256")

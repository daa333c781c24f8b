"""Images the agent sent, as files that the system's own viewer can open.

Rules kept here:
- Only kinds that are nothing but pixels are written: others may be opened by programs that run
  what is in them.
- The files lie in a folder that only the user can read, have names of our own, and are gone when
  the host is.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from pathlib import Path

from eca_nvim.disk.private import PrivateFolder

SUFFIXES: Mapping[str, str] = {
    "image/bmp": ".bmp",
    "image/gif": ".gif",
    "image/jpeg": ".jpg",
    "image/png": ".png",
    "image/webp": ".webp",
}


class StrangeImage(ValueError):
    """Raised when an image is of a kind that is not opened."""


class Images:
    """A folder of images, made when the first one comes."""

    def __init__(self) -> None:
        self._folder = PrivateFolder("eca-images-")
        self._numbers = count(1)

    def write(self, media_type: str, content: bytes) -> Path:
        """Write an image and give its path. Raises StrangeImage, OSError."""
        kind = media_type.partition(";")[0].strip().lower()
        if kind not in SUFFIXES:
            raise StrangeImage(f"images of type {kind!r} are not opened")
        path = self._folder.path / f"image-{next(self._numbers)}{SUFFIXES[kind]}"
        path.write_bytes(content)
        return path

    def remove(self) -> None:
        """Remove all of them."""
        self._folder.remove()

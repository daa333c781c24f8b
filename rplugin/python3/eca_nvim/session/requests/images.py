"""The agent's images, written to files that the system's viewer can open.

Rules kept here:
- Only pure pixel formats are written: the system may open others with programs that run what is
  in them.
- The files are in a folder that only the user can read, under names of our own; they are removed
  when the host exits.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from pathlib import Path

from eca_nvim.chat.vocabulary.effects import ShowImage
from eca_nvim.chat.vocabulary.ops import Notify, OpenExternal, ViewOp
from eca_nvim.disk.private import PrivateFolder

SUFFIXES: Mapping[str, str] = {
    "image/bmp": ".bmp",
    "image/gif": ".gif",
    "image/jpeg": ".jpg",
    "image/png": ".png",
    "image/webp": ".webp",
}


class StrangeImage(ValueError):
    """Raised when an image's type is not opened."""


class Images:
    """A folder of images, created with the first one."""

    def __init__(self) -> None:
        self._folder = PrivateFolder("eca-images-")
        self._numbers = count(1)

    def show(self, image: ShowImage) -> ViewOp:
        """Write an image; returns the op that opens it, or that says why it cannot be opened."""
        try:
            path = self.write(image.media_type, image.content)
        except (OSError, StrangeImage) as fault:
            return Notify("error", f"cannot open the image: {fault}")
        return OpenExternal(str(path))

    def write(self, media_type: str, content: bytes) -> Path:
        """Write an image and return its path. Raises StrangeImage, OSError."""
        kind = media_type.partition(";")[0].strip().lower()
        if kind not in SUFFIXES:
            raise StrangeImage(f"images of type {kind!r} are not opened")
        path = self._folder.path / f"image-{next(self._numbers)}{SUFFIXES[kind]}"
        path.write_bytes(content)
        return path

    def remove(self) -> None:
        """Remove all files."""
        self._folder.remove()

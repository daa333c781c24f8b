"""Images: the clipboard's and the agent's, written to files."""

import binascii
import logging
import time
from base64 import b64decode
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from shutil import which
from typing import Final

from eca_nvim.agents.attached_files import MOST_IMAGE_BYTES
from eca_nvim.chat.model.blocks import Block, ImageBlock
from eca_nvim.chat.vocabulary import ops, query_intents
from eca_nvim.disk.private import PrivateFolder
from eca_nvim.session.files.late_contexts import run_bounded
from eca_nvim.spawn import child_environment
from eca_nvim.threads import run_in_thread

SECONDS: Final = 5.0
"""Seconds that a program has for all its answers: the owner of the clipboard may hang."""

_XCLIP: Final = ("-selection", "clipboard", "-o", "-t")
PROGRAMS: Final[Mapping[str, Sequence[Sequence[str]]]] = {
    "wl-paste": (("--type", "image/png"), ("--type", "image/jpeg")),
    "xclip": ((*_XCLIP, "image/png"), (*_XCLIP, "image/jpeg")),
    "pngpaste": (("-",),),
}
"""The programs that are tried in turn, each with the arguments to try."""

# What a program prints is an image only if it begins like one.
_SIGNATURES: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
)


log = logging.getLogger(__name__)


class NoImage(Exception):
    """Raised if there is no image to paste; the text is one line with the remedy."""


def _image() -> tuple[str, bytes]:
    """Return the media type and the bytes of the clipboard's image; blocks. Raises NoImage."""
    installed = [name for name in PROGRAMS if which(name)]
    if not installed:
        *names, last = PROGRAMS
        raise NoImage(f"no program reads the clipboard: install {', '.join(names)} or {last}")
    silent = []
    for name in installed:
        try:
            if found := _image_of(name):
                return found
        except TimeoutError:
            silent.append(name)
    if silent:
        raise NoImage(
            f"{' and '.join(silent)} did not answer for {SECONDS:.0f} s, nothing is pasted: "
            "copy the image again, or save it and name the file"
        )
    raise NoImage(f"no image in the clipboard, says {' and '.join(installed)}: copy one first")


def _image_of(name: str) -> tuple[str, bytes] | None:
    """Return the image that a program finds. Raises NoImage, TimeoutError."""
    deadline = time.monotonic() + SECONDS
    for arguments in PROGRAMS[name]:
        if found := _printed((name, *arguments), deadline):
            return found
    return None


def _printed(command: Sequence[str], deadline: float) -> tuple[str, bytes] | None:
    """Return the image that a program prints, None if none. Raises NoImage, TimeoutError."""
    try:
        seconds = max(0.0, deadline - time.monotonic())
        output = run_bounded(command, child_environment(), most=MOST_IMAGE_BYTES, seconds=seconds)
    except OSError:
        return None  # it is broken: another one may work
    if output.status is None and len(output.content) == MOST_IMAGE_BYTES:
        raise NoImage("the clipboard's image is larger than 20 MB: save it smaller, and name it")
    if output.status is None and time.monotonic() >= deadline:
        raise TimeoutError
    kinds = (kind for start, kind in _SIGNATURES if output.content.startswith(start))
    kind = next(kinds, None)
    return (kind, output.content) if kind and output.succeeded else None


# Pure pixel formats: the system may open others with programs that run what is in them.
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
    """A folder of images that only the user can read, created with the first one."""

    def __init__(self) -> None:
        self._folder = PrivateFolder("eca-images-")
        self._numbers = count(1)

    def show(self, image: ImageBlock) -> ops.ViewOp:
        """Write an image; returns the op that opens it, or that says why it cannot be opened."""
        try:
            path = self.write_block(image)
        except (OSError, StrangeImage) as fault:
            return ops.Notify("error", f"cannot open the image: {fault}")
        return ops.OpenExternal(str(path))

    def write_block(self, image: ImageBlock) -> Path:
        """Write an image of a chat and return its path. Raises StrangeImage, OSError."""
        try:
            return self.write(image.media_type, b64decode(image.base64, validate=True))
        except binascii.Error:
            raise StrangeImage("it is not base64") from None

    def write(self, media_type: str, content: bytes) -> Path:
        """Write an image and return its path. Raises StrangeImage, OSError."""
        kind = media_type.partition(";")[0].strip().lower()
        if kind not in SUFFIXES:
            raise StrangeImage(f"images of type {kind!r} are not opened")
        path = self._folder.path / f"image-{next(self._numbers)}{SUFFIXES[kind]}"
        path.write_bytes(content)
        return path

    async def paste(self, _intent: query_intents.PasteImage) -> Mapping[str, str]:
        """Return the file of the clipboard's image, or why there is none (`paste_image`)."""
        try:
            media_type, content = await run_in_thread(_image)
            return {"path": str(self.write(media_type, content))}
        except NoImage as fault:
            return {"fault": str(fault)}
        except OSError as fault:
            return {"fault": f"the image cannot be written, {fault.strerror}: free some space"}

    def file_of(self, block: Block | None) -> str | None:
        """Write the image of a block and return its path, None if it cannot be shown."""
        if not isinstance(block, ImageBlock):
            return None
        try:
            return str(self.write_block(block))
        except (OSError, StrangeImage) as fault:
            log.info("cannot show an image: %s", fault)
            return None

    def remove(self) -> None:
        """Remove all files."""
        self._folder.remove()

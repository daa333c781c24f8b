"""The host's log: one small file that starts anew before it grows large.

Rules kept here:
- Nothing is written to standard output or error: they belong to Neovim.
- What looks like a key is hidden in every line, tracebacks included.
- Only its owner reads the file, and its folder.
- Without a file, or when it cannot be written, there is no log, and everything else goes on.
- Other hosts and Neovim itself write to the file, too, and put it aside: it is opened for each
  record.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from eca_nvim.nvim.settings import Settings
from eca_nvim.redaction import Redactor

ROOT = "eca_nvim"
MOST_LOG_BYTES = 1 << 20
"""Bytes after which the log becomes `<log>.1` and a new one begins."""
FORM = "%(asctime)s %(levelname)s %(process)d %(name)s: %(message)s"

Refused: TypeAlias = Callable[[OSError], None]


class _Form(logging.Formatter):
    """Writes a record without what looks like a key."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__(FORM)
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        """Return the lines of a record."""
        return self._redactor.redact(super().format(record))


class _SmallFile(logging.Handler):
    """A file that starts anew when it has grown large (`logging.handlers` takes 2 ms to import)."""

    def __init__(self, path: Path, refused: Refused) -> None:
        super().__init__()
        self._path = path
        self._refused: Refused | None = refused
        self._append("")

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        self._append(f"{self.format(record)}\n")

    def _append(self, text: str) -> None:
        """Write a text; the first fault is told, and those after it are not."""
        try:
            _append(self._path, text.encode(errors="backslashreplace"))
        except OSError as fault:
            refused, self._refused = self._refused, None
            if refused is not None:
                refused(fault)


def open_log(settings: Settings, redactor: Redactor, refused: Refused) -> None:
    """Send what this package logs to the file of the settings.

    `refused` is called once when the file cannot be written, in the thread that logs.
    """
    logger = logging.getLogger(ROOT)
    logger.propagate = False
    logger.setLevel(settings.log_level.upper())
    for handler in tuple(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
    logger.addHandler(_handler(settings.log_path, redactor, refused))


def _handler(path: str | None, redactor: Redactor, refused: Refused) -> logging.Handler:
    if path is None:
        return logging.NullHandler()
    handler = _SmallFile(Path(path), refused)
    handler.setFormatter(_Form(redactor))
    return handler


def _append(path: Path, data: bytes) -> None:
    """Write to the end of the log, and put it aside when it is full. Raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.chmod(0o700)
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.fchmod(file, 0o600)
        os.write(file, data)
        here = os.fstat(file)
    finally:
        os.close(file)
    if here.st_size >= MOST_LOG_BYTES:
        with suppress(FileNotFoundError):  # another process has just put it aside
            if path.stat().st_ino == here.st_ino:
                path.replace(f"{path}.1")

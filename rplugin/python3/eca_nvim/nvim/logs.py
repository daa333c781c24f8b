"""The host's log: one file, which is rotated before it grows large.

Rules kept here:
- Nothing is written to standard output or error: they belong to Neovim.
- What looks like a key is hidden in every line, tracebacks included.
- The file and its folder are readable by their owner alone.
- If the file cannot be written, there is no log, and everything else goes on.
- Other hosts and Neovim itself also write and rotate the file: it is opened for each record.
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
"""Bytes after which the log is renamed to `<log>.1` and a new one begins."""
FORMAT = "%(asctime)s %(levelname)s %(process)d %(name)s: %(message)s"

OnFault: TypeAlias = Callable[[OSError], None]


class _RedactingFormatter(logging.Formatter):
    """Formats a record with everything that looks like a key hidden."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__(FORMAT)
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        """Return the lines of a record."""
        return self._redactor.redact(super().format(record))


class _RotatingFile(logging.Handler):
    """A file that is rotated (`logging.handlers` takes 2 ms to import)."""

    def __init__(self, path: Path, on_fault: OnFault) -> None:
        super().__init__()
        self._path = path
        self._on_fault: OnFault | None = on_fault
        self._append("")

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        self._append(f"{self.format(record)}\n")

    def _append(self, text: str) -> None:
        """Write a text; only the first fault is reported."""
        try:
            _append(self._path, text.encode(errors="backslashreplace"))
        except OSError as fault:
            on_fault, self._on_fault = self._on_fault, None
            if on_fault is not None:
                on_fault(fault)


def open_log(settings: Settings, redactor: Redactor, on_fault: OnFault) -> None:
    """Write what this package logs to the file of the settings.

    `on_fault` is called once, in the thread that logs, if the file cannot be written.
    """
    logger = logging.getLogger(ROOT)
    logger.propagate = False
    logger.setLevel(settings.log_level.upper())
    for handler in tuple(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
    logger.addHandler(_handler(settings.log_path, redactor, on_fault))


def _handler(path: str | None, redactor: Redactor, on_fault: OnFault) -> logging.Handler:
    if path is None:
        return logging.NullHandler()
    handler = _RotatingFile(Path(path), on_fault)
    handler.setFormatter(_RedactingFormatter(redactor))
    return handler


def _append(path: Path, data: bytes) -> None:
    """Append to the log, and rotate it if it is full. Raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.chmod(0o700)
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.fchmod(file, 0o600)
        os.write(file, data)
        written = os.fstat(file)
    finally:
        os.close(file)
    if written.st_size >= MOST_LOG_BYTES:
        with suppress(FileNotFoundError):  # another process has just rotated it
            if path.stat().st_ino == written.st_ino:
                path.replace(f"{path}.1")

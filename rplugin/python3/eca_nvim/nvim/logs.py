"""The log: one file, written by the host and by Neovim's own half, and rotated while it is small.

Neovim runs this file with records on standard input, parted by NUL (`lua/eca/host/log.lua`), also
with a Python that is too old for the host: it needs 3.8 and the standard library.
"""

import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from eca_nvim.redaction import Redactor, without_keys

ROOT = "eca_nvim"
MOST_LOG_BYTES = 1 << 20
"""Bytes after which the log is renamed to `<log>.1` and a new one begins."""
FORMAT = "%(asctime)s %(levelname)s %(process)d %(name)s: %(message)s"


class _RotatingFile(logging.Handler):
    """A file that is rotated (`logging.handlers` takes 2 ms to import)."""

    def __init__(self, path: Path, redactor: Redactor, on_fault: Callable[[OSError], None]) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter(FORMAT))
        self._path = path
        self._redactor = redactor
        self._on_fault: Callable[[OSError], None] | None = on_fault
        self._append("")

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, with its traceback, without what looks like a key."""
        self._append(self._redactor.redact(f"{self.format(record)}\n"))

    def _append(self, text: str) -> None:
        """Write a text; only the first fault is reported."""
        try:
            append(self._path, text)
        except OSError as fault:
            on_fault, self._on_fault = self._on_fault, None
            if on_fault is not None:
                on_fault(fault)


def open_log(
    path: str | None, level: str, redactor: Redactor, on_fault: Callable[[OSError], None]
) -> None:
    """Write what this package logs from a level on ("info") to a file; None for no log.

    `on_fault` is called once, in the thread that logs, if the file cannot be written.
    """
    logger = logging.getLogger(ROOT)
    logger.propagate = False  # standard output and error belong to Neovim
    logger.setLevel(level.upper())
    for handler in tuple(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
    if path is None:
        logger.addHandler(logging.NullHandler())
    else:
        logger.addHandler(_RotatingFile(Path(path), redactor, on_fault))


def append(path: Path, text: str) -> None:
    """Append a text, in which no keys are left, and rotate the log if it is full. Raises OSError.

    The file is opened for each text, because other processes write and rotate it, too.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.chmod(0o700)
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.fchmod(file, 0o600)
        os.write(file, text.encode(errors="backslashreplace"))
        written = os.fstat(file)
    finally:
        os.close(file)
    if written.st_size >= MOST_LOG_BYTES:
        with suppress(FileNotFoundError):  # another process has just rotated it
            if path.stat().st_ino == written.st_ino:
                path.replace(f"{path}.1")


if __name__ == "__main__":
    try:
        for record in sys.stdin.read().split("\0"):
            append(Path(sys.argv[1]), without_keys(record))
    except OSError as refused:
        sys.exit(refused.strerror)

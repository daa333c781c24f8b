"""The log: one file, written by the host and by Neovim's own half, and rotated while it is small.

Neovim runs this file with records on standard input, parted by NUL (`lua/eca/host/log.lua`), also
with a Python that is too old for the host: it needs 3.8 and the standard library.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from eca_nvim.redaction import Redactor, without_keys

ROOT = "eca_nvim"
MOST_LOG_BYTES = 1 << 20
"""Bytes of the log, at most: before that it is renamed to `<log>.1` and a new one begins."""
LONGEST_RECORD_BYTES = 64 << 10
"""Bytes of a record that are kept; of a longer one the beginning is."""
_FULL_BYTES = MOST_LOG_BYTES - 4 * LONGEST_RECORD_BYTES
"""The next record has room above that, and so have those that other processes write meanwhile."""
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
        self._append(self._redactor.redact(self.format(record)))

    def _append(self, record: str) -> None:
        """Write a record; only the first fault is reported."""
        try:
            append(self._path, record)
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


def _as_written(record: str) -> bytes:
    """Return a record as it is in the file: not too long, and its further lines indented.

    So only a line that is not indented begins a record, whatever is logged (`:Eca report`).
    """
    lines = record.rstrip("\n").replace("\n", "\n  ")
    data = lines.encode(errors="backslashreplace")
    if len(data) > LONGEST_RECORD_BYTES:
        kept = data[:LONGEST_RECORD_BYTES].decode(errors="ignore")
        left_out = len(data.decode()) - len(kept)
        data = f"{kept}… ({left_out} more characters are left out)".encode()
    return data + b"\n"


def append(path: Path, record: str) -> None:
    """Append a record, in which no keys are left, and rotate the log if it is full. Raises OSError.

    The file is opened for each record, because other processes write and rotate it, too. An empty
    record only makes the file.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.chmod(0o700)
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.fchmod(file, 0o600)
        os.write(file, _as_written(record) if record else b"")
        written = os.fstat(file)
    finally:
        os.close(file)
    if written.st_size >= _FULL_BYTES:
        with suppress(FileNotFoundError):  # another process has just rotated it
            if path.stat().st_ino == written.st_ino:
                path.replace(f"{path}.1")


if __name__ == "__main__":
    try:
        for record in sys.stdin.read().split("\0"):
            append(Path(sys.argv[1]), without_keys(record))
    except OSError as refused:
        sys.exit(refused.strerror)

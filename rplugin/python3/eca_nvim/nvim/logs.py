"""The host's log: one small file that starts anew before it grows large.

Rules kept here:
- Nothing is written to standard output or error: they belong to Neovim.
- Without a file, or when it cannot be written, there is no log, and everything else goes on.
"""

from __future__ import annotations

import logging
from pathlib import Path

from eca_nvim.nvim.settings import Settings

ROOT = "eca_nvim"
LARGEST = 1 << 20
"""Bytes after which the log becomes `<log>.1` and a new one begins."""
FORM = "%(asctime)s %(levelname)s %(process)d %(name)s: %(message)s"


class _SmallFile(logging.FileHandler):
    """A file that starts anew when it has grown large (`logging.handlers` takes 2 ms to import)."""

    def __init__(self, path: str) -> None:
        super().__init__(path, encoding="utf-8")

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, and put the file aside when it is full."""
        super().emit(record)
        if self.stream is not None and self.stream.tell() >= LARGEST:
            self.stream.close()
            Path(self.baseFilename).replace(f"{self.baseFilename}.1")
            self.stream = self._open()


def open_log(settings: Settings) -> None:
    """Send what this package logs to the file of the settings.

    Raises OSError when the file cannot be written.
    """
    logger = logging.getLogger(ROOT)
    logger.propagate = False
    logger.setLevel(settings.log_level.upper())
    for handler in tuple(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
    logger.addHandler(_handler(settings.log_path))


def _handler(path: str | None) -> logging.Handler:
    if path is None:
        return logging.NullHandler()
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    handler = _SmallFile(path)
    handler.setFormatter(logging.Formatter(FORM))
    return handler

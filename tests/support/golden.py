"""Comparison with golden files, for screens and transcripts.

First, text that differs from run to run is replaced, as `VOLATILE` lists it. Because a replacement
may have another length, runs of blanks and border characters in its line are shortened, so that
another elapsed time does not shift the rest of the line.
With `UPDATE_GOLDEN=1` in the environment the files are written instead of compared.
"""

import difflib
import os
import re
import time
from contextlib import suppress
from pathlib import Path

from tests.support.client import TIMEOUT, Client

VOLATILE = (
    (re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "<uuid>"),
    (re.compile(r"(?:/[^\s/]+)+/pytest-\d+(?:/popen-gw\d+)?/[^\s/]+/workspace\b"), "<workspace>"),
    (re.compile(r"(?:/[^\s/]+)+/pytest-\d+(?:/popen-gw\d+)?/[^\s/]+"), "<tmp>"),
    (re.compile(r"\b\d+m ?\d+s\b|\b\d+(\.\d+)? ?m?s\b"), "<time>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?Z?"), "<date>"),
)
FILLING = re.compile(r"([ ─━═-])\1+")
QUIET = 0.5
"""Seconds without a change after which a screen counts as finished."""


def normalise(text: str) -> str:
    """Replace what differs from run to run, cut blanks at line ends, end with a newline."""
    lines = [_normalise_line(line).rstrip() for line in text.split("\n")]
    return "\n".join(lines).rstrip("\n") + "\n"


def _normalise_line(line: str) -> str:
    replaced = line
    for pattern, name in VOLATILE:
        replaced = pattern.sub(name, replaced)
    return line if replaced == line else FILLING.sub(r"\1\1", replaced)


def assert_golden(text: str, path: Path) -> None:
    """Compare a text with a golden file. Raises AssertionError with a diff."""
    actual = normalise(text)
    if updating():
        _write(actual, path)
    difference = _difference(actual, path)
    assert not difference, difference


def assert_screen_golden(nvim: Client, path: Path, timeout: float = TIMEOUT) -> None:
    """Wait until the screen equals a golden file. Raises AssertionError with a diff."""
    if updating():
        settle(nvim, timeout)
        _write(normalise(nvim.screen.text()), path)
    with suppress(AssertionError):
        nvim.wait_screen(lambda screen: not _difference(normalise(screen.text()), path), timeout)
    difference = _difference(normalise(nvim.screen.text()), path)
    assert not difference, f"{difference}\n{nvim.screen.bordered()}"


def updating() -> bool:
    """Return whether to write golden files."""
    return os.environ.get("UPDATE_GOLDEN") == "1"


def settle(nvim: Client, timeout: float = TIMEOUT) -> None:
    """Wait until the screen, without its volatile parts, has not changed for a while."""
    deadline = time.monotonic() + timeout
    last, since = "", time.monotonic()
    while time.monotonic() < min(since + QUIET, deadline):
        nvim.child.channel.pump(QUIET / 10)
        current = normalise(nvim.screen.text())
        if current != last:
            last, since = current, time.monotonic()


def _write(text: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _difference(actual: str, path: Path) -> str:
    """Return a readable diff from the file to the text, "" when they are equal."""
    hint = f"UPDATE_GOLDEN=1 writes {path.name}"
    if not path.exists():
        return f"no golden file {path}; {hint}. The text is:\n{actual}"
    golden = path.read_text(encoding="utf-8")
    lines = difflib.unified_diff(
        golden.split("\n"), actual.split("\n"), f"golden {path.name}", "actual", lineterm=""
    )
    return "" if golden == actual else "\n".join([*lines, f"({hint} if that is right)"])

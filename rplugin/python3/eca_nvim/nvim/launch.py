"""Start of our own host: `python -I launch.py PACKAGE REMEDY`.

PACKAGE is this package's folder, REMEDY what helps when this Python is unfit: who chose it knows.

Rules kept here:
- What is missing is told in one line on stderr, the remedy first, and by the exit status; the
  editor shows that line at once. So this file runs on any Python 3.7, and imports nothing of ours.
- The line fits a screen of 80 columns with a usual path.
- No garbage is collected until the first intent has been taken (`plugin`): nothing that is imported
  becomes any, and looking through it again and again takes a seventh of the start.
- A signal ends the host in order, SIGKILL excepted: exit handlers keep what the user typed.
- `-I` keeps the user's PYTHONPATH and site folders out; the package comes first on the path.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FrameType, ModuleType

CANNOT_START = 78
"""Exit status: the environment lacks something (EX_CONFIG). The last line on stderr tells what."""
OLDEST = (3, 11)
NEEDED = ("pynvim", "msgpack", "anyio", "msgspec", "unidiff")


class Unfit(Exception):
    """Raised when this Python cannot run the host; the fault in one line."""


class Broken(Exception):
    """Raised when the plugin itself does not load; one line that names fault and remedy."""


def check() -> None:
    """Look for all the host needs, without importing it. Raises Unfit."""
    if sys.version_info[:2] < OLDEST:
        found, wanted = (".".join(map(str, version)) for version in (sys.version_info[:3], OLDEST))
        raise Unfit(f"{sys.executable} is Python {found}, {wanted} is needed")
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        more = f" and {len(missing) - 1} more" if missing[1:] else ""
        raise Unfit(f"{sys.executable} lacks {missing[0]}{more}")


def serve(package: str) -> None:
    """Serve Neovim over standard input and output until it closes them. Raises Unfit, Broken."""
    check()
    sys.path.insert(0, str(Path(package).parent))
    # Neovim gave us a session of our own: what we start in it must end with us.
    _load(package, "nvim.guardian_process").guardian().watch(os.getpid())
    if _load(package, "environment").wants_head_start():
        _load(package, "nvim.head_start").head_start()
    try:
        with _load(package, "nvim.late_ssl").without_ssl():
            start_host = import_module("pynvim").start_host
    except ImportError as broken:
        raise Unfit(f"{sys.executable} cannot import pynvim ({broken})") from broken
    _load(package, "nvim.plugin")
    sys.argv[:] = [package]  # pynvim takes every path among the arguments for a plugin
    signal.signal(signal.SIGHUP, _terminate)
    try:
        start_host()
    except EOFError:
        return  # Neovim is gone; what we started is ended by our exit handlers
    finally:
        for number in (signal.SIGHUP, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)  # what is typed is written now


def _terminate(_number: int, _frame: FrameType | None) -> None:
    """End as pynvim does on SIGTERM: its loop stops, and our exit handlers run."""
    signal.raise_signal(signal.SIGTERM)


def _load(package: str, name: str) -> ModuleType:
    """Import a module of the package. Raises Broken."""
    try:
        return import_module(f"{Path(package).name}.{name}")
    except Exception as broken:  # pynvim would go on without us, and nobody would be told
        raise Broken(f"the plugin in {package} is broken ({broken!r}): update it") from broken


def main(arguments: list[str]) -> int:
    """Run as a script; returns the exit status."""
    gc.disable()
    package, remedy = arguments
    try:
        serve(package)
    except Unfit as fault:
        sys.stderr.write(f"{remedy}: {fault}\n")
        return CANNOT_START
    except Broken as complaint:
        sys.stderr.write(f"{complaint}\n")
        return CANNOT_START
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

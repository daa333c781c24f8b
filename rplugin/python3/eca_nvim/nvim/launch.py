"""Launch: starts our own host, as `python -I launch.py PACKAGE REMEDY`.

PACKAGE is this package's folder. REMEDY says what helps if this Python is unfit: the caller chose
it, and knows. This file runs on Python 3.7 and imports nothing of ours.
"""

import atexit
import gc
import os
import signal
import sys
import threading
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

CANNOT_START = 78
"""Exit status: the environment lacks something (EX_CONFIG). The last line on stderr says what."""
OLDEST = (3, 11)
NEEDED = ("pynvim", "msgpack", "anyio", "msgspec", "unidiff")


class Unfit(Exception):
    """Raised when this Python cannot run the host; the text says why in one line."""


class Broken(Exception):
    """Raised when the plugin itself cannot be imported; the text names the fault and the remedy."""


def check() -> None:
    """Check for everything the host needs, without importing it. Raises Unfit."""
    if sys.version_info[:2] < OLDEST:
        found, wanted = (".".join(map(str, version)) for version in (sys.version_info[:3], OLDEST))
        raise Unfit(f"{sys.executable} is Python {found}, {wanted} or newer is required")
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        more = f" and {len(missing) - 1} more" if missing[1:] else ""
        raise Unfit(f"{sys.executable} lacks {missing[0]}{more}")


def serve(package: str) -> None:
    """Serve Neovim over standard input and output until it closes them. Raises Unfit, Broken."""
    check()
    sys.path.insert(0, str(Path(package).parent))  # `-I` keeps the user's own paths out
    # Neovim gave us a session of our own: all processes in it must end with us.
    _load(package, "nvim.guardian_process").guardian().watch(os.getpid())
    _load(package, "nvim.head_start").head_start()
    try:
        start_host = import_module("pynvim").start_host
    except ImportError as broken:
        raise Unfit(f"{sys.executable} cannot import pynvim ({broken})") from broken
    _load(package, "nvim.plugin")
    sys.argv[:] = [package]  # pynvim loads every path among the arguments as a plugin
    # On SIGTERM pynvim stops its loop, and our exit handlers save what the user typed.
    signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
    try:
        start_host()
    except EOFError:
        return  # Neovim is gone; our exit handlers end what we started
    finally:
        for number in (signal.SIGHUP, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)  # do not interrupt the saving of drafts
        atexit._run_exitfuncs()  # noqa: SLF001 - there is no public name for it


def _load(package: str, name: str) -> ModuleType:
    """Import a module of the package. Raises Broken."""
    try:
        return import_module(f"{Path(package).name}.{name}")
    except Exception as broken:  # pynvim would go on without us and report nothing
        raise Broken(f"the plugin in {package} is broken ({broken!r}): update it") from broken


def main(arguments: list[str]) -> int:
    """Run as a script; returns the exit status."""
    # Imported modules are never garbage, and examining them again and again takes a seventh of the
    # start-up; `plugin` enables it with the first intent.
    gc.disable()
    package, remedy = arguments
    try:
        serve(package)
    except Unfit as fault:
        sys.stderr.write(f"{remedy}: {fault}\n")  # the editor shows it: it fits 80 columns
        return CANNOT_START
    except Broken as fault:
        sys.stderr.write(f"{fault}\n")
        return CANNOT_START
    return 0


def run(arguments: list[str]) -> None:
    """Run as a script, and end the process; threads of libraries do not delay that.

    Else Python's own shutdown is waited for: in that moment servers answer that they end, and find
    somebody who reads it.
    """
    status = main(arguments)
    others = (it for it in threading.enumerate() if it is not threading.main_thread())
    if all(it.daemon for it in others):
        sys.exit(status)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # Neovim is gone; pynvim has closed it
            stream.flush()
    os._exit(status)


if __name__ == "__main__":
    run(sys.argv[1:])

"""Blocking work beside the event loop: its result, its fault, and that it delays no exit."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.launch import REPOSITORY

from eca_nvim.threads import run_in_thread

PACKAGE = REPOSITORY / "rplugin" / "python3" / "eca_nvim"
MAKERS = {
    *("Thread", "Timer", "start_new_thread", "ThreadPoolExecutor", "ThreadPool"),
    *("to_thread", "to_process", "run_in_executor", "set_default_executor", "from_thread"),
    *("getaddrinfo", "getnameinfo", "create_connection", "connect_tcp"),
    *("create_subprocess_exec", "create_subprocess_shell", "run_process", "open_process"),
    *("open_file", "wrap_file", "TemporaryFile", "SpooledTemporaryFile", "NamedTemporaryFile"),
    *("QueueListener", "start_blocking_portal"),
}
"""Names of Python, asyncio and anyio whose use makes a thread, somewhere."""
MODULES = {"_thread", "concurrent", "multiprocessing", "socketserver"}
OF_MODULES = {"anyio": {"Path", "TemporaryDirectory"}, "asyncio": {"open_connection"}}
OTHERS: dict[str, set[str]] = {
    "threads.py": {"Thread"},
    "mcp/bridge.py": {"_thread", "start_new_thread"},  # a program that ends by `os._exit`
    "demo/tools.py": {"to_thread", "create_subprocess_shell"},  # a server
}
"""What is used all the same, by file."""
EXITS = """
import asyncio, atexit, time
from eca_nvim.threads import run_in_thread
async def main():
    asyncio.ensure_future(run_in_thread(lambda: time.sleep(600)))
    await asyncio.sleep(0)
atexit.register(print, "exit work")
asyncio.run(main())
"""
LIBRARY = """
import sys, threading, time
from eca_nvim.nvim import launch
threading.Thread(target=time.sleep, args=(600,)).start()
launch.main = lambda arguments: print("exit work", *arguments) or 3
launch.run(["is", "done"])
"""


@pytest.mark.anyio
async def test_work_returns_and_raises() -> None:
    assert await run_in_thread(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        await run_in_thread(lambda: 1 // 0)


def run(program: str) -> subprocess.CompletedProcess[str]:
    """Run a program that would be delayed by 600 s."""
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_work_that_goes_on_delays_no_exit() -> None:
    ended = run(EXITS)
    assert (ended.stdout, ended.stderr) == ("exit work\n", "")


def test_a_thread_of_a_library_does_not_delay_the_end_of_the_host() -> None:
    ended = run(LIBRARY)
    assert (ended.stdout, ended.stderr, ended.returncode) == ("exit work is done\n", "", 3)


def test_only_one_file_makes_threads() -> None:
    """Python waits for any other thread before it runs the handlers of its exit."""
    found = {str(file.relative_to(PACKAGE)): makers(file) for file in PACKAGE.rglob("*.py")}
    assert {file: names for file, names in found.items() if names} == OTHERS


def makers(file: Path) -> set[str]:
    """Return which of these names a file uses; in an annotation it makes nothing."""
    tree = ast.parse(file.read_text())
    notes = {id(part) for note in notes_of(tree) for part in ast.walk(note)}
    used = (it for it in ast.walk(tree) if id(it) not in notes)
    return {name for it in used for name in names_of(it)}


def notes_of(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the annotations of arguments, results and variables."""
    for node in ast.walk(tree):
        note = getattr(node, "annotation", None) or getattr(node, "returns", None)
        if isinstance(note, ast.AST):
            yield note


def names_of(node: ast.AST) -> Iterator[str]:
    """Yield what a node has of these names."""
    match node:
        case ast.Import(names):
            yield from ({it.name.partition(".")[0] for it in names} & MODULES)
        case ast.ImportFrom(module=str(module), names=names):
            above = module.partition(".")[0]
            yield from ({above} & MODULES)
            yield from ({it.name for it in names} & (MAKERS | OF_MODULES.get(above, set())))
        case ast.Attribute(ast.Name(module), name) if name in OF_MODULES.get(module, ()):
            yield name
        case ast.Attribute(attr=name) | ast.Name(name) if name in MAKERS:
            yield name


def test_all_threads_are_daemons() -> None:
    tree = ast.parse((PACKAGE / "threads.py").read_text())
    calls = [it for it in ast.walk(tree) if isinstance(it, ast.Call)]
    made = [it for it in calls if isinstance(it.func, ast.Attribute) and it.func.attr == "Thread"]
    assert made
    for call in made:
        [daemon] = [it.value for it in call.keywords if it.arg == "daemon"]
        assert isinstance(daemon, ast.Constant)
        assert daemon.value is True

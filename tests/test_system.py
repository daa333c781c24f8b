"""Nothing depends on Linux outside two files, and each thing in them has what stands for it."""

import ast
import fcntl
import importlib
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import mypy
import pytest
from tests.support.launch import REPOSITORY, neovim_binary

from eca_nvim import system

PACKAGE = REPOSITORY / "rplugin" / "python3" / "eca_nvim"
STUBS = Path(mypy.__file__).parent / "typeshed" / "stdlib"
MODULES = (
    *("os/__init__", "signal", "socket", "_socket", "fcntl", "time", "select", "resource"),
    *("termios", "mmap", "errno", "asyncio/unix_events"),
)
"""Stubs of the modules of which a part is only there on some systems."""
ASKS = {("sys", "platform"), ("os", "name"), ("os", "uname"), ("platform", "system")}
MAY_ASK = {("server/offers.py", "platform.system")}
"""Which archive of a server is for this machine: each system has a row."""
PATHS = re.compile(r"/proc\b|/sys/|\blinux\b")
WORDS = {("server/offers.py", "linux")}
"""What others call a system."""
LUA_DEPENDS = re.compile(
    r"""/proc\b|'/sys|jit\.os|os_uname|has\(\s*['"](?:linux|unix|mac|bsd|sun|wsl|win32|osx)"""
)
LUA_MAY = {"lua/eca/files/system.lua", "lua/eca/health/report.lua", "plugin/eca.lua", "build.lua"}
"""The one file, what a report shows, and where Windows is refused."""


def holds(test: ast.expr, platform: str) -> bool:
    """Evaluate a condition of a stub for a system and the oldest Python."""
    names = {"platform": platform, "version_info": (3, 11)}
    code = ast.unparse(test).replace("sys.", "")
    return bool(eval(code, {"__builtins__": {}}, names))  # of typeshed


def names_of(body: list[ast.stmt], platform: str) -> Iterator[str]:
    """Yield the names that a stub defines on a system."""
    for node in body:
        match node:
            case ast.If(test=test):
                yield from names_of(node.body if holds(test, platform) else node.orelse, platform)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.ImportFrom(names=aliases):
                yield from (it.asname or it.name for it in aliases)


@cache
def only_linux() -> frozenset[str]:
    """Return what these modules have on Linux and not on macOS."""
    bodies = [ast.parse((STUBS / f"{it}.pyi").read_text()).body for it in MODULES]

    def defined(platform: str) -> frozenset[str]:
        return frozenset(name for it in bodies for name in names_of(it, platform))

    return defined("linux") - defined("darwin")


def texts(tree: ast.AST) -> Iterator[str]:
    """Yield the texts of a module, without its documentation."""
    said = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in said:
            yield node.value


def depends(tree: ast.AST, module: str) -> Iterator[str]:
    """Find what a module has that is not on all POSIX systems."""
    missing = only_linux()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=library), attr=name):
                if name in missing and library.lstrip("_") in {it.split("/")[0] for it in MODULES}:
                    yield f"{library}.{name}"
                if (library, name) in ASKS and (module, f"{library}.{name}") not in MAY_ASK:
                    yield f"{library}.{name}"
            case ast.ImportFrom(module="os" | "sys" | "socket" | "fcntl" | "time", names=names):
                yield from (it.name for it in names if it.name in missing | {"platform", "uname"})
    for text in texts(tree):
        found = PATHS.search(text)
        if found and (module, text) not in WORDS:
            yield text


def test_the_stubs_know_what_only_linux_has() -> None:
    known = {"pidfd_open", "O_TMPFILE", "listxattr", "CLOCK_BOOTTIME", "SO_PEERCRED", "epoll"}
    assert known <= only_linux()
    assert not {"killpg", "getsid", "flock", "O_NOFOLLOW", "SIGHUP", "AF_UNIX"} & only_linux()


@pytest.mark.parametrize(
    "code",
    [
        *("os.pidfd_open(1)", "from os import memfd_create", "sys.platform == 'x'", "os.O_PATH"),
        *("open('/proc/self')", "getattr(os, 'x', '/sys/fs')", "fcntl.F_SETPIPE_SZ"),
    ],
)
def test_what_depends_on_linux_is_found(code: str) -> None:
    assert list(depends(ast.parse(code), "any.py"))


def test_nothing_in_python_depends_on_linux_outside_one_file() -> None:
    found = {
        (module, each)
        for path in PACKAGE.rglob("*.py")
        if (module := str(path.relative_to(PACKAGE))) != "system.py"
        for each in depends(ast.parse(path.read_text(encoding="utf-8")), module)
    }
    assert not found


def test_nothing_in_lua_depends_on_linux_outside_one_file() -> None:
    paths = [REPOSITORY / "build.lua", *REPOSITORY.glob("plugin/*.lua")]
    for path in (*paths, *REPOSITORY.glob("lua/**/*.lua")):
        code = re.sub(r"--.*", "", path.read_text(encoding="utf-8"))
        name = str(path.relative_to(REPOSITORY))
        assert name in LUA_MAY or not LUA_DEPENDS.search(code), name


# --- elsewhere ------------------------------------------------------------------------------------


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the module be as on a system that has nothing of Linux, and no `/proc`."""
    with monkeypatch.context() as patch:
        for module in (os, socket, fcntl):
            for name in only_linux() & {*dir(module)}:
                patch.delattr(module, name)
        importlib.reload(system)
        patch.setattr(system, "PROC", tmp_path)
        patch.setattr(system, "HAS_PROC", False)
        yield
    importlib.reload(system)


@pytest.mark.usefixtures("elsewhere")
def test_everything_has_what_stands_for_it(tmp_path: Path) -> None:
    own = os.getpid()
    assert system.start_time(own) == system.start_time(own) is not None
    assert system.started_at(system.start_time(own) or "") is None
    assert own in system.processes()
    assert (system.variable(own, "PATH"), system.is_read(own), system.sleeps_in(own)) == (
        *(None, False),
        "",
    )
    assert system.exit_descriptor(own) is None
    read, write = os.pipe()
    system.widen(read, 1 << 20)
    assert system.peer_user(lambda *_: b"") is None
    assert system.O_PATH == os.O_RDONLY
    folder = os.open(tmp_path, os.O_RDONLY)
    assert system.create_nameless(folder, os.O_WRONLY, 0o600) is None
    system.copy_attributes(read, write)
    for descriptor in (read, write, folder):
        os.close(descriptor)


def test_processes_that_only_the_administrator_may_list_are_no_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object, **_options: object) -> None:
        raise PermissionError

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", refuse)
        patch.setattr(os, "access", lambda *_: False)
        importlib.reload(system)
        assert not system.HAS_PROC
    importlib.reload(system)


def test_the_programs_find_it_however_they_are_named() -> None:
    for program in ("guardian.py", "mcp/bridge.py"):
        path = PACKAGE / "openers" / ".." / program
        command = [sys.executable, "-I", "-S", "-X", "importtime", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert "eca_nvim.system" in done.stderr


REFUSES = """
local has = vim.fn.has
vim.fn.has = function(what) return what == 'win32' and 1 or has(what) end
vim.opt.rtp:prepend('ROOT')
vim.cmd.runtime('plugin/eca.lua')
io.write(vim.fn.execute('messages'), tostring(vim.fn.exists(':Eca')))
print(pcall(dofile, 'ROOT/build.lua') and 'BUILT' or 'REFUSED')
"""


@pytest.mark.either_nvim
def test_windows_is_refused_in_a_line(nvim_version: str) -> None:
    lua = REFUSES.replace("ROOT", str(REPOSITORY))
    command = [str(neovim_binary(nvim_version)), "--clean", "--headless", "-l", "-"]
    done = subprocess.run(command, input=lua, text=True, capture_output=True, check=True)
    said = done.stdout + done.stderr
    assert "eca: on Windows, run Neovim inside WSL0" in said  # and there are no commands
    assert "REFUSED" in said

"""The environment of processes: nothing in it leads to Neovim, and nobody starts one without it."""

import ast
import re
from collections.abc import Iterator

import pytest
from tests.support.launch import REPOSITORY

from eca_nvim.spawn import child_environment

PACKAGE = REPOSITORY / "rplugin/python3/eca_nvim"
SERVER = "demo"
PROGRAMS = (SERVER, "system.py")
"""A program of its own, which has the environment that the plugin gave it, and what asks `ps`."""
STARTERS = {
    *("Popen", "run", "call", "check_call", "check_output", "getoutput", "getstatusoutput"),
    *("create_subprocess_exec", "create_subprocess_shell", "open_process", "run_process"),
    *("subprocess_exec", "subprocess_shell"),
}
LIBRARIES = {"subprocess", "asyncio", "anyio", "loop"}
WITHOUT_ENVIRONMENT = re.compile(r"system|popen|fork(pty)?|posix_spawnp?|(exec|spawn)[lv]p?e?")
"""Functions of `os` that start a process; none is needed."""
BECOMES = {("transport/terminal_child.py", "execvp")}
"""What becomes another program: the child of a terminal, which has the environment for that."""
LUA_STARTERS = re.compile(
    r"jobstart|termopen|nvim_open_term|vim\.system|uv\.spawn|fn\.system|systemlist|io\.popen"
    r"|os\.execute|cmd\.terminal|cmd\.make|cmd\.grep|cmd\(?\s*['\"](?:ter|!)"
)
LUA_MAY_START = {
    "host/log.lua": {"vim.system"},  # the host's Python, which writes the log
    "host/python.lua": {"jobstart"},  # the host
    "commands/plugin.lua": {"vim.system"},  # the build step
    "health/init.lua": {"vim.system"},  # asks the host's Python for its modules and for probes
    "health/secrets.lua": {"vim.system"},  # the host's Python, which hides what is a secret
    "ui/external.lua": {"vim.system"},  # listens to what `vim.ui.open` starts
    "panels/login_terminal.lua": {"jobstart", "termopen"},  # a login that the user has agreed to
    "commit/editor.lua": {"vim.system"},  # git commit, as the user writes its buffer
    "actions/put.lua": {"cmd.terminal"},  # the user's shell, which is given nothing to run
}
"""Files of Lua that start a process: programs of the plugin; in a terminal a login, or a shell."""


def parsed(*, besides: str = "") -> Iterator[tuple[str, ast.AST]]:
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE)
        if name.parts[0] != besides:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                yield str(name), node


def starter(node: ast.AST) -> str | None:
    """Name the function that a call starts a process with."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=library), attr=name)):
            is_one = library in LIBRARIES and name in STARTERS
            return name if is_one and (library, name) != ("asyncio", "run") else None
    return None


def test_what_leads_to_neovim_is_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("NVIM", "NVIM_LISTEN_ADDRESS", "NVIM_LOG_FILE", "NVIM_PYTHON_LOG_FILE")
    for name in (*names, "VIM", "VIMRUNTIME", "MYVIMRC", "__NVIM_DETACH"):
        monkeypatch.setenv(name, "x")
    for name in ("NVIM_APPNAME", "VIMINIT", "EDITOR", "PYTHONPATH", "ECA_CONFIG"):
        monkeypatch.setenv(name, "mine")
    found = child_environment()
    assert "x" not in found.values()
    assert found["NVIM_APPNAME"] == found["PYTHONPATH"] == found["ECA_CONFIG"] == "mine"
    assert child_environment({"NVIM": "as the user says"})["NVIM"] == "as the user says"


def test_one_function_reads_our_environment() -> None:
    """Beside it, the head start takes the variable that Neovim has set for it."""
    readers = {
        name
        for name, node in parsed(besides=SERVER)
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "environb", "getenv")
    }
    assert readers == {"spawn.py", "nvim/head_start.py"}


def test_every_process_is_given_its_environment() -> None:
    calls = [(name, node) for name, node in parsed() if starter(node)]
    assert {name for name, _ in calls} >= {"spawn.py", "demo/tools.py"}
    for name, call in calls:
        assert isinstance(call, ast.Call)
        given = [keyword.value for keyword in call.keywords if keyword.arg == "env"]
        inherits = not given or (isinstance(given[0], ast.Constant) and given[0].value is None)
        is_program = name.startswith(PROGRAMS)
        assert is_program or not inherits, f"{name}:{call.lineno} starts what inherits all"
    for name, node in parsed():
        match node:
            case ast.Attribute(value=ast.Name(id="os"), attr=attribute, lineno=line):
                if (name, attribute) not in BECOMES:
                    assert not WITHOUT_ENVIRONMENT.fullmatch(attribute), f"{name}:{line}"
            case ast.ImportFrom(module="subprocess" | "os"):
                raise AssertionError(f"{name}:{node.lineno} hides from this test what it starts")


def test_lua_starts_no_server_and_in_a_terminal_only_a_login() -> None:
    found: dict[str, set[str]] = {}
    for folder in (REPOSITORY / "lua" / "eca", REPOSITORY / "plugin"):
        for path in folder.rglob("*.lua"):
            code = re.sub(r"--.*", "", path.read_text(encoding="utf-8"))
            if starts := set(LUA_STARTERS.findall(code)):
                found[str(path.relative_to(folder))] = starts
    assert found == LUA_MAY_START
    terminal = (REPOSITORY / "lua" / "eca" / "panels" / "login_terminal.lua").read_text()
    assert "clear_env = true" in terminal

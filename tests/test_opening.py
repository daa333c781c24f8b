"""Files of others are opened in one place a language: `lua/eca/files/init.lua` and `paths.py`.

The tests read the tokens of all other modules: a function that takes the name of a file, or a
command, may be spelled in any way (`vim.fn['bufadd']`, `local add = vim.fn.bufadd`).
"""

import ast
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

import pytest
from tests.support.launch import REPOSITORY

LUA = sorted(chain((REPOSITORY / "lua").rglob("*.lua"), (REPOSITORY / "plugin").rglob("*.lua")))
PACKAGE = REPOSITORY / "rplugin" / "python3" / "eca_nvim"
PYTHON = [
    path
    for path in sorted(PACKAGE.rglob("*.py"))
    if not path.is_relative_to(PACKAGE / "demo")  # another program, whose tools are real
]

TOKEN = re.compile(
    r"""
    --\[(?P<comment>=*)\[.*?\](?P=comment)\] | --[^\n]* |
    \[(?P<level>=*)\[(?P<long>.*?)\](?P=level)\] |
    "(?P<double>(?:\\.|[^"\\\n])*)" | '(?P<single>(?:\\.|[^'\\\n])*)' |
    (?P<name>[A-Za-z_]\w*) | (?P<other>\S)
    """,
    re.DOTALL | re.VERBOSE,
)

HOME = "files/init.lua"
OWN_FILES = {"host/draft_file.lua"}
"""What the plugin itself writes, by names of its own."""

UNUSED = """
dofile expand expandcmd feedkeys finddir findfile glob globpath jump_to_location loadfile loadstring
locations_to_items nvim_call_dict_function nvim_call_function nvim_command nvim_eval
nvim_exec nvim_exec2 nvim_input nvim_open_term nvim_parse_cmd popen readblob show_document
systemlist uri_to_bufnr
"""
TAKES_NAMES: Mapping[str, set[str]] = {name: set() for name in UNUSED.split()} | {
    "bufadd": {HOME},
    "bufload": {HOME},
    "checktime": {HOME},
    "execute": {"host/init.lua", "editor/checktime.lua"},  # `:version` and `:file`
    "filename": {"diff/sides.lua", "context/tokens.lua"},  # for file types; lists use buffers
    "fs_open": OWN_FILES,
    "io": {HOME, "commands/headless.lua", "host/draft_file.lua", "files/system.lua"},
    "jobstart": {"host/python.lua", "panels/login_terminal.lua"},
    "nvim_buf_set_name": {HOME},
    "nvim_cmd": {"ui/others.lua"},  # a constant, which calls that file back
    "nvim_feedkeys": {
        "actions/inline.lua",  # keys of ours
        "context/places.lua",
        "approval/pause.lua",
        "commands/palette.lua",
        "actions/rewrite.lua",
    },  # <Esc>, keys of a list of its own, the beginning of a command, and an operator
    # Neovim's own, and the plugin's: its files, its checkout, its log
    "readfile": {
        "health/checkout.lua",
        "health/report.lua",
        "markdown/languages.lua",
        "state/servers.lua",
    },
    "setloclist": {"chat/search.lua"},
    "setqflist": {"review/init.lua"},
    "termopen": {"panels/login_terminal.lua"},  # of Neovim 0.10, what the user has agreed to
    "uri_to_fname": {"editor/lookups.lua", "completion/symbols.lua"},  # a path to name
    "writefile": {HOME},
}
"""Where a function that takes a file's name, or runs a command, may be called."""

COMMANDS = set(
    """
    Eca Git checkhealth copen cquit diffoff diffthis diffupdate enew lopen new normal normal! quit
    redraw setlocal startinsert stopinsert tabclose tabnew undo undojoin
    """.split()  # noqa: SIM905 (a list of words)
)
COMMANDS_WITH_NAMES = {
    "help": "commands/plugin.lua",
    "helptags": "commands/plugin.lua",
    "split": "ui/others.lua",  # the log
    "wincmd": "window/layout.lua",  # equal sizes
    "terminal": "actions/put.lua",  # without a name: the user's shell
    "buffer": HOME,
    "edit!": HOME,
}
MODIFIERS = re.compile(r"^(?:(?:silent!?|belowright) )+")
UI = {"select", "input"}


def lua_name(path: Path) -> str:
    """Name a module by its path in the plugin's folder of Lua."""
    folder = REPOSITORY / "lua" / "eca"
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else path.name


def tokens(code: str) -> list[str]:
    """Return the words and signs of some Lua; a string is its content behind a quotation mark."""
    found: list[str] = []
    for token in TOKEN.finditer(code):
        strings = [token[it] for it in ("long", "double", "single") if token[it] is not None]
        if strings:
            found.append(f"'{strings[0]}")
        elif text := token["name"] or token["other"]:
            found.append(text)
    return found


def opens(code: str, module: str) -> Iterator[str]:
    """Find what opens a file, or runs a command, in a module that may not."""
    words = tokens(code)
    for index, word in enumerate(words):
        name, before = word.removeprefix("'"), words[index - 1] if index else ""
        after = words[index + 1 : index + 6]
        if module not in TAKES_NAMES.get(name, {module}):
            yield name
        if name == "cmd" and before in {".", "["} and module != HOME:
            yield from commands(after, module)
        if name == "ui" and before in {".", "["} and module != "ui/external.lua":
            yield from (() if after[0] == "." and after[1] in UI else ("ui",))


def commands(after: list[str], module: str) -> Iterator[str]:
    """Find a command that may take names of files; `after`: what follows `cmd`."""
    name = after[1].removeprefix("'")
    if after[0] == "." or after[:3] == ["(", after[1], ")"]:
        name = MODIFIERS.sub("", name).split(" ")[0]
        is_plain = name not in {"new", "tabnew"} or "args" not in after
        if after[1] == "normal":  # its keys stand here
            is_plain = any(word.startswith("'") for word in after)
        if (name in COMMANDS and is_plain) or COMMANDS_WITH_NAMES.get(name) == module:
            return
    yield f"cmd {name}"


def test_no_event_of_ours_has_neovim_obey_modelines() -> None:
    for path in LUA:
        code = path.read_text(encoding="utf-8")
        assert code.count("nvim_exec_autocmds") == code.count(", modeline = false"), path


@pytest.mark.parametrize("path", LUA, ids=lua_name)
def test_lua_opens_files_in_one_module(path: Path) -> None:
    assert list(opens(path.read_text(encoding="utf-8"), lua_name(path))) == []


@pytest.mark.parametrize(
    "code",
    [
        "vim.fn.bufadd(path)",
        "vim.fn['bufload'](buf)",
        "local add = vim.fn.bufadd",
        "pcall(vim.api.nvim_buf_set_name, buf, path)",
        'vim.api["nvim_command"]("edit " .. path)',
        "vim.cmd('edit ' .. path)",
        "vim.cmd('silent edit x')",
        "vim.cmd [[split x]]",
        "vim.cmd([==[split x]==])",
        "vim.cmd('normal! ' .. path)",
        "vim.cmd.edit(path)",
        "vim.cmd.normal({ keys, bang = true })",
        "vim.cmd.tabnew({ args = { path } })",
        "vim.cmd({ cmd = 'tabedit', args = { path } })",
        "vim['cmd'](path)",
        "local run = vim.cmd\nrun.edit(path)",
        "vim.fn.setqflist({ { filename = path } })",
        "vim.fn.readfile(path)",
        "io.lines(path)",
        "vim.ui.open(path)",
        "local ui = vim.ui",
        "vim.ui['open'](path)",
        "vim.fn.call('bufadd', { path })",
        "vim.cmd.checktime(path)",
        "vim.lsp.util.show_document(location)",
    ],
)
def test_no_spelling_escapes(code: str) -> None:
    assert list(opens(f"{code}\n-- the end\nreturn nil, nil", "any.lua"))


@pytest.mark.parametrize(
    "code",
    [
        "-- bufadd(path)",
        "--[[ vim.cmd.edit(path) ]] return nil",
        "local text = 'bufadd and bufload are elsewhere'",
        "vim.cmd.redraw()",
        "vim.cmd('silent! normal! ]c')",
        "vim.cmd.normal({ 'gg', bang = true })",
        "vim.cmd.tabnew({ mods = {} })",
        "vim.ui.select(items, options, act)",
        "vim.lsp.start({ cmd = serve })",
    ],
)
def test_what_takes_no_name_is_free(code: str) -> None:
    assert not list(opens(f"{code}\nreturn nil, nil", "any.lua"))


READS = {"open", "fdopen", "FileIO", "read_text", "read_bytes", "write_text", "write_bytes"}
OWN_NAMES = {
    "paths.py": {"open", "fdopen"},
    "system.py": {"open", "read_text", "read_bytes"},  # the kernel's files, one without a name
    "agents/acp/requests/files.py": {"read_text", "write_text"},  # by the editor
    "agents/acp/sessions.py": {"open"},  # of a session
    "disk/private.py": {"open"},
    "disk/replacing.py": {"open", "fdopen"},  # without following links
    "store.py": {"open", "read_bytes", "read_text", "write_bytes"},
    "mcp/tools.py": {"read_text"},  # by the editor
    "nvim/logs.py": {"open"},
    "session/panels/trace.py": {"open", "fdopen"},  # a new file, by the name that the user gives
    "session/session.py": {"open"},  # of a fold
    "review/git.py": {"open"},  # a repository of ours
    "review/checkpoint_store.py": {"read_bytes", "write_bytes"},  # of ours
    "review/repository.py": {"read_bytes"},  # of ours
    "review/snapshots.py": {"read_bytes", "write_bytes"},  # of copies
    "server/find.py": {"read_bytes"},  # beside it
    # Only in the folder of what is installed, by names that have no folder in them.
    "server/download.py": {"open"},
    "server/installed.py": {"open", "read_bytes"},
    "server/installer.py": {"read_bytes"},
    "server/offers.py": {"read_bytes", "write_bytes"},
    "session/requests/images.py": {"write_bytes"},
    "transport/pipes.py": {"FileIO"},
    "transport/process.py": {"FileIO"},
}


def reads(tree: ast.AST) -> Iterator[str]:
    """Find what opens a file: a name of a function, or a text that is one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id


@pytest.mark.parametrize("path", PYTHON, ids=lua_name)
def test_python_opens_files_in_one_module(path: Path) -> None:
    module = str(path.relative_to(PACKAGE))
    found = READS & set(reads(ast.parse(path.read_text(encoding="utf-8"))))
    assert found <= OWN_NAMES.get(module, set())

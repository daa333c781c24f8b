"""The help is complete: all that a user can name has a tag, and all tags name something."""

import re
import shutil
from pathlib import Path

from tests.doc import documents
from tests.support.editor import Neovim
from tests.support.launch import REPOSITORY

COLUMNS = 78


def test_no_line_is_wider_than_help_is_shown(nvim: Neovim) -> None:
    widths = nvim.lua("return vim.tbl_map(vim.fn.strdisplaywidth, ...)", documents.help_lines())
    lines = zip(documents.help_lines(), widths, strict=True)
    wide = [line for line, width in lines if width > COLUMNS]
    assert wide == []


def test_neovim_takes_the_tags(nvim: Neovim, tmp_path: Path) -> None:
    shutil.copy(documents.HELP, tmp_path)
    nvim.command(f"helptags {tmp_path}")
    written = (tmp_path / "tags").read_text().splitlines()
    assert {line.split("\t")[0] for line in written} == set(documents.tags())
    assert len(set(documents.tags())) == len(documents.tags())


def test_links_lead_somewhere(nvim: Neovim) -> None:
    listed = Path(nvim.eval("$VIMRUNTIME"), "doc", "tags").read_text()
    known = {line.split("\t")[0] for line in listed.splitlines()} | set(documents.tags())
    assert set(documents.links()) - known == set()


def test_the_contents_list_all_sections() -> None:
    lines = documents.help_lines()
    heads = [lines[row + 1] for row, line in enumerate(lines) if line.startswith("=====")][1:]
    sections = [documents.TAG.findall(head)[0] for head in heads]
    listed = re.findall(r"(?m)^    \S.* \.\.+ \|(\S+)\|$", documents.told("eca"))
    assert listed == sections


def test_commands(nvim: Neovim) -> None:
    commands = nvim.lua("return vim.tbl_keys(vim.api.nvim_get_commands({}))")
    assert documents.things(r":(Eca\w*)") == {name for name in commands if name.startswith("Eca")}


def test_subcommands(nvim: Neovim) -> None:
    there = set(nvim.lua("return vim.tbl_keys(require('eca.commands.subcommands').by_name)"))
    assert documents.things(r":Eca-(\S+)") == there


def test_mappings(nvim: Neovim) -> None:
    actions = nvim.lua("return vim.tbl_keys(require('eca.keymaps.actions'))")
    assert documents.things(r"<Plug>\(Eca(\w+)\)") == set(actions)


def test_options(nvim: Neovim) -> None:
    there = set(nvim.lua("return vim.tbl_keys(require('eca.config').entries)"))
    assert documents.things(r"eca-option-(\S+)") == there


def test_highlight_groups(nvim: Neovim) -> None:
    nvim.lua("require('eca.ui.highlights').setup()")
    there = nvim.lua("return vim.fn.getcompletion('Eca', 'highlight')")
    assert documents.things(r"hl-(Eca\w+)") == set(there)


def test_lua_functions(nvim: Neovim) -> None:
    there = nvim.lua("return vim.tbl_keys(require('eca'))")
    assert documents.things(r"eca\.(\w+)\(\)") == set(there)


def test_events() -> None:
    assert documents.things(r"(Eca[A-Z]\w+)") == events()


def events() -> set[str]:
    """Find the `User` events that the code fires."""
    fired = re.compile(r"\b(?:emit|Emit)\(\s*[\"'](Eca\w+)[\"']")
    python = (REPOSITORY / "rplugin").rglob("*.py")
    lua = (REPOSITORY / "lua").rglob("*.lua")
    found = {name for path in (*python, *lua) for name in fired.findall(path.read_text())}
    server = (REPOSITORY / "lua" / "eca" / "view" / "ops.lua").read_text()
    return found | set(re.findall(r"'(EcaServer\w+)'", server))

"""The pages for readers, README first, say what is true."""

import ast
import json
import re
import tomllib
from pathlib import Path

import pytest
from tests.doc import documents
from tests.support.editor import Neovim
from tests.support.launch import REPOSITORY

PACKAGE = REPOSITORY / "rplugin" / "python3" / "eca_nvim"


def test_servers() -> None:
    known = json.loads((PACKAGE / "server" / "known.json").read_text())["servers"]
    listed = re.findall(
        r"(?m)^\| `([a-z-]+)` \| `(\S+)` \| [`<](.+)[`>] \|$", documents.section("### Agents")
    )
    assert {name: (program, how) for name, program, how in listed} == {
        name: (server["command"][0], server["install"]) for name, server in known.items()
    }


def test_mappings(nvim: Neovim) -> None:
    actions = set(nvim.lua("return vim.tbl_keys(require('eca.keymaps.actions'))"))
    text = documents.README.read_text(encoding="utf-8")
    assert set(re.findall(r"<Plug>\(Eca(\w+)\)", text)) - actions == set()


def test_options(nvim: Neovim) -> None:
    (snippet,) = documents.snippets("## Options", "lua")
    nvim.lua(snippet)
    complaints = nvim.lua(
        "local found = {} require('eca.config').check(vim.g.eca, found) return found"
    )
    assert complaints == []


def test_commands(nvim: Neovim) -> None:
    subcommands = set(nvim.lua("return vim.tbl_keys(require('eca.commands.subcommands').by_name)"))
    text = documents.README.read_text(encoding="utf-8")
    assert set(re.findall(r"`:Eca ([a-z-]+)", text)) - subcommands == set()


def test_commands_that_messages_advise(nvim: Neovim) -> None:
    subcommands = set(nvim.lua("return vim.tbl_keys(require('eca.commands.subcommands').by_name)"))
    code = (*PACKAGE.rglob("*.py"), *(REPOSITORY / "lua").rglob("*.lua"))
    advised = {name for path in code for name in re.findall(r":Eca ([a-z-]+)", path.read_text())}
    assert advised - subcommands == set()


def strings_of(path: Path) -> list[str]:
    """Return the strings in a file of code, without docstrings."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".lua":
        code = re.sub(r"(?m)^\s*--.*$", "", text)
        return [found[0] for found in re.finditer(r"'[^'\n]*'|\"[^\"\n]*\"", code)]
    nodes = list(ast.walk(ast.parse(text)))
    alone = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    constants = [node for node in nodes if isinstance(node, ast.Constant) and id(node) not in alone]
    return [node.value for node in constants if isinstance(node.value, str)]


def test_messages_have_no_backticks() -> None:
    """Only Markdown hides them, which the command line and faults in a chat are not."""
    code = [path for path in PACKAGE.rglob("*.py") if "demo" not in path.parts]
    code += (REPOSITORY / "lua").rglob("*.lua")
    found = {path.name: text for path in code for text in strings_of(path) if "`:" in text}
    assert found == {}


@pytest.mark.parametrize(
    "words",
    [
        *("https://eca.dev", "`editor-code-assistant/eca`", "`:Eca login`", "Say `hello`"),
        *("`:Eca approval`", "in the chat `g<CR>`", "extensions = { 'eca' }"),
    ],
)
def test_the_first_hour(words: str) -> None:
    """README says what ECA is, where to get it, how to log in, what to try, how to answer."""
    assert words in documents.README.read_text(encoding="utf-8")


def test_packages_of_the_shared_host() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    wanted = [re.split(r"[<>=]", item)[0] for item in project["dependencies"]]
    (commands,) = documents.snippets("### :UpdateRemotePlugins", "sh")
    assert commands.split(" install ")[1].split() == sorted(wanted)


def test_targets_of_make() -> None:
    targets = re.findall(r"(?m)^([a-z]+):", (REPOSITORY / "Makefile").read_text())
    for path in (*documents.PAGES, documents.HELP):
        text = path.read_text(encoding="utf-8")
        used = re.findall(r"(?m)(?:`|^\s*)make ([a-z]+)", text)
        assert set(used) <= set(targets), path.name


@pytest.mark.parametrize("page", documents.PAGES, ids=lambda path: path.name)
def test_links_of_a_page_lead_to_files(page: Path) -> None:
    text = page.read_text(encoding="utf-8").split("```")[::2]
    linked = [page.parent / target for target in re.findall(r"\]\(([\w./]+)\)", "".join(text))]
    assert [path for path in linked if not path.exists()] == []

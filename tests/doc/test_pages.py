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


def test_the_address_of_the_repository_stands_in_one_place() -> None:
    """README says what the placeholder is, and only code below that has it."""
    *before, install = documents.README.read_text(encoding="utf-8").partition("## Install\n")
    code, prose = install.split("```")[1::2], install.split("```")[::2]
    assert "REPOSITORY" not in "".join(before)
    assert "".join(prose).count("REPOSITORY") == 1
    assert "".join(code).count("REPOSITORY") == 3
    shipped = (REPOSITORY / name for name in ("lua", "plugin", "rplugin", "scripts", ".github"))
    files = [path for folder in shipped for path in folder.rglob("*") if path.is_file()]
    others = (documents.HELP, *documents.PAGES[1:], REPOSITORY / "pyproject.toml")
    named = re.compile(r"\bREPOSITORY\b|[\w.-]+/eca-nvim-client\b")
    texts = [it for it in (*files, *others) if it.suffix != ".pyc"]
    assert [path for path in texts if named.search(path.read_text(encoding="utf-8"))] == []


def test_what_is_needed() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    python = project["requires-python"].removeprefix(">=")
    beside = documents.section("## Beside other plugins")
    assert f"Neovim 0.10 or newer and Python {python}" in documents.section("## Install")
    assert f"| Needs | Python {python} |" in beside
    assert {row.count("|") for row in beside.splitlines() if row.startswith("|")} == {8}


def test_readme_is_read_in_five_minutes() -> None:
    """That is, at 300 words a minute, what one sees before one opens more, without code."""
    text = re.sub(r"(?s)<details>.*?</details>|```.*?```", "", documents.README.read_text())
    assert len(re.findall(r"\w[^\s|]*", text)) <= 1500


def test_pictures_are_shown_with_their_own_descriptions() -> None:
    shown = re.findall(r"!\[(.+)\]\((\S+)\)", documents.README.read_text(encoding="utf-8"))
    drawn = sorted((REPOSITORY / "doc").glob("*.svg"))
    titles = [re.findall("<title>(.+)</title>", path.read_text(encoding="utf-8")) for path in drawn]
    assert sorted(path for _, path in shown) == [f"doc/{path.name}" for path in drawn]
    assert sorted(alt for alt, _ in shown) == sorted(title for found in titles for title in found)


@pytest.mark.parametrize("page", documents.PAGES, ids=lambda path: path.name)
def test_links_of_a_page_lead_to_files(page: Path) -> None:
    text = page.read_text(encoding="utf-8").split("```")[::2]
    linked = [page.parent / target for target in re.findall(r"\]\(([\w./]+)\)", "".join(text))]
    assert [path for path in linked if not path.exists()] == []


@pytest.mark.parametrize("page", documents.PAGES, ids=lambda path: path.name)
def test_links_in_a_page_lead_to_its_headings(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    headings = re.findall(r"(?m)^#+ (.+)$", text)
    slugs = {re.sub(r"[^\w -]", "", it).lower().replace(" ", "-") for it in headings}
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) - slugs == set()

"""What the help says about versions is what the code and the tests hold."""

import re
import tomllib

from tests.doc import documents
from tests.support.launch import REPOSITORY, VERSIONS

from eca_nvim.nvim.launch import NEEDED, OLDEST
from scripts.setup import neovim


def words(tag: str) -> str:
    """Return what the help says about a tag, on one line."""
    return " ".join(documents.told(tag).split())


def test_what_is_tested_with_every_change() -> None:
    told = documents.told("eca-versions")
    every = re.findall(r"(?m)^ {8}(\w+ [0-9.]+) +every change", told)
    assert every == [f"Neovim {it}" for it in VERSIONS] + ["Python 3.11"]
    oldest_neovim, oldest_python = (".".join(map(str, it)) for it in (neovim.OLDEST, OLDEST))
    wanted = f"Neovim {oldest_neovim} or newer and Python {oldest_python} or newer are supported"
    assert wanted in words("eca-versions")
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == f">={oldest_python}"
    plugin = (REPOSITORY / "plugin" / "eca.lua").read_text()
    assert f"nvim-{oldest_neovim}" in plugin
    assert "has('win32')" in plugin


def test_what_an_older_neovim_lacks_is_in_health_too() -> None:
    health = (REPOSITORY / "lua" / "eca" / "health" / "init.lua").read_text()
    (table,) = re.findall(r"(?s)\nlocal OLDER = \{\n(.*?)\n\}", health)
    lines = re.findall(r"'(before [^']+)'", table)
    assert lines
    told = re.findall(r"(?ms)^- (before .*?)\n(?=- |\n)", documents.told("eca-versions"))
    assert [" ".join(it.split()) for it in told] == lines


def test_a_python_of_the_users_needs_what_the_host_does() -> None:
    told = words("eca-nix")
    assert set(NEEDED) <= set(re.findall(r"\w+", told.partition("It needs")[2].partition(".")[0]))
    assert set(re.findall(r"\w+", told.partition("with p; [")[2].partition("]")[0])) == set(NEEDED)


def test_the_machine_of_a_pull_request_runs_what_ours_does() -> None:
    workflows = REPOSITORY / ".github" / "workflows"
    assert "run: .ci/run\n" in (workflows / "ci.yml").read_text()
    assert 'python3 -m scripts.release "$TAG"' in (workflows / "release.yml").read_text()
    assert "exec make test" in (REPOSITORY / ".ci" / "run").read_text()

"""`:Eca report`: what it says of the plugin, and what it leaves out."""

import subprocess
import tomllib
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.launch import REPOSITORY

pytestmark = [pytest.mark.either_nvim, pytest.mark.whole_start]

def reported(nvim: Neovim) -> str:
    """Return the text of a report."""
    nvim.command("Eca report")
    return "\n".join(nvim.buffer_lines())


def test_a_report_has_no_secret_and_is_not_written(start_nvim: StartNeovim) -> None:
    url = "https://me:secret-1@example.org/mcp?key=secret-2"
    mcp = {"web": {"url": url, "headers": {"Authorization": "Bearer secret-3"}}}
    server = {"env": {"API_KEY": "secret-4"}, "command": ["/nowhere/eca", "--key", "secret-5"]}
    settings = {"server": server, "servers": {"demo": {"mcp": mcp}}, "width": 50}
    nvim = start_nvim(columns=120, lines=70, settings=settings)
    report = reported(nvim)
    assert "secret-" not in report
    assert all(it in report for it in ("API_KEY", "width = 50", "/nowhere/eca", "example.org/mcp"))
    assert "### Python host" in report
    assert "# The end of the log" in report
    assert nvim.eval("[&modified, &filetype, expand('%')]") == [0, "markdown", ""]


def test_a_report_says_which_version_it_is(start_nvim: StartNeovim) -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    report = reported(start_nvim(columns=120, lines=70))
    assert f"- plugin: {project['version']}" in report


def git(folder: Path, *words: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(folder), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_the_commit_is_known_in_every_checkout(nvim: Neovim, tmp_path: Path) -> None:
    plugin, worktree = tmp_path / "plugin", tmp_path / "worktree"
    plugin.mkdir()
    (plugin / "pyproject.toml").write_text('[project]\nname = "a"\nversion = "1.2.3"\n')

    def name(folder: Path) -> str:
        return str(nvim.lua("return require('eca.health.checkout').name(...)", str(folder)))

    assert name(tmp_path) == "of an unknown version"
    assert name(plugin) == "1.2.3"
    git(plugin, "init", "-q", "-b", "main")
    assert name(plugin) == "1.2.3"  # there is no commit yet
    git(plugin, "add", ".")
    git(plugin, "commit", "-q", "-m", "all")
    first = f"1.2.3, commit {git(plugin, 'rev-parse', 'HEAD')[:12]}"
    assert name(plugin) == first
    git(plugin, "worktree", "add", "-q", "-b", "other", str(worktree))
    assert name(worktree) == first
    git(plugin, "pack-refs", "--all")
    assert not (plugin / ".git" / "refs" / "heads" / "main").exists()
    assert name(plugin) == name(worktree) == first
    git(worktree, "commit", "-q", "--allow-empty", "-m", "more")
    second = f"1.2.3, commit {git(worktree, 'rev-parse', 'HEAD')[:12]}"
    assert (name(plugin), name(worktree)) == (first, second)
    git(plugin, "checkout", "-q", "--detach")
    assert name(plugin) == first

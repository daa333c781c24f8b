"""`:Eca report`: what it says of the plugin, and what it leaves out."""

import subprocess
import tomllib
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.launch import REPOSITORY

from eca_nvim.nvim.logs import append

pytestmark = [pytest.mark.either_nvim, pytest.mark.whole_start]

HEAD = "2026-01-01 10:00:00,000 {} 1 eca_nvim: {}"
LEFT_OUT = "Records of the level DEBUG are left out: they have texts of chats."
KEY = "sk-ant-api03-AbCdEfGh0123456789AbCdEfGh"
OTHER = "f00Dcafe99-0123456789abcdef0123"
"""A key of no known form."""


def reported(nvim: Neovim) -> str:
    """Return the text of a report."""
    nvim.command("Eca report")
    return "\n".join(nvim.buffer_lines())


def log_of(nvim: Neovim) -> Path:
    return Path(nvim.lua("return require('eca.host.log').path()"))


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


def test_a_report_has_no_text_of_a_chat(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(columns=120, lines=70, settings={"log_level": "debug", "server": "demo"})
    nvim.keys(":EcaChat tell my story of the blue whale<CR>")
    nvim.wait_log("blue whale")
    report = reported(nvim)
    assert "blue whale" not in report
    assert "DEBUG 1" not in report
    assert LEFT_OUT in report


def test_the_last_records_but_those_for_debugging_are_shown_whole(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(columns=120, lines=70)
    log = log_of(nvim)
    append(log, HEAD.format("INFO", "the first"))
    for number in range(29):
        append(log, HEAD.format("WARNING", f"number {number}\nand more of {number}"))
    append(log, HEAD.format("ERROR", "it says DEBUG"))
    assert LEFT_OUT not in reported(nvim)
    for number in range(90):
        forged = HEAD.format("INFO", f"whale {number}")
        append(log, HEAD.format("DEBUG", f"a text of a chat\n\n{forged}\nwhale"))
    append(log, HEAD.format("INFO", "the last"))
    report = reported(nvim)
    shown = report.partition("# The end of the log")[2]
    assert "whale" not in shown
    assert "a text of a chat" not in shown
    assert LEFT_OUT in shown
    lines = shown.partition("~~~ text\n")[2].partition("\n~~~")[0].split("\n")
    assert len(lines) == 60
    assert lines[0] == HEAD.format("WARNING", "number 0")
    assert lines[1:3] == ["  and more of 0", HEAD.format("WARNING", "number 1")]
    assert lines[-2:] == [HEAD.format("ERROR", "it says DEBUG"), HEAD.format("INFO", "the last")]


@pytest.mark.parametrize("python", [None, "/nowhere/python"])
def test_what_looks_like_a_key_is_hidden_everywhere(
    start_nvim: StartNeovim, python: str | None
) -> None:
    model, other = "anthropic/claude-sonnet-4-5-20250929", "qwen3-coder-480b-a35b-instruct"
    servers = {
        "demo": {
            "options": {"model": KEY, "mode": other, "plan": model},
            "mcp": {"web": {"url": f"https://example.org/{OTHER}/mcp"}},
        },
        "mine": {"command": [f"/nowhere/{OTHER}"], "protocol": KEY},
    }
    settings = {"servers": servers} | ({"python": python} if python else {})
    nvim = start_nvim(columns=120, lines=70, settings=settings)
    append(log_of(nvim), HEAD.format("ERROR", f"refused {KEY} and {OTHER} of {model}"))
    report = reported(nvim)
    assert "AbCdEf" not in report
    assert "0123456789" not in report
    assert "must be one of" in report  # what is wrong with the option `protocol`
    assert report.count(model) == 2
    assert f'mode = "{other}"' in report
    assert 'url = "https://example.org/[hidden]/mcp"' in report


def test_what_has_the_name_of_a_secret_is_hidden_if_there_is_a_python(
    start_nvim: StartNeovim,
) -> None:
    settings = {"servers": {"demo": {"options": {"api_key": "open sesame"}}}}
    report = reported(start_nvim(columns=120, lines=70, settings=settings))
    assert "sesame" not in report
    assert 'api_key = "[hidden]"' in report


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

"""Startup: nothing is loaded early, nothing waits, and a run without a screen ends."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.launch import FOLDERS, REPOSITORY, neovim_binary
from tests.support.script import expect, handshake, leave, turn
from tests.ui.talk import draft, prompts

pytestmark = pytest.mark.whole_start

LOADED = """
return vim.tbl_filter(function(name)
  return name == 'eca' or vim.startswith(name, 'eca.')
end, vim.tbl_keys(package.loaded))
"""
STARTS = f"""
local loaded, start = function() {LOADED} end, vim.fn.jobstart
vim.fn.jobstart = function(...)
  _G.before_host = _G.before_host or loaded()
  return start(...)
end
"""
"""Lua that notes what is loaded when the host starts."""
RUN_TIMEOUT = 60


def test_nothing_is_loaded_or_started_until_it_is_used(start_nvim: StartNeovim) -> None:
    nvim = start_nvim("README.md")
    nvim.keys("jj:split<CR>:Eca<C-d><C-c>")
    assert nvim.lua(LOADED) == []
    assert not nvim.child.descendants()
    nvim.lua(STARTS)
    nvim.keys(":EcaChat<CR>")
    loaded = nvim.lua("return _G.before_host")
    assert "eca.host" in loaded
    assert "eca.window" not in loaded
    rooms = {name.split(".")[1] for name in loaded if "." in name}
    assert not rooms & {"actions", "diff", "panels", "review"}


def test_the_chat_opens_and_takes_text_before_the_host_is_up(
    start_nvim: StartNeovim, scripted_server: PrepareScript, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    python = tmp_path / "slow-python"
    wait = f"while [ ! -e {gate} ]; do sleep 0.02; done"
    python.write_text(f'#!/bin/sh\n{wait}\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    server = scripted_server(handshake(), turn())
    settings = {"python": str(python), "server": {"command": server.command}}
    nvim = start_nvim(settings=settings)
    nvim.keys(":EcaChat<CR>ihello")
    assert draft(nvim) == "hello"
    nvim.keys("<C-s>")
    nvim.wait_screen("starting")
    assert not server.received()
    gate.touch()
    nvim.wait_for(lambda: prompts(server) == ["hello"], "the prompt")


# --- without a screen ----------------------------------------------------------------------------


def run_headless(
    version: str, home: Path, prompt: str, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a prompt as `make chat` does without a terminal."""
    for folder in FOLDERS.values():
        (home / folder).mkdir(parents=True, exist_ok=True)
    nvim = [str(neovim_binary(version)), "--clean", "--headless", *arguments]
    path = f"{home / 'bin'}:{Path(sys.executable).parent}:/usr/bin:/bin"
    own = {name: str(home / folder) for name, folder in FOLDERS.items()}
    return subprocess.run(
        [*nvim, "--cmd", "luafile scripts/chat.lua"],
        cwd=REPOSITORY,
        env={**own, "PATH": path, "ECA_PROMPT": prompt, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RUN_TIMEOUT,
        check=False,
    )


def command_option(command: list[str]) -> tuple[str, str]:
    """Return the arguments of Neovim that choose a server."""
    words = ", ".join(f"'{word}'" for word in command)
    return "--cmd", f"let g:eca = {{'server': {{'command': [{words}]}}}}"


@pytest.mark.either_nvim
def test_a_finished_turn_is_printed_and_exits_with_0(nvim_version: str, tmp_path: Path) -> None:
    ran = run_headless(nvim_version, tmp_path, 'say "hi" | it\'s %d #1\nplease')
    assert ran.returncode == 0, ran.stderr
    assert '## User\n\nsay "hi" | it\'s %d #1\nplease\n' in ran.stdout
    assert "I am the **demo agent**" in ran.stdout
    assert ran.stderr == ""


@pytest.mark.either_nvim
def test_what_nobody_approves_is_a_failure(nvim_version: str, tmp_path: Path) -> None:
    ran = run_headless(nvim_version, tmp_path, "fix the greeting")
    assert ran.returncode == 1
    assert "⊘ edit" in ran.stdout
    assert "rejected" in ran.stderr


@pytest.mark.either_nvim
def test_approved_by_the_environment_it_works(nvim_version: str, tmp_path: Path) -> None:
    ran = run_headless(nvim_version, tmp_path, "fix the greeting", ECA_APPROVE="1")
    assert ran.returncode == 0, ran.stderr
    assert "✓ edit" in ran.stdout


@pytest.mark.either_nvim
def test_a_crash_is_a_failure_with_its_words(nvim_version: str, tmp_path: Path) -> None:
    ran = run_headless(nvim_version, tmp_path, "crash")
    assert ran.returncode == 1
    assert "the server exited" in ran.stderr


@pytest.mark.either_nvim
def test_a_refused_prompt_is_a_failure(
    nvim_version: str, tmp_path: Path, scripted_server: PrepareScript
) -> None:
    server = scripted_server(handshake(), expect("chat/prompt"), leave(0))
    ran = run_headless(nvim_version, tmp_path, "hello", *command_option(server.command))
    assert ran.returncode == 1


@pytest.mark.either_nvim
@pytest.mark.parametrize(
    ("option", "reason"),
    [
        (
            "'server': {'command': ['/nowhere/eca']}",
            "server.command: '/nowhere/eca' not found: correct its path",
        ),
        (
            "'python': '/nowhere/python'",
            "fix 'python', :Eca restart: no /nowhere/python",
        ),
    ],
)
def test_what_cannot_start_ends_with_its_reason(
    option: str, reason: str, nvim_version: str, tmp_path: Path
) -> None:
    ran = run_headless(nvim_version, tmp_path, "hello", "--cmd", f"let g:eca = {{{option}}}")
    assert ran.returncode == 1
    told = ran.stderr.splitlines()
    assert (told[0], told[-1]) == (f"eca: {reason}", "eca: the server exited")


@pytest.mark.either_nvim
def test_a_server_that_cannot_start_says_why(nvim_version: str, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "eca"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho no such option >&2\nexit 3\n")
    program.chmod(0o755)
    ran = run_headless(nvim_version, tmp_path, "hello")
    assert ran.returncode == 1
    assert "exit code 3: no such option" in ran.stderr

"""`make chat`: what it starts and prints; the prompt arrives as it was typed."""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pytest
from tests.support.launch import REPOSITORY, neovim_binary

from scripts.setup import environment

ODD = """ "quoted" 'and' $HOME $(shell touch made) `id` $$ %:p #1 \\n | <CR>
second line, äöü ✓, trailing """

# A Neovim that prints how it was started.
FAKE_NVIM = """#!{python}
import json, os, sys
if sys.argv[1:] == ["--version"]:
    print("NVIM v0.11.0")
else:
    prompt, folder = os.environ.get("ECA_PROMPT"), os.environ.get("ECA_DEMO_FOLDER")
    told = {{"prompt": prompt, "folder": folder, "is_there": os.path.isdir(folder or "")}}
    told["allows"], told["server"] = os.environ.get("ECA_APPROVE"), os.environ.get("ECA_SERVER")
    told["files"] = os.listdir(folder) if told["is_there"] else []
    print(json.dumps({{"arguments": sys.argv[1:], "cwd": os.getcwd(), **told}}), flush=True)
    if prompt == "wait":
        import signal
        signal.pause()
    sys.exit(3 if prompt == "fail" else 0)
"""


@dataclass(frozen=True)
class Checkout:
    """A copy of the checkout that is set up, with a PATH of its own."""

    root: Path
    programs: Path

    def run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run make in it, without a terminal."""
        return subprocess.run(
            ["make", *words],
            cwd=self.root,
            env={"PATH": f"{self.programs}:{os.environ['PATH']}", **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """Return a checkout whose Neovim is a stand-in and whose agent is found nowhere."""
    root, programs = tmp_path / "check out, 100%", tmp_path / "bin"
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(REPOSITORY / "scripts", root / "scripts", ignore=ignore)
    shutil.copytree(REPOSITORY / "rplugin", root / "rplugin", ignore=ignore)
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(REPOSITORY / name, root)
    (root / ".venv").mkdir()
    for part in ("package", "neovim"):
        environment.stamp(root, part).put()
    programs.mkdir()
    _program(programs / "nvim", FAKE_NVIM.format(python=sys.executable))
    _program(programs / "python3", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    return Checkout(root, programs)


@pytest.mark.parametrize("prompt", [ODD, "hi", "-c quit", "a=b", "# no comment"])
def test_prompt_arrives_as_typed(checkout: Checkout, prompt: str) -> None:
    done = checkout.run("chat", f"PROMPT={prompt}")
    # make drops blanks before a value; everything else is as the user typed it.
    assert json.loads(done.stdout)["prompt"] == prompt.lstrip()
    assert prompt.strip() not in str(json.loads(done.stdout)["arguments"])
    assert not (checkout.root / "made").exists()


def test_shell_prompt_is_no_prompt(checkout: Checkout) -> None:
    done = checkout.run("chat", PROMPT="%n@%m")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[0].startswith("make chat needs a terminal, or a prompt: ")


def test_without_a_terminal_it_runs_headlessly(checkout: Checkout) -> None:
    started = json.loads(checkout.run("chat", "PROMPT=hi").stdout)
    assert started["arguments"][:2] == ["--clean", "--headless"]
    assert started["cwd"] == str(checkout.root)


def test_with_a_terminal_it_opens_a_screen(checkout: Checkout) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "scripts.chat"]
    path = f"{checkout.programs}:{os.environ['PATH']}"
    with os.fdopen(ours, "rb", buffering=0) as screen, os.fdopen(theirs, "rb") as terminal:
        done = subprocess.run(
            command,
            cwd=checkout.root,
            env={"PATH": path},
            stdin=terminal,
            stdout=terminal,
            stderr=subprocess.PIPE,
            timeout=60,
            check=True,
        )
        started = json.loads(screen.read(4096))
    assert started["arguments"] == ["--clean", "--cmd", "luafile scripts/chat.lua"]
    assert (started["prompt"], started["allows"], started["server"]) == (None, None, None)
    assert b"your Neovim" in done.stderr


def test_it_says_what_runs(checkout: Checkout) -> None:
    line = checkout.run("chat", "PROMPT=hi").stderr
    assert line == f"Chat: your Neovim, {checkout.programs / 'nvim'}, with demo agent\n"
    _program(checkout.programs / "eca", "#!/bin/sh\n")
    line = checkout.run("chat", "PROMPT=hi").stderr
    assert line.endswith(f", with {checkout.programs / 'eca'}\n")


def test_the_demo_gets_a_folder_that_goes_with_neovim(checkout: Checkout, tmp_path: Path) -> None:
    done = checkout.run("chat", "PROMPT=fail", TMPDIR=str(tmp_path))
    started = json.loads(done.stdout)
    folder = Path(started["folder"])
    assert folder.parent == tmp_path.resolve()
    assert folder.name.startswith("eca-demo-")
    assert "greet.py" in started["files"]
    assert not folder.exists()
    assert "Error 3" in done.stderr


@pytest.mark.parametrize(("name", "server"), [("eca", "demo"), ("acp-demo", "acp-demo")])
def test_what_the_demo_asks_is_allowed_without_a_terminal(
    checkout: Checkout, name: str, server: str
) -> None:
    started = json.loads(checkout.run("chat", "PROMPT=hi", f"SERVER={name}").stdout)
    assert (started["allows"], started["server"]) == ("1", server)
    refused = json.loads(checkout.run("chat", "PROMPT=hi", ECA_APPROVE="0").stdout)
    assert refused["allows"] == "0"


def test_a_server_gets_no_folder_and_no_leave_of_the_demo(
    checkout: Checkout, tmp_path: Path
) -> None:
    _program(checkout.programs / "eca", "#!/bin/sh\n")
    done = checkout.run("chat", "PROMPT=hi", ECA_DEMO_FOLDER=str(tmp_path))
    assert (json.loads(done.stdout)["folder"], json.loads(done.stdout)["allows"]) == (None, None)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_the_folder_goes_when_the_chat_is_ended(checkout: Checkout, number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "scripts.chat"],
        cwd=checkout.root,
        env={"PATH": f"{checkout.programs}:{os.environ['PATH']}", "ECA_PROMPT": "wait"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as chat:
        assert chat.stdout is not None
        started = json.loads(chat.stdout.readline())
        chat.send_signal(number)
        assert chat.wait(20) == 128 + number
    assert started["is_there"]
    assert not Path(started["folder"]).exists()


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """Return a checkout whose plugin only writes down the prompt it is given."""
    root = tmp_path / "check out, 100%"
    (root / "plugin").mkdir(parents=True)
    (root / "lua" / "eca" / "commands").mkdir(parents=True)
    (root / "plugin" / "eca.lua").write_text(
        "vim.api.nvim_create_user_command('EcaChat', function(call)\n"
        "  io.stderr:write(call.args, tostring(vim.env.ECA_PROMPT))\n"
        "  vim.cmd('qall!')\n"
        "end, { nargs = '*' })\n"
    )
    (root / "lua" / "eca" / "commands" / "headless.lua").write_text(
        "return { run = function(prompt)\n"
        "  if prompt == 'fail' then error('a fault') end\n"
        "  io.stdout:write(prompt, tostring(vim.env.ECA_PROMPT))\n"
        "  vim.cmd.cquit({ count = 0 })\n"
        "end }\n"
    )
    shutil.copytree(REPOSITORY / "scripts", root / "scripts")
    return root


def test_headless_chat_gets_the_prompt_and_nobody_else(plugin: Path, nvim_version: str) -> None:
    done = _run_chat(plugin, nvim_version, ODD, "--headless")
    assert done.returncode == 0
    assert done.stdout == ODD + "nil"


def test_chat_works_in_the_folder_of_the_demo(plugin: Path, nvim_version: str) -> None:
    folder = plugin.parent / "eca-demo-1 of 2%"
    folder.mkdir()
    (plugin / "lua" / "eca" / "commands" / "headless.lua").write_text(
        "return { run = function()\n"
        "  io.stdout:write(vim.fn.getcwd())\n"
        "  vim.cmd.cquit({ count = 0 })\n"
        "end }\n"
    )
    done = _run_chat(plugin, nvim_version, "hi", "--headless", folder=folder)
    assert done.stdout == str(folder)


def test_chat_names_a_python_so_that_nobody_looks_for_one(plugin: Path, nvim_version: str) -> None:
    (plugin / "lua" / "eca" / "commands" / "headless.lua").write_text(
        "return { run = function()\n"
        "  io.stdout:write(vim.g.python3_host_prog)\n"
        "  vim.cmd.cquit({ count = 0 })\n"
        "end }\n"
    )
    done = _run_chat(plugin, nvim_version, "hi", "--headless")
    assert done.stdout == str(plugin / ".venv" / "bin" / "python3")


def test_headless_chat_that_cannot_start_ends(plugin: Path, nvim_version: str) -> None:
    done = _run_chat(plugin, nvim_version, "fail", "--headless")
    assert done.returncode == 1
    assert "a fault" in done.stderr


def test_chat_on_a_screen_gets_the_prompt(plugin: Path, nvim_version: str) -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(ours), os.fdopen(theirs, "rb") as terminal:
        done = _run_chat(plugin, nvim_version, ODD, stdin=terminal)
    assert done.stderr == ODD + "nil"


def _run_chat(
    plugin: Path,
    version: str,
    prompt: str,
    *mode: str,
    stdin: BinaryIO | int = subprocess.DEVNULL,
    folder: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Start Neovim as `make chat` does, without its colours on a screen."""
    variables = {"PATH": os.environ["PATH"], "HOME": str(plugin), "TERM": "dumb"}
    variables |= {"ECA_DEMO_FOLDER": str(folder)} if folder else {}
    return subprocess.run(
        [neovim_binary(version), "--clean", *mode, "--cmd", "luafile scripts/chat.lua"],
        cwd=plugin,
        env={**variables, "ECA_PROMPT": prompt},
        stdin=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def _program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)

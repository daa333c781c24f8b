"""`make chat`: opens Neovim with the chat; without a terminal, runs one prompt and prints it all.

The prompt comes in the environment variable ECA_PROMPT and stays there: no command line, no shell
and no Vim command is ever made of it. The user's configuration is not loaded, so that the chat is
the same on every machine; `scripts/chat.lua` does the rest inside Neovim.

With the demo agent Neovim works in a scratch folder, which is deleted when Neovim ends. Without a
terminal nobody can be asked: what the demo asks is allowed, as it works only in that folder.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from scripts.setup import neovim
from scripts.setup.steps import ROOT, for_chat, prepare

DEMO_FOLDER = "ECA_DEMO_FOLDER"
"""The variable with the folder for the demo agent."""
SERVER = "ECA_SERVER"
"""The variable with the name of the server to talk to."""
APPROVE = "ECA_APPROVE"
"""The variable that is 1 if what is asked without a terminal is allowed."""


@dataclass(frozen=True)
class Editor:
    """The Neovim to start, and its name for the user."""

    nvim: Path
    name: str


def choose_editor(root: Path, own: Path | None) -> Editor:
    """Return the user's own Neovim, else the one in the checkout's cache."""
    if own is not None:
        return Editor(own, f"your Neovim, {own}")
    release = neovim.FOR_CHAT
    unpacked = neovim.folder_of(release, root / ".cache") / "bin" / "nvim"
    return Editor(unpacked, f"Neovim {release.version} of this folder (no 0.10 or newer on PATH)")


def choose_agent(root: Path) -> tuple[str, str | None]:
    """Return the label of the agent that the plugin will choose, and which of the demo's it is."""
    sys.path.append(str(root / "rplugin" / "python3"))
    from eca_nvim.server.find import DEMO, DEMO_LABEL, DEMOS, BadServerOption, find_server

    name = os.environ.get(SERVER, "eca")
    try:
        label = find_server(name, {}).label
    except BadServerOption as fault:
        sys.exit(f"make chat: {fault}")
    return label, (name if name in DEMOS else DEMO) if label == DEMO_LABEL else None


def command_line(editor: Editor, with_terminal: bool) -> list[str]:
    """Build the command that starts Neovim in the checkout's folder."""
    mode = [] if with_terminal else ["--headless"]
    return [str(editor.nvim), "--clean", *mode, "--cmd", "luafile scripts/chat.lua"]


def prepare_demo(folder: str, server: str, with_terminal: bool) -> dict[str, str]:
    """Put the demo's files into a folder; return the environment of a Neovim that works there."""
    from eca_nvim.demo.tools import Workshop

    folder = os.path.realpath(folder)
    Workshop.create(Path(folder))
    if with_terminal:
        return {**os.environ, DEMO_FOLDER: folder}
    # `eca` may be another program by the time it is started: what is allowed all is named exactly.
    return {APPROVE: "1", **os.environ, DEMO_FOLDER: folder, SERVER: server}


def run_beside_demo(command: Sequence[str], server: str, with_terminal: bool) -> int:
    """Run Neovim with a folder for the demo agent, and delete that; return the exit code."""
    editor: subprocess.Popen[bytes] | None = None

    def pass_on(number: int, _frame: FrameType | None) -> None:
        if editor is None:
            sys.exit(128 + number)
        editor.send_signal(number)

    # A terminal sends <C-c> to Neovim, too; this process only has to survive it.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGHUP, pass_on)
    signal.signal(signal.SIGTERM, pass_on)
    prefix = "eca-demo-"
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as folder:
        editor = subprocess.Popen(command, env=prepare_demo(folder, server, with_terminal))
        exit_code = editor.wait()
    return exit_code if exit_code >= 0 else 128 - exit_code


def main() -> int:
    """Prepare, print what will run, and run it; return an exit code unless Neovim replaces us."""
    with_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if not with_terminal and not os.environ.get("ECA_PROMPT"):
        print('make chat needs a terminal, or a prompt: make chat PROMPT="…"', file=sys.stderr)
        return 2
    own = neovim.on_path()
    exit_code = prepare(for_chat(ROOT, own), ROOT)
    if exit_code == 0:
        editor = choose_editor(ROOT, own)
        agent, demo = choose_agent(ROOT)
        print(f"Chat: {editor.name}, with {agent}", file=sys.stderr)
        os.chdir(ROOT)
        command = command_line(editor, with_terminal)
        if demo:
            return run_beside_demo(command, demo, with_terminal)
        os.environ.pop(DEMO_FOLDER, None)
        os.execv(editor.nvim, command)  # noqa: S606 - without a shell, on purpose
    return exit_code


if __name__ == "__main__":
    sys.exit(main())

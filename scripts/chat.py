"""`make chat`: opens Neovim with the chat; without a terminal, runs one prompt and prints it all.

The prompt comes in the environment variable ECA_PROMPT and stays there: no command line, no shell
and no Vim command is ever made of it. The user's configuration is not loaded, so that the chat is
the same on every machine; `scripts/chat.lua` does the rest inside Neovim.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from scripts.setup import neovim
from scripts.setup.steps import ROOT, for_chat, prepare


@dataclass(frozen=True)
class Editor:
    """The Neovim to start, and the words that name it to the user."""

    nvim: Path
    name: str


def choose_editor(root: Path, own: Path | None) -> Editor:
    """Take the user's own Neovim, else the one in the checkout's cache."""
    if own is not None:
        return Editor(own, f"your Neovim, {own}")
    release = neovim.FOR_CHAT
    unpacked = neovim.folder_of(release, root / ".cache") / "bin" / "nvim"
    return Editor(unpacked, f"Neovim {release.version} of this folder (no 0.10 or newer on PATH)")


def name_agent(root: Path) -> str:
    """Name the agent that the plugin will choose, by the plugin's own rule."""
    sys.path.append(str(root / "rplugin" / "python3"))
    from eca_nvim.server.find import find_server

    return find_server(None, {}).label


def command_line(editor: Editor, with_terminal: bool) -> list[str]:
    """Build the command that starts Neovim; it is to run in the checkout's folder."""
    mode = [] if with_terminal else ["--headless"]
    return [str(editor.nvim), "--clean", *mode, "--cmd", "luafile scripts/chat.lua"]


def main() -> int:
    """Prepare, tell what will run, and become Neovim; return an exit code if that cannot be."""
    with_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if not with_terminal and not os.environ.get("ECA_PROMPT"):
        print('make chat needs a terminal, or a prompt: make chat PROMPT="…"', file=sys.stderr)
        return 2
    own = neovim.on_path()
    exit_code = prepare(for_chat(ROOT, own), ROOT)
    if exit_code == 0:
        editor = choose_editor(ROOT, own)
        print(f"Chat: {editor.name}, with {name_agent(ROOT)}", file=sys.stderr)
        os.chdir(ROOT)
        os.execv(editor.nvim, command_line(editor, with_terminal))  # noqa: S606 - no shell is meant
    return exit_code


if __name__ == "__main__":
    sys.exit(main())

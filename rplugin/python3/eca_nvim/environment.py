"""The environment of every process that the plugin starts.

Neovim gives its child processes the address of its socket and the paths of its own files. A program
with that address can press keys in the editor, so a tool could approve its own call.

Rules kept here:
- A process gets the user's variables, except those that lead to the running Neovim.
- NVIM_APPNAME stays: the user sets it, and it only names a configuration.
- Variables that the user adds (`server.env`) are set as they are.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

_EDITORS: Final = frozenset({"NVIM", "VIM", "VIMRUNTIME", "MYVIMRC"})
_PREFIXES: Final = ("NVIM_", "__NVIM")  # NVIM_LISTEN_ADDRESS, NVIM_LOG_FILE, and pynvim's own
_USERS: Final = frozenset({"NVIM_APPNAME"})
HEAD_START: Final = "NVIM_ECA_SERVER"
"""The variable in which Neovim describes a server to start early (see `nvim/head_start.py`)."""


def child_environment(added: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the whole environment of a process to start, with the variables `added` to it."""
    kept = {name: value for name, value in os.environ.items() if not _leads_to_editor(name)}
    return {**kept, **(added or {})}


def wants_head_start() -> bool:
    """Return whether Neovim asks this process to start a server early."""
    return HEAD_START in os.environ


def take_head_start() -> str | None:
    """Remove and return the description of that server, None if there is none any more."""
    return os.environ.pop(HEAD_START, None)


def _leads_to_editor(name: str) -> bool:
    return name in _EDITORS or (name.startswith(_PREFIXES) and name not in _USERS)

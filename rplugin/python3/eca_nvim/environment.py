"""The environment of every process that the plugin starts.

Neovim gives its processes the address of its socket and the paths of its own files. Whoever holds
that address can press keys in the editor, so a tool could answer the question whether it may run.

Rules kept here:
- A process gets the user's variables, and none that lead to the Neovim that runs.
- NVIM_APPNAME stays: the user sets it, and it only names a configuration.
- What the user adds himself (`server.env`) is set as he says.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

_EDITORS: Final = frozenset({"NVIM", "VIM", "VIMRUNTIME", "MYVIMRC"})
_PREFIXES: Final = ("NVIM_", "__NVIM")  # NVIM_LISTEN_ADDRESS, NVIM_LOG_FILE, and pynvim's own
_USERS: Final = frozenset({"NVIM_APPNAME"})
HEAD_START: Final = "NVIM_ECA_SERVER"
"""The variable in which Neovim names a server that is started before all else."""


def child_environment(added: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the whole environment of a process to start, with the variables `added` to it."""
    kept = {name: value for name, value in os.environ.items() if not _leads_to_editor(name)}
    return {**kept, **(added or {})}


def wants_head_start() -> bool:
    """Tell whether Neovim has named a server that this process starts before all else."""
    return HEAD_START in os.environ


def take_head_start() -> str | None:
    """Take out what Neovim said of that server; None when it said nothing, or it was taken."""
    return os.environ.pop(HEAD_START, None)


def _leads_to_editor(name: str) -> bool:
    return name in _EDITORS or (name.startswith(_PREFIXES) and name not in _USERS)

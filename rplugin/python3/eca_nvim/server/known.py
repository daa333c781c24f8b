"""Known servers: their commands, and how to install them, as `known.json` lists them.

Rules kept here:
- This saves typing and nothing else. An agent that is not in the list works as well, by its command
  and `protocol = 'acp'`.
- The list has one owner: `lua/eca/state/servers.lua` reads the same file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

ACP: Final = "acp"


class KnownServer(NamedTuple):
    """A server: its command line, and the command that installs it or a page about that.

    protocol: 'acp' or 'eca'.
    """

    command: tuple[str, ...]
    install: str
    protocol: str = ACP

    @property
    def remedy(self) -> str:
        """How to install it, for the end of a sentence."""
        is_page = self.install.startswith("https:")
        return f"install it{', see' if is_page else ' by'} {self.install}"


def _read() -> dict[str, KnownServer]:
    listed = json.loads(Path(__file__).with_name("known.json").read_bytes())
    return {
        name: KnownServer(**{**it, "command": (*it["command"],)}) for name, it in listed.items()
    }


KNOWN: Final[Mapping[str, KnownServer]] = _read()
"""Servers by their names."""

"""Introduction: the `initialize` request, and what we say in it.

Only what this client really does is announced: for anything else an agent would wait for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from eca_nvim.protocol.acp.lifecycle import VERSION, Implementation, InitializeParams

CAPABILITIES: Final[Mapping[str, str]] = {
    "fs.readTextFile": "fs/read_text_file",
    "fs.writeTextFile": "fs/write_text_file",
    "_meta.terminal-auth": "a login in a terminal, in its older form",
    "_meta.terminal_output": "terminal_output",
    "auth.terminal": "a login in a terminal",
    "session.configOptions.boolean": "config_option_update",
    "session.notices": "notice",
    "session.compaction": "compaction_update",
    "elicitation.form": "elicitation/create",
    "elicitation.url": "elicitation/complete",
    "terminal": "terminal/create",
}
"""What we announce, as a path in `clientCapabilities`, and what we must read for it: the method of
a request, or the variant of an update. A test compares them with what is read."""

_FLAGS: Final = frozenset(
    {
        *("_meta.terminal-auth", "_meta.terminal_output", "auth.terminal"),
        *("fs.readTextFile", "fs.writeTextFile", "terminal"),
    }
)
"""Capabilities that are true or false; the others are objects."""

_CLIENT: Final = Implementation(name="eca-nvim", version="1", title="ECA for Neovim")


def introduction() -> InitializeParams:
    """Build the initialize request."""
    return InitializeParams(
        protocol_version=VERSION, client_info=_CLIENT, client_capabilities=_announced()
    )


def _announced() -> dict[str, Any]:
    """Return the capabilities as nested objects: `session.notices` is {session: {notices: {}}}."""
    announced: dict[str, Any] = {}
    for path in CAPABILITIES:
        *parents, name = path.split(".")
        place = announced
        for parent in parents:
            place = place.setdefault(parent, {})
        place[name] = True if path in _FLAGS else {}
    return announced

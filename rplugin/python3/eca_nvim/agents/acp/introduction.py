"""Introduction: the `initialize` request, what we say in it, and what an agent can do.

Only what this client really does is announced: for anything else an agent would wait for ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from eca_nvim.agents.base import Emit
from eca_nvim.chat.vocabulary.options import AbilitiesChanged, Ability
from eca_nvim.protocol.acp import lifecycle

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

_CLIENT: Final = lifecycle.Implementation(name="eca-nvim", version="1", title="ECA for Neovim")


def introduction() -> lifecycle.InitializeParams:
    """Build the initialize request."""
    return lifecycle.InitializeParams(
        protocol_version=lifecycle.VERSION, client_info=_CLIENT, client_capabilities=_announced()
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


class Abilities:
    """The abilities of one agent process; none until they are announced."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._offered: frozenset[Ability] = frozenset()

    def has(self, ability: Ability) -> bool:
        """Return whether the agent can do something."""
        return ability in self._offered

    def announce(self, abilities: Iterable[Ability]) -> None:
        """Announce all that the agent can do."""
        self._offered = frozenset(abilities)
        self._emit([AbilitiesChanged(self._offered)])

    def lost(self, ability: Ability) -> None:
        """Announce that the agent cannot do something after all."""
        self.announce(self._offered - {ability})


def of_sessions(can: lifecycle.AgentCapabilities) -> Iterator[Ability]:
    """Yield what an agent can do with its sessions.

    One that loads sessions and does not list them has a list: of those that this client remembers.
    """
    of_agent = can.session_capabilities
    offered = {
        Ability.LIST: of_agent.list is not None or can.load_session,
        Ability.DELETE: of_agent.delete is not None,
        Ability.RENAME: of_agent.title is not None,
        Ability.FORK: of_agent.fork is not None,
    }
    yield from (ability for ability, is_offered in offered.items() if is_offered)

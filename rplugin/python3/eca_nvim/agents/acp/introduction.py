"""Introduction: the `initialize` request, what we say in it, and what an agent can do."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from eca_nvim.chat.vocabulary.options import Ability
from eca_nvim.protocol.acp import lifecycle

CAPABILITIES: Final[Mapping[str, Any]] = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
    "elicitation": {"form": {}, "url": {}},
    "auth": {"terminal": True},
    # The first is the older form of `auth.terminal`.
    "_meta": {"terminal-auth": True, "terminal_output": True},
}
"""Only what this client really does: for anything else an agent would wait for ever."""

_CLIENT: Final = lifecycle.Implementation(name="eca-nvim", version="1", title="ECA for Neovim")


def introduction() -> lifecycle.InitializeParams:
    """Build the initialize request."""
    return lifecycle.InitializeParams(lifecycle.VERSION, _CLIENT, dict(CAPABILITIES))


def abilities_of(result: lifecycle.InitializeResult) -> Iterator[Ability]:
    """Yield what an agent can do, as it introduces itself."""
    can = result.agent_capabilities
    of_sessions = can.session_capabilities
    offered = {
        # One that loads sessions has a list of those that this client remembers.
        Ability.LIST: of_sessions.list is not None or can.load_session,
        Ability.DELETE: of_sessions.delete is not None,
        Ability.RENAME: of_sessions.title is not None,
        Ability.FORK: of_sessions.fork is not None,
        Ability.STEER: result.meta.steering.supported,
        Ability.LOGIN: bool(result.auth_methods),
        Ability.LOGOUT: can.auth.logout is not None,
    }
    yield from (ability for ability, is_offered in offered.items() if is_offered)

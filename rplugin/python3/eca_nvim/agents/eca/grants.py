"""Grants: what the user has always allowed an ECA server, which keeps it (`abilities.Grants`).

The server tells nobody what it remembers: known is what was answered here since it started.
"""

from collections.abc import Sequence
from typing import Final

from eca_nvim.agents.abilities import AgentRefused, Grant
from eca_nvim.agents.eca.contents import remembers
from eca_nvim.agents.eca.known_tools import asks_by_command, is_own
from eca_nvim.chat.vocabulary.call_details import ToolCall

ENDS: Final = "until the server ends (:Eca restart)"


class EcaGrants:
    """What the user has answered one server process."""

    def __init__(self) -> None:
        self._asked = set[tuple[str, str | None, str | None]]()  # tools, origins and servers
        self._standing: dict[str, Grant] = {}

    def answered(self, call: ToolCall, *, always: bool) -> None:
        """Note an answer to a call; `always`: the server remembers it."""
        if call.name is not None:
            self._asked.add((call.name, call.origin, call.server))
        for covered in remembers(call) if always else ():
            tool = None if asks_by_command(call) else call.name
            self._standing.setdefault(covered, Grant(covered, (covered,), tool=tool, ends=ENDS))

    def standing(self) -> Sequence[Grant]:
        """Return what the server remembers, in all chats."""
        return [*self._standing.values()]

    def revoke(self, grant_id: str) -> None:  # noqa: ARG002 - only its end makes it forget
        """Raise AgentRefused: the server has no way to forget."""
        raise AgentRefused("the server keeps this until it ends: :Eca restart")

    def has_asked(self, tool: str, tool_server: str | None) -> bool:
        """Return whether a tool has asked, and was answered, since the server started."""
        return any(
            name == tool and (None if is_own(origin, server) else server) == tool_server
            for name, origin, server in self._asked
        )

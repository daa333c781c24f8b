"""Call choices: the answers that a server takes for a tool call, and what it would remember.

Rules kept here:
- A server remembers the commands of a shell line, else the bare name of the tool: a tool of that
  name on any server then runs without asking, with any arguments. It does so in all chats, until
  it ends: the words say how far an answer goes.
- A server that does not name a tool's server is too old to remember.
"""

from __future__ import annotations

from typing import Final

from eca_nvim.agents.eca.content.known_tools import asks_by_command
from eca_nvim.chat.vocabulary.call_details import ShellCommand, ToolCall
from eca_nvim.chat.vocabulary.decisions import ALLOW, REJECT, Choice, ChoiceKind

ALWAYS_ID: Final = "always"


def choices(call: ToolCall) -> tuple[Choice, ...]:
    """Return the answers for a call that needs approval."""
    remembers = _remembers(call)
    if not remembers:
        return (ALLOW, REJECT)
    always = Choice(ALWAYS_ID, "always allow", ChoiceKind.ALLOW_ALWAYS, remembers)
    return (ALLOW, always, REJECT)


def _remembers(call: ToolCall) -> tuple[str, ...]:
    if call.server is None:
        return ()
    if isinstance(call.details, ShellCommand):
        keys = [part.remember_key for part in call.details.parts if not part.remembered]
        whose = "" if call.origin == "native" else f" of {call.name or ''}"
        return tuple(dict.fromkeys(f"any {key}{whose}" for key in keys if key))
    if call.name is None or call.origin == "unknown" or asks_by_command(call):
        return ()
    return (f"any {call.name} on any server",)

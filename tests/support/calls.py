"""Tool calls as ECA's adapter tells them: by the name of a tool and what it is called with."""

from collections.abc import Mapping

from msgspec.structs import replace

from eca_nvim.agents.eca.known_tools import described
from eca_nvim.chat.vocabulary.call_details import Details, FileChange, ToolCall


def eca_call(
    call_id: str,
    name: str | None = None,
    server: str | None = None,
    origin: str | None = None,
    summary: str | None = None,
    details: Details | FileChange | None = None,
    arguments: Mapping[str, object] | None = None,
) -> ToolCall:
    """Make a call; `details` as ECA sends them, that is a change of a file too."""
    call = ToolCall(call_id, name, server, origin, summary, arguments=arguments)
    if isinstance(details, FileChange):
        return described(replace(call, changes=(details,)))
    return described(replace(call, details=details))

"""Tool call: a call of a tool, as updates and requests for permission describe it."""

from eca_nvim.protocol.base.types import Wire


class ToolCallUpdate(Wire, frozen=True):
    """What is new about a tool call; all but its id may be missing."""

    tool_call_id: str
    title: str | None = None

"""Tool names: what tools are called, and to whom they belong."""

from __future__ import annotations

from eca_nvim.chat.text.safe_text import literal_line
from eca_nvim.chat.vocabulary.call_details import ToolCall


def is_native(call: ToolCall) -> bool:
    """Return whether a tool is the agent's own."""
    return call.origin in (None, "native")


def is_unknown(call: ToolCall) -> bool:
    """Return whether the model named a tool that the agent does not have."""
    return call.origin == "unknown"


def full_name(call: ToolCall) -> str | None:
    """Return a tool's clean name, after its server's name unless the tool is the agent's own."""
    if not call.name:
        return None
    own = is_native(call) or not call.server
    return literal_line(call.name if own else f"{call.server}/{call.name}")

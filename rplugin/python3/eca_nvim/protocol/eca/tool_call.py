"""Contents about a tool call: prepare, run, running, called or rejected.

Rule: for a tool the server does not know, and for a replayed call, most fields are null; only the
id is reliable.
"""

from typing import Any

import msgspec

from eca_nvim.protocol.base.types import Int, Wire
from eca_nvim.protocol.eca.details import Details


class ToolCall(Wire, frozen=True, kw_only=True):
    """Fields of all these contents. `origin` is mcp, native, server or unknown."""

    name: str | None = None
    server: str | None = None
    origin: str | None = None
    summary: str | None = None
    details: Details | None = None

    @classmethod
    def upgrade(cls, wire: dict[str, Any]) -> dict[str, Any]:
        """Name arguments without names (a list, or a single value) by their index."""
        arguments = wire.get("arguments")
        if arguments is None or isinstance(arguments, dict):
            return wire
        values = arguments if isinstance(arguments, list) else [arguments]
        return {**wire, "arguments": {str(i): value for i, value in enumerate(values)}}


class ToolCallPrepare(ToolCall, frozen=True, kw_only=True, tag_field="type", tag="toolCallPrepare"):
    """The model is writing the call; each `arguments_text` continues the previous one."""

    id: str
    arguments_text: str = ""


class ToolCallRun(ToolCall, frozen=True, kw_only=True, tag_field="type", tag="toolCallRun"):
    """The call is complete; with `manual_approval` it waits for the user."""

    id: str
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)
    manual_approval: bool = False


class ToolCallRunning(ToolCall, frozen=True, kw_only=True, tag_field="type", tag="toolCallRunning"):
    """The call is running; repeated with new details while a subagent works."""

    id: str
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)


class ToolOutput(Wire, frozen=True, kw_only=True):
    """A piece of a call's result; `type` is text."""

    type: str | None = None
    text: str

    @classmethod
    def upgrade(cls, wire: dict[str, Any]) -> dict[str, Any]:
        """Read the text from `content`, where older servers put it."""
        text = wire.get("text")
        if text is None:
            text = wire.get("content")
        return {**wire, "text": "" if text is None else text}


class ToolCalled(ToolCall, frozen=True, kw_only=True, tag_field="type", tag="toolCalled"):
    """The call ended; `total_time_ms` is in milliseconds.

    Without an id it belongs to no call: it reports that the server cleared a finished task list.
    """

    id: str | None = None
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)
    error: bool | None = None
    outputs: tuple[ToolOutput, ...] = ()
    total_time_ms: Int | None = None

    @classmethod
    def upgrade(cls, wire: dict[str, Any]) -> dict[str, Any]:
        """Convert plain text to a list of outputs, and copy an output's error to the call."""
        wire = super().upgrade(wire)
        outputs = wire.get("outputs")
        if isinstance(outputs, str):
            return {**wire, "outputs": [{"type": "text", "text": outputs}]}
        if not isinstance(outputs, list) or wire.get("error") is not None:
            return wire
        failed = [item["error"] for item in outputs if isinstance(item, dict) and "error" in item]
        return {**wire, "error": any(failed)} if failed else wire


class ToolCallRejected(
    ToolCall, frozen=True, kw_only=True, tag_field="type", tag="toolCallRejected"
):
    """The call will not run; `reason` is nearly always "user", whoever rejected it."""

    id: str
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)
    reason: str | None = None

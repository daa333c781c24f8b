"""Contents about hooks, which the server runs as the user's config says."""

from eca_nvim.protocol.base.types import Int, Wire


class HookStarted(Wire, frozen=True, kw_only=True, tag_field="type", tag="hookActionStarted"):
    """A hook has begun; `action_type` is shell."""

    id: str
    name: str | None = None
    action_type: str | None = None


class HookFinished(Wire, frozen=True, kw_only=True, tag_field="type", tag="hookActionFinished"):
    """A hook ended; `status` is its exit code, `tool_call_id` the call it acted on."""

    id: str
    name: str | None = None
    action_type: str | None = None
    status: Int | None = None
    output: str | None = None
    error: str | None = None
    tool_call_id: str | None = None

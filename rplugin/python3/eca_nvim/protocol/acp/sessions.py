"""Sessions: made and closed; an agent keeps each conversation in one."""

from typing import Any, ClassVar

from eca_nvim.protocol.acp.options import ConfigOption, Models, Modes
from eca_nvim.protocol.base.types import Request, Wire


class NewSessionResult(Wire, frozen=True):
    """A session that was made, with its options, or its modes and models."""

    session_id: str
    config_options: tuple[ConfigOption, ...] | None = None
    modes: Modes | None = None
    models: Models | None = None


class NewSessionParams(Request[NewSessionResult], frozen=True):
    """Make a session that works in the absolute folder `cwd`."""

    method: ClassVar[str] = "session/new"

    cwd: str
    mcp_servers: tuple[dict[str, Any], ...]


class CloseSessionParams(Request[None], frozen=True):
    """Close a session, for agents with the capability."""

    method: ClassVar[str] = "session/close"

    session_id: str

"""Sessions: made and closed; an agent keeps each conversation in one."""

from typing import Any, ClassVar

from eca_nvim.protocol.base.types import Request, Wire


class NewSessionResult(Wire, frozen=True):
    """A session that was made."""

    session_id: str


class NewSessionParams(Request[NewSessionResult], frozen=True):
    """Make a session that works in the absolute folder `cwd`."""

    method: ClassVar[str] = "session/new"

    cwd: str
    mcp_servers: tuple[dict[str, Any], ...]


class CloseSessionParams(Request[None], frozen=True):
    """Close a session, for agents with the capability."""

    method: ClassVar[str] = "session/close"

    session_id: str

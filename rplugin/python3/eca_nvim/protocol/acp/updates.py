"""Updates: session/update and its variants.

Rule: this is the hot path, so the usual forms are decoded directly; `decode.py` handles the rest.
"""

from typing import ClassVar, TypeAlias

from eca_nvim.protocol.acp.content import ContentBlock
from eca_nvim.protocol.base.types import Notification, UnknownPart, Wire


class AgentMessageChunk(Wire, frozen=True, tag_field="sessionUpdate", tag="agent_message_chunk"):
    """A piece of the agent's answer."""

    content: ContentBlock


class UnknownUpdate(UnknownPart, frozen=True, tag_field="sessionUpdate", tag=""):
    """An update of an unknown variant."""


SessionUpdate: TypeAlias = AgentMessageChunk | UnknownUpdate


class SessionUpdated(Notification, frozen=True):
    """Something happened in a session."""

    method: ClassVar[str] = "session/update"

    session_id: str
    update: SessionUpdate

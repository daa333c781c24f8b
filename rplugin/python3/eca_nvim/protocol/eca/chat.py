"""A turn: prompting, steering, stopping, answering approvals; and what becomes of a chat."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from eca_nvim.protocol.eca.base import Notification, OpenEnum, Request, Wire
from eca_nvim.protocol.eca.contexts import Context
from eca_nvim.protocol.eca.draft import DraftContext


class PromptStatus(OpenEnum):
    """What became of a prompt; PROMPTING is also said of one whose turn is over already."""

    PROMPTING = "prompting"
    LOGIN = "login"
    ERROR = "error"
    UNKNOWN = "unknown"

    @classmethod
    def _missing_(cls, value: object) -> "PromptStatus":
        draft = {"success": cls.PROMPTING, "connection-error": cls.ERROR}
        return draft.get(str(value), cls.UNKNOWN)


class PromptResult(Wire, frozen=True, kw_only=True):
    """The answer to a prompt.

    A bad chat id is answered with status ERROR and model "error". `chat_id` is the server's
    own when the prompt had none. `result_message` is the first draft's.
    """

    chat_id: str | None = None
    model: str | None = None
    status: PromptStatus = PromptStatus.UNKNOWN
    result_message: str | None = None


class PromptParams(Request[PromptResult], frozen=True, kw_only=True):
    """Send a message. The server keeps neither agent nor variant: send them with each prompt.

    `chat_id` is the client's to make: not blank, no white space, at most 256 characters, not
    beginning with "subagent-". `trust` approves all calls that would ask; None leaves it be.
    A server older than that makes its own id for a prompt without one. `context` is for servers of
    the first draft.
    """

    method: ClassVar[str] = "chat/prompt"
    older_names: ClassVar[Mapping[str, str]] = {"agent": "behavior"}

    chat_id: str | None = None
    message: str
    model: str | None = None
    agent: str | None = None
    variant: str | None = None
    contexts: tuple[Context, ...] = ()
    trust: bool | None = None
    context: tuple[DraftContext, ...] = ()

    @classmethod
    def upgrade(cls, wire: dict[str, Any]) -> dict[str, Any]:
        """Take the contexts from `context`, the first draft's name."""
        wire = super().upgrade(wire)
        return {**wire, "contexts": wire.get("contexts", wire.get("context", []))}


class PromptStop(Notification, frozen=True, kw_only=True):
    """Stop the turn. What follows ends with progress finished; no status idle comes."""

    method: ClassVar[str] = "chat/promptStop"

    chat_id: str


class PromptSteer(Notification, frozen=True, kw_only=True):
    """Say something to the model before its next round; dropped when there is none."""

    method: ClassVar[str] = "chat/promptSteer"

    chat_id: str
    message: str


class PromptSteerRemove(Notification, frozen=True, kw_only=True):
    """Take back a steer that was not consumed yet."""

    method: ClassVar[str] = "chat/promptSteerRemove"

    chat_id: str


class ToolCallApprove(Notification, frozen=True, kw_only=True):
    """Let a waiting call run; `save` remembers it for the session, in every chat."""

    method: ClassVar[str] = "chat/toolCallApprove"

    chat_id: str
    tool_call_id: str
    save: Literal["session"] | None = None


class ToolCallReject(Notification, frozen=True, kw_only=True):
    """Refuse a waiting call, which ends the turn."""

    method: ClassVar[str] = "chat/toolCallReject"

    chat_id: str
    tool_call_id: str


class ChatStatus(OpenEnum):
    """What a chat is at."""

    IDLE = "idle"
    RUNNING = "running"
    STOPPING = "stopping"
    LOGIN = "login"
    UNKNOWN = "unknown"


class StatusChanged(Notification, frozen=True, kw_only=True):
    """A chat is at something else; also said of subagents' chats, without their parent."""

    method: ClassVar[str] = "chat/statusChanged"

    chat_id: str
    status: ChatStatus = ChatStatus.UNKNOWN


class ChatOpened(Notification, frozen=True, kw_only=True):
    """A chat exists now, or is about to be replayed; said again of one that is known."""

    method: ClassVar[str] = "chat/opened"

    chat_id: str
    title: str | None = None


class ChatCleared(Notification, frozen=True, kw_only=True):
    """Forget what is shown of a chat; None, or a chat this client never had, may be named."""

    method: ClassVar[str] = "chat/cleared"

    chat_id: str | None = None
    messages: bool | None = None


class ChatDeleted(Notification, frozen=True, kw_only=True):
    """A chat is gone; None, or a chat this client never had, may be named."""

    method: ClassVar[str] = "chat/deleted"

    chat_id: str | None = None

"""Chat: to prompt, steer, stop and approve; the state of a chat, models, agents and variants."""

from typing import Literal

from msgspec import UNSET, UnsetType

from eca_nvim.protocol.base.types import Notification, OpenEnum, Request, Wire
from eca_nvim.protocol.eca.contexts import Context
from eca_nvim.protocol.eca.draft import DraftContext


class SelectedModelChanged(Notification, frozen=True, kw_only=True):
    """The user selected a model; the server sends its variants with `ConfigUpdated`.

    Lost for a chat that was never prompted; without `chat_id` it applies to every chat.
    """

    method = "chat/selectedModelChanged"
    chat_id: str | None = None
    model: str
    variant: str | None = None


class SelectedAgentChanged(Notification, frozen=True, kw_only=True):
    """The user selected an agent; the server then sends its model, variants and tools.

    Lost for a chat that was never prompted; without `chat_id` it applies to every chat.
    """

    method = "chat/selectedAgentChanged"
    chat_id: str | None = None
    agent: str


class SelectedBehaviorChanged(Notification, frozen=True, kw_only=True):
    """`SelectedAgentChanged` for older servers; today's accept either, so send only one."""

    method = "chat/selectedBehaviorChanged"
    behavior: str


class ChatConfig(Wire, frozen=True, kw_only=True):
    """The available choices and the selection; the client must follow `select_*`.

    It is partial: UNSET means unchanged, None removed. Empty `variants` mean that the model has
    none. The `default_*` are deprecated.
    `of_behaviors`, not on the wire: the server called its agents by their older name only.
    """

    models: tuple[str, ...] | UnsetType | None = UNSET
    agents: tuple[str, ...] | UnsetType | None = UNSET
    variants: tuple[str, ...] | UnsetType | None = UNSET
    select_model: str | UnsetType | None = UNSET
    select_agent: str | UnsetType | None = UNSET
    select_variant: str | UnsetType | None = UNSET
    select_trust: bool | UnsetType | None = UNSET
    default_model: str | UnsetType | None = UNSET
    default_agent: str | UnsetType | None = UNSET
    welcome_message: str | UnsetType | None = UNSET
    of_behaviors: bool = False


class ConfigUpdated(Notification, frozen=True, kw_only=True):
    """The config, the models or a selection changed; without `chat_id` for every chat."""

    method = "config/updated"
    chat_id: str | None = None
    chat: ChatConfig | None = None


class PromptStatus(OpenEnum):
    """Status of a prompt; PROMPTING is also sent when its turn is over already."""

    PROMPTING = "prompting"
    LOGIN = "login"
    ERROR = "error"
    UNKNOWN = "unknown"

    @classmethod
    def _missing_(cls, value: object) -> "PromptStatus":
        # The words of the first draft.
        return {"success": cls.PROMPTING, "connection-error": cls.ERROR}.get(
            str(value), cls.UNKNOWN
        )


class PromptResult(Wire, frozen=True, kw_only=True):
    """The response to a prompt.

    For a bad chat id the status is ERROR and the model "error". `chat_id` is the server's own if
    the prompt had none. `result_message` is from the first draft.
    """

    chat_id: str | None = None
    model: str | None = None
    status: PromptStatus = PromptStatus.UNKNOWN
    result_message: str | None = None


class PromptParams(Request[PromptResult], frozen=True, kw_only=True):
    """Send a message. The server remembers neither agent nor variant: send them with each prompt.

    The client creates `chat_id`: not empty, no white space, at most 256 characters, not starting
    with "subagent-". An older server creates its own id for a prompt without one. `trust` approves
    all calls that would ask; None means unchanged. `context` is for servers of the first draft.
    """

    method = "chat/prompt"
    chat_id: str | None = None
    message: str
    model: str | None = None
    agent: str | None = None
    variant: str | None = None
    contexts: tuple[Context, ...] = ()
    trust: bool | None = None
    context: tuple[DraftContext, ...] = ()


class PromptStop(Notification, frozen=True, kw_only=True):
    """Stop the turn. It ends with progress finished; status idle is not sent."""

    method = "chat/promptStop"
    chat_id: str


class PromptSteer(Notification, frozen=True, kw_only=True):
    """Send a message to the model before its next request; dropped if there is none."""

    method = "chat/promptSteer"
    chat_id: str
    message: str


class PromptSteerRemove(Notification, frozen=True, kw_only=True):
    """Withdraw the steers that the model has not read yet."""

    method = "chat/promptSteerRemove"
    chat_id: str


class ToolCallApprove(Notification, frozen=True, kw_only=True):
    """Approve a waiting call; `save` remembers it for the session, in every chat."""

    method = "chat/toolCallApprove"
    chat_id: str
    tool_call_id: str
    save: Literal["session"] | None = None


class ToolCallReject(Notification, frozen=True, kw_only=True):
    """Reject a waiting call, which ends the turn."""

    method = "chat/toolCallReject"
    chat_id: str
    tool_call_id: str


class ChatStatus(OpenEnum):
    """State of a chat's turn."""

    IDLE = "idle"
    RUNNING = "running"
    STOPPING = "stopping"
    LOGIN = "login"
    UNKNOWN = "unknown"


class StatusChanged(Notification, frozen=True, kw_only=True):
    """A chat's state changed; also sent for subagents' chats, without their parent."""

    method = "chat/statusChanged"
    chat_id: str
    status: ChatStatus = ChatStatus.UNKNOWN


class ChatOpened(Notification, frozen=True, kw_only=True):
    """A chat exists now, or is about to be replayed; may repeat for a known chat."""

    method = "chat/opened"
    chat_id: str
    title: str | None = None


class ChatCleared(Notification, frozen=True, kw_only=True):
    """A chat was cleared; the id may be None, or that of a chat unknown to this client."""

    method = "chat/cleared"
    chat_id: str | None = None
    messages: bool | None = None


class ChatDeleted(Notification, frozen=True, kw_only=True):
    """A chat was deleted; the id may be None, or that of a chat unknown to this client."""

    method = "chat/deleted"
    chat_id: str | None = None

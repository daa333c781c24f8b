"""Lifecycle: a connection is opened and closed; start-up tasks, messages to the user, failures."""

from typing import Any

import msgspec

from eca_nvim.protocol.base.types import Int, Notification, OpenEnum, Request, Wire


class WorkspaceFolder(Wire, frozen=True, kw_only=True):
    """A folder of the project; `uri` is a percent-encoded file URI."""

    uri: str
    name: str


class ClientInfo(Wire, frozen=True, kw_only=True):
    """The editor's name and version."""

    name: str
    version: str | None = None


class InitializationOptions(Wire, frozen=True, kw_only=True):
    """The user's settings for the server, which today's server merges into its config."""

    chat_agent: str | None = None


class InitializeResult(Wire, frozen=True, kw_only=True):
    """The response to initialize.

    Today's server sends only the welcome message. Older ones send what is now in `config/updated`:
    models, agents ("behaviors" then) and the defaults.
    """

    welcome_message: str | None = msgspec.field(name="chatWelcomeMessage", default=None)
    models: tuple[str, ...] | None = None
    default_model: str | None = msgspec.field(name="chatDefaultModel", default=None)
    agents: tuple[str, ...] | None = msgspec.field(name="chatBehaviors", default=None)
    default_agent: str | None = msgspec.field(name="chatDefaultBehavior", default=None)


class InitializeParams(Request[InitializeResult], frozen=True, kw_only=True):
    """The first request. The server exits with the process `process_id`, if not null."""

    method = "initialize"
    process_id: Int | None
    client_info: ClientInfo | None = None
    initialization_options: InitializationOptions | None = None
    capabilities: dict[str, Any]
    workspace_folders: tuple[WorkspaceFolder, ...]


class Initialized(Notification, frozen=True):
    """The client is ready; the server starts to load models and tools."""

    method = "initialized"


class Shutdown(Request[None], frozen=True):
    """Ask the server to save its state; it runs until `exit`."""

    method = "shutdown"


class Exit(Notification, frozen=True):
    """End the server's process."""

    method = "exit"


class FoldersEvent(Wire, frozen=True, kw_only=True):
    """Added and removed folders; a removed one is identified by its uri."""

    added: tuple[WorkspaceFolder, ...]
    removed: tuple[WorkspaceFolder, ...]


class DidChangeWorkspaceFolders(Notification, frozen=True, kw_only=True):
    """The workspace folders changed (not documented, but supported by today's server)."""

    method = "workspace/didChangeWorkspaceFolders"
    event: FoldersEvent


class ProgressKind(OpenEnum):
    """Whether a task has begun or ended."""

    START = "start"
    FINISH = "finish"
    UNKNOWN = "unknown"


class TaskProgress(Notification, frozen=True, kw_only=True):
    """A task of the server's start-up began or ended."""

    method = "$/progress"
    type: ProgressKind = ProgressKind.UNKNOWN
    task_id: str
    title: str | None = None


class NoticeLevel(OpenEnum):
    """Severity of a message."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    UNKNOWN = "unknown"


class ShowMessage(Notification, frozen=True, kw_only=True):
    """A message for the user."""

    method = "$/showMessage"
    type: NoticeLevel = NoticeLevel.UNKNOWN
    message: str = ""


class CancelRequest(Notification, frozen=True, kw_only=True):
    """Cancel a request by its JSON-RPC id; the server answers it with error -32800."""

    method = "$/cancelRequest"
    id: Int | str


class Failure(Wire, frozen=True, kw_only=True):
    """The `error` of a JSON-RPC response, or the `error` object in a result.

    In the server's own errors the code is a word ("cursor_expired", "chat_not_found",
    "invalid_request") or absent; some have a `type` ("error", "warning", "info").
    """

    code: Int | str | None = None
    message: str = ""
    type: str | None = None
    data: Any = None

"""Registry: all messages of the protocol, and which side may send them."""

from collections.abc import Mapping
from typing import TypeAlias, get_args

from . import (
    chat,
    choice,
    code,
    content,
    editor,
    jobs,
    notices,
    providers,
    questions,
    tools,
)

ServerNotification: TypeAlias = (
    content.ContentReceived
    | chat.StatusChanged
    | chat.ChatOpened
    | chat.ChatCleared
    | chat.ChatDeleted
    | choice.ConfigUpdated
    | code.RewriteContentReceived
    | tools.ToolServerUpdated
    | tools.ToolServerRemoved
    | providers.ProvidersUpdated
    | jobs.JobsUpdated
    | notices.TaskProgress
    | notices.ShowMessage
)

ServerRequest: TypeAlias = (
    editor.GetDiagnostics | editor.GetDefinition | editor.GetReferences | questions.AskQuestion
)


def by_method(messages: object) -> Mapping[str, type]:
    """Return the types of a union by the method of each."""
    return {kind.method: kind for kind in get_args(messages)}


SERVER_NOTIFICATIONS = by_method(ServerNotification)
SERVER_REQUESTS = by_method(ServerRequest)

"""Which messages there are, and who may send them: the one list of all methods."""

from collections.abc import Mapping
from typing import TypeAlias, get_args

from . import (
    chat,
    chats,
    choice,
    code,
    content,
    editor,
    jobs,
    lifecycle,
    login,
    mcp,
    notices,
    providers,
    queries,
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

ClientNotification: TypeAlias = (
    lifecycle.Initialized
    | lifecycle.Exit
    | lifecycle.DidChangeWorkspaceFolders
    | chat.PromptStop
    | chat.PromptSteer
    | chat.PromptSteerRemove
    | chat.ToolCallApprove
    | chat.ToolCallReject
    | choice.SelectedModelChanged
    | choice.SelectedAgentChanged
    | choice.SelectedBehaviorChanged
    | mcp.McpStart
    | mcp.McpStop
    | mcp.McpConnect
    | mcp.McpLogout
    | mcp.McpEnable
    | mcp.McpDisable
    | notices.CancelRequest
)

ClientRequest: TypeAlias = (
    lifecycle.InitializeParams
    | lifecycle.Shutdown
    | chat.PromptParams
    | chats.ChatListParams
    | chats.ChatOpenParams
    | chats.ChatHistoryParams
    | chats.ChatUpdateParams
    | chats.ChatClearParams
    | chats.ChatDeleteParams
    | chats.ChatRollbackParams
    | chats.ChatForkParams
    | chats.ChatAddFlagParams
    | chats.ChatRemoveFlagParams
    | queries.QueryContextParams
    | queries.QueryFilesParams
    | queries.QueryCommandsParams
    | code.CompletionParams
    | code.RewriteParams
    | code.InlinePromptParams
    | mcp.McpAddParams
    | mcp.McpUpdateParams
    | mcp.McpRemoveParams
    | providers.ProvidersListParams
    | login.ProvidersLoginParams
    | login.ProvidersLoginInputParams
    | login.ProvidersLogoutParams
    | jobs.JobsListParams
    | jobs.JobKillParams
    | jobs.JobOutputParams
)


def _by_method(messages: object) -> Mapping[str, type]:
    return {kind.method: kind for kind in get_args(messages)}


SERVER_NOTIFICATIONS = _by_method(ServerNotification)
SERVER_REQUESTS = _by_method(ServerRequest)
SERVER_MESSAGES: Mapping[str, type] = {**SERVER_NOTIFICATIONS, **SERVER_REQUESTS}

CLIENT_NOTIFICATIONS = _by_method(ClientNotification)
CLIENT_REQUESTS = _by_method(ClientRequest)
CLIENT_MESSAGES: Mapping[str, type] = {**CLIENT_NOTIFICATIONS, **CLIENT_REQUESTS}

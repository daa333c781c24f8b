"""The messages that a client may send, by method."""

from collections.abc import Mapping
from typing import TypeAlias

from eca_nvim.protocol.eca import (
    chat,
    chats,
    choice,
    code,
    jobs,
    lifecycle,
    login,
    mcp,
    notices,
    providers,
    queries,
)
from eca_nvim.protocol.eca.registry import by_method

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

CLIENT_NOTIFICATIONS = by_method(ClientNotification)
CLIENT_REQUESTS = by_method(ClientRequest)
CLIENT_MESSAGES: Mapping[str, type] = {**CLIENT_NOTIFICATIONS, **CLIENT_REQUESTS}

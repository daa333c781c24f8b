"""The messages that a client may send, by method."""

from collections.abc import Mapping
from typing import TypeAlias

from eca_nvim.protocol.eca import (
    by_method,
    chat,
    chats,
    code,
    contexts,
    lifecycle,
    memory,
    providers,
    tools,
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
    | chat.SelectedModelChanged
    | chat.SelectedAgentChanged
    | chat.SelectedBehaviorChanged
    | tools.McpStart
    | tools.McpStop
    | tools.McpConnect
    | tools.McpLogout
    | tools.McpEnable
    | tools.McpDisable
    | lifecycle.CancelRequest
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
    | contexts.QueryContextParams
    | contexts.QueryFilesParams
    | contexts.QueryCommandsParams
    | code.CompletionParams
    | code.RewriteParams
    | code.InlinePromptParams
    | tools.McpAddParams
    | tools.McpUpdateParams
    | tools.McpRemoveParams
    | providers.ProvidersListParams
    | providers.ProvidersLoginParams
    | providers.ProvidersLoginInputParams
    | providers.ProvidersLogoutParams
    | memory.MemoryListParams
    | tools.JobsListParams
    | tools.JobKillParams
    | tools.JobOutputParams
)

CLIENT_NOTIFICATIONS = by_method(ClientNotification)
CLIENT_REQUESTS = by_method(ClientRequest)
CLIENT_MESSAGES: Mapping[str, type] = {**CLIENT_NOTIFICATIONS, **CLIENT_REQUESTS}

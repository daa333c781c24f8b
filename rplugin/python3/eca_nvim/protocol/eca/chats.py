"""Saved chats: to list, open, read, change and fork them."""

from typing import Literal

from eca_nvim.protocol.base.types import Int, Request, Wire
from eca_nvim.protocol.eca import chat, content, lifecycle


class ChatSummary(Wire, frozen=True, kw_only=True):
    """A chat in the list; times are milliseconds since 1970. `kind` is "inline" or None."""

    id: str
    title: str | None = None
    status: chat.ChatStatus = chat.ChatStatus.UNKNOWN
    created_at: Int | None = None
    updated_at: Int | None = None
    model: str | None = None
    message_count: Int | None = None
    kind: str | None = None


class ChatListResult(Wire, frozen=True, kw_only=True):
    """The chats of this workspace, newest first."""

    chats: tuple[ChatSummary, ...] = ()


class ChatListParams(Request[ChatListResult], frozen=True, kw_only=True):
    """List the chats of this workspace; without a limit all of them."""

    method = "chat/list"
    limit: Int | None = None
    sort_by: Literal["updatedAt", "createdAt"] | None = None


class HistoryMeta(Wire, frozen=True, kw_only=True):
    """Position of a page in the history; a cursor is None if nothing lies beyond."""

    total: Int | None = None
    returned: Int | None = None
    before_cursor: str | None = None
    after_cursor: str | None = None
    compaction_cursor: str | None = None


class ChatSelection(Wire, frozen=True, kw_only=True):
    """The selection with which an opened chat continues."""

    model: str | None = None
    agent: str | None = None
    variant: str | None = None
    variants: tuple[str, ...] = ()
    trust: bool | None = None


class ChatOpenResult(Wire, frozen=True, kw_only=True):
    """The response to opening a chat, sent after the replay. `error`: a stale cursor."""

    found: bool = False
    chat_id: str | None = None
    title: str | None = None
    selection: ChatSelection | None = None
    meta: HistoryMeta | None = None
    error: lifecycle.Failure | None = None


class ChatOpenParams(Request[ChatOpenResult], frozen=True, kw_only=True):
    """Replay a chat: cleared, opened, its contents. The cursors are those of `HistoryMeta`."""

    method = "chat/open"
    chat_id: str
    limit: Int | None = None
    before: str | None = None
    after: str | None = None


class ChatHistoryResult(Wire, frozen=True, kw_only=True):
    """A page of a chat."""

    contents: tuple[content.ContentReceived, ...] = ()
    meta: HistoryMeta | None = None
    error: lifecycle.Failure | None = None


class ChatHistoryParams(Request[ChatHistoryResult], frozen=True, kw_only=True):
    """Fetch a page of a chat; a cursor may be the word "lastCompaction"."""

    method = "chat/history"
    chat_id: str
    limit: Int | None = None
    before: str | None = None
    after: str | None = None


class ChatUpdateParams(Request[None], frozen=True, kw_only=True):
    """Rename a chat, or set its trust, which does not release a call that waits already."""

    method = "chat/update"
    chat_id: str
    title: str | None = None
    trust: bool | None = None


class ChatRollbackParams(Request[None], frozen=True, kw_only=True):
    """Undo a chat from the user message `content_id` on, including that message."""

    method = "chat/rollback"
    chat_id: str
    content_id: str
    include: tuple[Literal["messages", "tools"], ...]


class ChatForkParams(Request[None], frozen=True, kw_only=True):
    """Copy a chat's messages, up to and including `content_id`, to a new chat."""

    method = "chat/fork"
    chat_id: str
    content_id: str


class ChatAddFlagParams(Request[None], frozen=True, kw_only=True):
    """Add a bookmark after a message, tool call or reasoning, by its id."""

    method = "chat/addFlag"
    chat_id: str
    content_id: str
    text: str


class ChatRemoveFlagParams(Request[None], frozen=True, kw_only=True):
    """Remove a bookmark; `content_id` is the bookmark's own id."""

    method = "chat/removeFlag"
    chat_id: str
    content_id: str


class ChatClearParams(Request[None], frozen=True, kw_only=True):
    """Remove a chat's messages and keep the chat."""

    method = "chat/clear"
    chat_id: str
    messages: bool | None = None


class ChatDeleteParams(Request[None], frozen=True, kw_only=True):
    """Delete a chat; its running turn ends without further messages."""

    method = "chat/delete"
    chat_id: str | None = None

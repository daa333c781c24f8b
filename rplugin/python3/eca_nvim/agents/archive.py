"""Archive: what an agent that saves chats offers: to list, open, page, change and copy them.

Rules kept here:
- Nothing here depends on a protocol. Chat ids are ours; content ids and cursors are the agent's
  own, opaque strings.
- Every call waits for the agent's response. It raises AgentRefused, with one line for the user, if
  the agent cannot or will not do it.
- Events that a call replays are returned by it, in order; they are never emitted as live events.
"""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from eca_nvim.chat.user_actions.earlier_messages import Page


class AgentRefused(Exception):
    """Raised when an agent refuses a request; the message is one line that says why."""


class AgentLacks(AgentRefused):
    """Raised when an agent does not have the feature at all."""


class CursorExpired(AgentRefused):
    """Raised when a cursor is no longer valid because the history has changed."""


class ChatUnknown(AgentRefused):
    """Raised when an agent does not have a chat."""


class ChatSummary(Struct, frozen=True):
    """A saved chat; times are milliseconds since 1970. Unknown values are None.

    running: whether one of its turns is running.
    """

    id: str
    title: str | None = None
    model: str | None = None
    messages: int | None = None
    created_ms: int | None = None
    updated_ms: int | None = None
    running: bool | None = None


class OpenedChat(Struct, frozen=True):
    """An opened chat: its newest page. `Agent.open` reports its options."""

    page: Page
    title: str | None = None


class Archive(Protocol):
    """The chats that an agent saves."""

    async def list_chats(self, limit: int | None = None) -> Sequence[ChatSummary]:
        """Return the chats of this workspace, newest first; without a limit all of them."""

    async def open_chat(self, chat_id: str, limit: int | None = None) -> OpenedChat:
        """Open a chat with its newest `limit` messages. Raises ChatUnknown."""

    async def history(self, chat_id: str, before: str, limit: int | None = None) -> Page:
        """Return the page before a cursor. Raises CursorExpired and ChatUnknown."""

    async def rename(self, chat_id: str, title: str) -> None:
        """Rename a chat; the agent may shorten the title, and reports the result as an event."""

    async def clear(self, chat_id: str) -> None:
        """Remove all messages of a chat."""

    async def delete(self, chat_id: str) -> str | None:
        """Delete a chat for good; return in one line what of it may still run, None if nothing."""

    async def rollback(self, chat_id: str, content_id: str, *, messages: bool, tools: bool) -> None:
        """Undo a chat from a user message on, including that message.

        messages: remove the messages. tools: restore the files that tools have changed.
        """

    async def fork(self, chat_id: str, content_id: str | None) -> tuple[str, OpenedChat]:
        """Copy a chat up to and including some content; return the new chat's id and the chat.

        None copies all of it, for agents that cannot copy a part.
        """

    async def add_flag(self, chat_id: str, content_id: str, text: str) -> str:
        """Add a bookmark after some content; return the bookmark's id."""

    async def remove_flag(self, chat_id: str, flag_id: str) -> None:
        """Remove a bookmark."""

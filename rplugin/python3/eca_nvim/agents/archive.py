"""What an agent that keeps chats offers beyond talking: list, open, page, change and copy them.

Rules kept here:
- No word of any protocol; chat ids are ours, content ids and cursors are the agent's own, opaque.
- Every call waits for the agent's answer and raises AgentRefused, one line for the user, when the
  agent cannot or will not do it.
- What a call replays comes back with it, in order: nothing of it is told as if it happened now.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from eca_nvim.chat.user_actions.earlier_messages import Page
from eca_nvim.chat.vocabulary.events import SelectionChanged


class AgentRefused(Exception):
    """Raised when an agent does not do what it was asked; one line that says why."""


class AgentLacks(AgentRefused):
    """Raised when an agent has no such feature at all."""


class CursorExpired(AgentRefused):
    """Raised when the history has changed so that a cursor points nowhere any more."""


class ChatUnknown(AgentRefused):
    """Raised when an agent does not have the chat that it was asked about."""


class ChatSummary(Struct, frozen=True):
    """A chat that an agent keeps; times are milliseconds since 1970, None where not told.

    running: whether a turn of it runs, or None when the agent does not say.
    """

    id: str
    title: str | None = None
    model: str | None = None
    messages: int | None = None
    created_ms: int | None = None
    updated_ms: int | None = None
    running: bool | None = None


class OpenedChat(Struct, frozen=True):
    """A chat as it goes on: its newest page, and what answers its prompts where that is told."""

    page: Page
    title: str | None = None
    selection: SelectionChanged | None = None


class Archive(Protocol):
    """The chats that an agent keeps."""

    async def list_chats(self, limit: int | None = None) -> Sequence[ChatSummary]:
        """Return the chats of this workspace, the newest first; no limit means all."""

    async def open_chat(self, chat_id: str, limit: int | None = None) -> OpenedChat:
        """Open a chat with its newest `limit` messages. Raises ChatUnknown."""

    async def history(self, chat_id: str, before: str, limit: int | None = None) -> Page:
        """Return the page before a cursor. Raises CursorExpired and ChatUnknown."""

    async def rename(self, chat_id: str, title: str) -> None:
        """Return a chat a title; the agent may shorten it and tells what it became."""

    async def clear(self, chat_id: str) -> None:
        """Take all messages out of a chat."""

    async def delete(self, chat_id: str) -> None:
        """Delete a chat for good."""

    async def rollback(self, chat_id: str, content_id: str, *, messages: bool, tools: bool) -> None:
        """Undo a chat from a message of the user on, that message included.

        `messages` takes out what was said, `tools` restores the files that tools have changed.
        """

    async def fork(self, chat_id: str, content_id: str) -> tuple[str, OpenedChat]:
        """Copy a chat up to some content, that included; gives the new chat and its id."""

    async def add_flag(self, chat_id: str, content_id: str, text: str) -> str:
        """Put a bookmark after some content; gives the bookmark's own id."""

    async def remove_flag(self, chat_id: str, flag_id: str) -> None:
        """Take a bookmark away."""

"""Intents about saved chats and their history; intents.py has the rules."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from msgspec import Struct


class ListChats(Struct, frozen=True):
    """Ask for the chats a server has saved; answered by the op `answer` with this number.

    The answer is a list of tables, newest first: id, title, model, messages (their number), created
    and updated (ms since 1970), running, open (in this session). Unknown values are absent.
    server: its name, None for the default one.
    """

    name: ClassVar[str] = "list_chats"
    request: int
    server: str | None = None


class ResumeChat(Struct, frozen=True):
    """Continue a saved chat: show its newest page.

    instead: the chat it replaces on the screen, which is removed if it is empty. quiet: do not
    complain if the agent does not know the chat, because it may be new. server: the name of the
    server that has saved it, None for the default one.
    """

    name: ClassVar[str] = "resume"
    chat: str
    instead: str | None = None
    quiet: bool = False
    server: str | None = None


class LoadOlder(Struct, frozen=True):
    """Load the page before the oldest loaded one."""

    name: ClassVar[str] = "older"
    chat: str


class RenameChat(Struct, frozen=True):
    """Rename a chat."""

    name: ClassVar[str] = "rename"
    chat: str
    title: str


class ClearMessages(Struct, frozen=True):
    """Remove all messages of a chat, here and at the agent."""

    name: ClassVar[str] = "clear"
    chat: str


class DeleteChat(Struct, frozen=True):
    """Delete a chat, here and at the agent."""

    name: ClassVar[str] = "delete"
    chat: str


class Rollback(Struct, frozen=True):
    """Undo a chat from the user message that a block is or belongs to; block 0 is the last.

    messages: remove the messages from there on, and put the user message back into the input.
    tools: the agent restores the files its tools have changed since, and overwrites changes others
    have saved; `review_intents.UndoTurn` keeps those.
    """

    name: ClassVar[str] = "rollback"
    chat: str
    block: int
    messages: bool = True
    tools: bool = False


class ForkChat(Struct, frozen=True):
    """Copy a chat up to a block, without it if it is a user message; block 0 is the last."""

    name: ClassVar[str] = "fork"
    chat: str
    block: int


class AddFlag(Struct, frozen=True):
    """Add a flag after a block, or after the nearest earlier one that allows it; 0 is the last."""

    name: ClassVar[str] = "add_flag"
    chat: str
    block: int
    text: str


class RemoveFlag(Struct, frozen=True):
    """Remove a flag, by its block."""

    name: ClassVar[str] = "remove_flag"
    chat: str
    block: int


HistoryIntent: TypeAlias = (
    ListChats
    | ResumeChat
    | LoadOlder
    | RenameChat
    | ClearMessages
    | DeleteChat
    | Rollback
    | ForkChat
    | AddFlag
    | RemoveFlag
)
"""Intents that wait for a response of the agent."""

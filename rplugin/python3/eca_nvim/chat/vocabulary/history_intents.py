"""Intents about the chats that the agent keeps; intents.py has the rules."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from msgspec import Struct


class ListChats(Struct, frozen=True):
    """Ask for the chats the agent keeps; answered by the op `answer` with this number.

    The answer is a list of tables, newest first: id, title, model, messages (how many), created
    and updated (ms since 1970), running, open (it is among those of this session). What is not
    known is absent.
    """

    name: ClassVar[str] = "list_chats"
    request: int


class ResumeChat(Struct, frozen=True):
    """Go on with a chat the agent keeps: its newest page is shown.

    instead: the chat that is left for it; it goes when nothing was said in it. quiet: the chat may
    be one that the agent never heard of, a new one.
    """

    name: ClassVar[str] = "resume"
    chat: str
    instead: str | None = None
    quiet: bool = False


class LoadOlder(Struct, frozen=True):
    """Load the page before what is shown of a chat."""

    name: ClassVar[str] = "older"
    chat: str


class RenameChat(Struct, frozen=True):
    """Return a chat a title."""

    name: ClassVar[str] = "rename"
    chat: str
    title: str


class ClearMessages(Struct, frozen=True):
    """Take all messages out of a chat, here and at the agent's."""

    name: ClassVar[str] = "clear"
    chat: str


class DeleteChat(Struct, frozen=True):
    """Delete a chat, here and at the agent's."""

    name: ClassVar[str] = "delete"
    chat: str


class Rollback(Struct, frozen=True):
    """Undo a chat from the user's message that a block is or belongs to; block 0 is the last.

    messages: what was said from there on goes, and the message comes back into the input.
    tools: the agent puts the files that its tools have changed since back as they were, over what
    anybody saved in them; `review_intents.UndoTurn` does so with care.
    """

    name: ClassVar[str] = "rollback"
    chat: str
    block: int
    messages: bool = True
    tools: bool = False


class ForkChat(Struct, frozen=True):
    """Make a new chat of all before a message of the user, or up to another block; 0: the last."""

    name: ClassVar[str] = "fork"
    chat: str
    block: int


class AddFlag(Struct, frozen=True):
    """Put a flag after a block, or the nearest before it that can have one; block 0 is the last."""

    name: ClassVar[str] = "add_flag"
    chat: str
    block: int
    text: str


class RemoveFlag(Struct, frozen=True):
    """Take a flag away, by its block."""

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
"""Those that wait for the agent's answer."""

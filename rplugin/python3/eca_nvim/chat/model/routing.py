"""Routing: finds the chat of an event; a subagent's events go to the chat that shows it."""

from __future__ import annotations

from collections.abc import Mapping

from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.vocabulary.events import Addressed


def route(chats: Mapping[str, Chat], addressed: Addressed) -> tuple[str | None, str | None]:
    """Return the chat id of an event, and the subagent's chat id or None.

    The chat id is None if the agent named no chat; it may be an id we do not know yet.
    """
    chat_id, parent = addressed.chat_id, addressed.parent_id
    if parent is not None:
        return owner(chats, parent), chat_id
    if chat_id is None or chat_id in chats:
        return chat_id, None
    home = owner(chats, chat_id)
    return (chat_id, None) if home == chat_id else (home, chat_id)


def owner(chats: Mapping[str, Chat], chat_id: str) -> str:
    """Return the id of the chat that shows `chat_id`: the parent's for a subagent, else itself."""
    if chat_id not in chats:
        for chat in chats.values():
            if chat_id in chat.lanes or chat_id in chat.anchors:
                return chat.id
    return chat_id

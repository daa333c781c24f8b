"""Chat title: who names a chat, and whether the agent still knows that chat.

Rules kept here:
- After a restart the agent may not know the earlier chats. It then opens such a chat as new when
  the first prompt arrives.
- A chat that the agent does not know keeps its title, because the agent has seen only its end.
- The user is warned once per agent process, above the first prompt it answers.
"""

from __future__ import annotations

from eca_nvim.chat.handlers.messages import note
from eca_nvim.chat.model.chat import Chat, TitleOwner
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.vocabulary.events import ChatOpened, TitleChanged
from eca_nvim.chat.vocabulary.ops import BlockKind

FORGOTTEN = (
    "A new server answers from here on. It does not know what was said above: "
    "repeat what it needs to know."
)


def title_changed(update: Update, event: TitleChanged) -> None:
    """Store the chat's title; ignore a subagent's."""
    chat = update.chat
    if update.lane is not chat.root or (chat.title_owner is TitleOwner.USER and chat.title):
        return
    chat.title = one_line(event.title) or None
    update.dirty |= Dirty.STATUS


def chat_opened(update: Update, event: ChatOpened) -> None:
    """Note that the agent has the chat; without a title the chat is new to it. May repeat."""
    chat = update.chat
    if update.lane is not chat.root:
        return
    chat.deleted = False
    if event.title is not None:
        title_changed(update, TitleChanged(event.title))
    elif chat.title_owner is TitleOwner.UNSURE:
        chat.title_owner = TitleOwner.USER
        _warn_forgotten(update)


def doubt_title(chat: Chat) -> None:
    """Note that the next agent process may not know this chat."""
    if any(block.kind is BlockKind.ASSISTANT for block in chat.root.blocks):
        chat.title_owner = TitleOwner.UNSURE


def _warn_forgotten(update: Update) -> None:
    """Warn, above the first prompt it answers, that the agent has lost the conversation."""
    root, unread = update.chat.root, update.chat.unconfirmed
    place = root.blocks.index(unread[0]) if unread else 0
    update.after = root.blocks[place - 1] if place else None
    note(update, FORGOTTEN)

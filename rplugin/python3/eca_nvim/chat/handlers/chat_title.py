"""Chat title: the title of a chat, and whether the agent knows the chat that it names.

Rules kept here:
- A new process of the agent may not know the chats of the one before. Then it opens such a chat for
  its first prompt, as it opens every chat that it has never seen.
- A chat that the agent does not know keeps its title: the agent has seen only the end of it.
- That the agent does not know a chat is said once for each process, above the prompt it answers.
"""

from __future__ import annotations

from eca_nvim.chat.handlers.messages import note
from eca_nvim.chat.model.chat import Chat, Naming
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.vocabulary.events import ChatOpened, TitleChanged
from eca_nvim.chat.vocabulary.ops import BlockKind

FORGOTTEN = (
    "A new server answers from here on. It does not know what was said above: "
    "repeat what it needs to know."
)


def title_changed(update: Update, event: TitleChanged) -> None:
    """Take a title; a subagent's is not the chat's."""
    chat = update.chat
    if update.lane is not chat.root or (chat.naming is Naming.KEPT and chat.title):
        return
    chat.title = one_line(event.title) or None
    update.dirty |= Dirty.STATUS


def chat_opened(update: Update, event: ChatOpened) -> None:
    """Take that the agent has the chat; it may come again. Without a title it is new to it."""
    chat = update.chat
    if update.lane is not chat.root:
        return
    chat.deleted = False
    if event.title is not None:
        title_changed(update, TitleChanged(event.title))
    elif chat.naming is Naming.DOUBTFUL:
        chat.naming = Naming.KEPT
        _say_forgotten(update)


def doubt(chat: Chat) -> None:
    """Doubt that the agent knows the chat, now that its process is over."""
    if any(block.kind is BlockKind.ASSISTANT for block in chat.root.blocks):
        chat.naming = Naming.DOUBTFUL


def _say_forgotten(update: Update) -> None:
    """Say above the prompt that the agent now reads what it does not know."""
    root, unread = update.chat.root, update.chat.unconfirmed
    place = root.blocks.index(unread[0]) if unread else 0
    update.after = root.blocks[place - 1] if place else None
    note(update, FORGOTTEN)

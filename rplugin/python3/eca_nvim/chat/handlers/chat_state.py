"""Chat state: events about a whole chat: progress, usage, commands, cleared."""

from __future__ import annotations

from eca_nvim.chat.handlers.settle import settle
from eca_nvim.chat.handlers.subagents import show_progress, store_usage
from eca_nvim.chat.handlers.task_list import drop_task_list
from eca_nvim.chat.model.chat import Lane, TitleOwner
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.vocabulary.commands import CommandsChanged
from eca_nvim.chat.vocabulary.events import ChatCleared, ProgressChanged
from eca_nvim.chat.vocabulary.ops import ClearChat
from eca_nvim.chat.vocabulary.states import Turn
from eca_nvim.chat.vocabulary.usage import UsageReported


def progress_changed(update: Update, event: ProgressChanged) -> None:
    """Show what the agent says it is doing; ignored while no turn runs."""
    chat = update.chat
    if update.lane is not chat.root:
        show_progress(update, update.lane, one_line(event.text))
    elif chat.turn.state is not Turn.IDLE:
        chat.activity, chat.retrying = event.text or None, event.is_retry
        update.dirty |= Dirty.STATUS


def usage_reported(update: Update, event: UsageReported) -> None:
    """Store tokens and cost; a subagent's are shown with its call."""
    if update.lane is not update.chat.root:
        store_usage(update, update.lane, event)
        return
    update.chat.usage = event
    update.dirty |= Dirty.STATUS | Dirty.USAGE


def chat_cleared(update: Update, event: ChatCleared) -> None:
    """Remove all blocks; the turn and the queued prompts stay."""
    chat = update.chat
    if not event.messages or update.lane is not chat.root:
        return
    settle(update)
    chat.unconfirmed.clear()
    chat.older = None
    chat.blocks.clear()
    chat.lanes.clear()
    chat.anchors.clear()
    chat.used.clear()
    drop_task_list(update)
    chat.title_owner = TitleOwner.AGENT
    if event.usage:
        chat.usage = None
        update.dirty |= Dirty.STATUS | Dirty.USAGE
    chat.lanes[chat.id] = Lane(chat.id)
    update.lane = chat.root
    update.ops.append(ClearChat(chat.id))


def commands_changed(update: Update, event: CommandsChanged) -> None:
    """Store the commands that the agent knows in this chat."""
    if update.lane is update.chat.root:
        update.chat.commands = event.commands

"""Extras: hooks, links, images, flags, unknown content, and what only the status shows."""

from __future__ import annotations

from eca_nvim.chat.handlers.settle import settle
from eca_nvim.chat.handlers.subagents import progresses, uses
from eca_nvim.chat.handlers.task_list import drop_plan
from eca_nvim.chat.model.blocks import FlagBlock, Fold, HookBlock, ImageBlock, LinkBlock, PlainBlock
from eca_nvim.chat.model.chat import Lane, Naming
from eca_nvim.chat.render.block import hook_failed
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.vocabulary.events import (
    ChatCleared,
    FlagReceived,
    HookFinished,
    HookStarted,
    ImageReceived,
    LinkReceived,
    ProgressChanged,
    SelectionChanged,
    UnknownReceived,
    UsageReported,
)
from eca_nvim.chat.vocabulary.ops import BlockKind, ClearChat
from eca_nvim.chat.vocabulary.states import Turn


def hook_started(update: Update, event: HookStarted) -> None:
    """Show that a hook runs."""
    _hook(update, event.id, event.name)


def hook_finished(update: Update, event: HookFinished) -> None:
    """Show what came of a hook; one that failed opens."""
    block = _hook(update, event.id, event.name)
    block.result = event
    update.auto_fold(block, update.lane, Fold.OPEN if hook_failed(block) else Fold.CLOSED)


def _hook(update: Update, hook_id: str, name: str) -> HookBlock:
    block = update.lane.hooks.get(hook_id)
    if block is None or block.result is not None:
        block = HookBlock(update.mint(), BlockKind.HOOK, Fold.CLOSED, name=name)
        update.lane.hooks[hook_id] = block
        update.add(block)
    return block


def link_received(update: Update, event: LinkReceived) -> None:
    """Show a link."""
    update.add(LinkBlock(update.mint(), BlockKind.LINK, title=event.title, url=event.url))


def image_received(update: Update, event: ImageReceived) -> None:
    """Show that there is an image."""
    block = ImageBlock(
        update.mint(), BlockKind.IMAGE, media_type=event.media_type, base64=event.base64
    )
    update.add(block)


def flag_received(update: Update, event: FlagReceived) -> None:
    """Show a bookmark."""
    block = FlagBlock(update.mint(), BlockKind.FLAG, text=event.text, content_id=event.content_id)
    update.add(block)


def unknown_received(update: Update, event: UnknownReceived) -> None:
    """Show content of a kind nobody told us about, plainly."""
    block = PlainBlock(update.mint(), BlockKind.NOTE, Fold.OPEN, name=event.kind, text=event.text)
    update.add(block)


# --- the status only ----------------------------------------------------------------------------


def progress_changed(update: Update, event: ProgressChanged) -> None:
    """Take what the agent says it is doing, while it does something."""
    chat = update.chat
    if update.lane is not chat.root:
        progresses(update, update.lane, one_line(event.text))
    elif chat.turn.state is not Turn.IDLE:
        chat.activity, chat.retrying = event.text or None, event.is_retry
        update.dirty |= Dirty.STATUS


def usage_reported(update: Update, event: UsageReported) -> None:
    """Take tokens and cost; a subagent's are its own."""
    if update.lane is not update.chat.root:
        uses(update, update.lane, event)
        return
    update.chat.usage = event
    update.dirty |= Dirty.STATUS | Dirty.USAGE


def selection_changed(update: Update, event: SelectionChanged) -> None:
    """Take a new model, agent or variant."""
    if update.lane is not update.chat.root:
        return
    selected = update.chat.selected
    selected.model = event.model if event.model is not None else selected.model
    selected.agent = event.agent if event.agent is not None else selected.agent
    selected.variant = event.variant if event.variant is not None else selected.variant
    update.dirty |= Dirty.STATUS


def chat_cleared(update: Update, event: ChatCleared) -> None:
    """Take all blocks out; the turn and what waits to be sent stay."""
    chat = update.chat
    if not event.messages or update.lane is not chat.root:
        return
    settle(update)
    chat.unconfirmed.clear()
    chat.older = None
    chat.blocks.clear()
    chat.lanes.clear()
    chat.anchors.clear()
    drop_plan(update)
    chat.naming = Naming.AGENT
    if event.usage:
        chat.usage = None
        update.dirty |= Dirty.STATUS | Dirty.USAGE
    chat.lanes[chat.id] = Lane(chat.id)
    update.lane = chat.root
    update.ops.append(ClearChat(chat.id))

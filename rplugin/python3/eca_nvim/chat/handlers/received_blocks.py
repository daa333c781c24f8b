"""Received blocks: hooks, links, images, flags and unknown content, each a block of its own."""

from __future__ import annotations

from eca_nvim.chat.model.blocks import FlagBlock, Fold, HookBlock, ImageBlock, LinkBlock, PlainBlock
from eca_nvim.chat.render.block import hook_failed
from eca_nvim.chat.update import Update
from eca_nvim.chat.vocabulary.events import FlagReceived, UnknownReceived
from eca_nvim.chat.vocabulary.ops import BlockKind
from eca_nvim.chat.vocabulary.received import HookFinished, HookStarted, ImageReceived, LinkReceived


def hook_started(update: Update, event: HookStarted) -> None:
    """Show that a hook runs."""
    _hook(update, event.id, event.name)


def hook_finished(update: Update, event: HookFinished) -> None:
    """Show a hook's result; open it if the hook failed."""
    block = _hook(update, event.id, event.name)
    block.result = event
    update.auto_fold(block, update.lane, Fold.OPEN if hook_failed(block) else Fold.CLOSED)


def _hook(update: Update, hook_id: str, name: str) -> HookBlock:
    block = update.lane.hooks.get(hook_id)
    if block is None or block.result is not None:
        block = HookBlock(update.new_block_id(), BlockKind.HOOK, Fold.CLOSED, name=name)
        update.lane.hooks[hook_id] = block
        update.add(block)
    return block


def link_received(update: Update, event: LinkReceived) -> None:
    """Show a link."""
    update.add(LinkBlock(update.new_block_id(), BlockKind.LINK, title=event.title, url=event.url))


def image_received(update: Update, event: ImageReceived) -> None:
    """Show an image's type and size."""
    block = ImageBlock(
        update.new_block_id(), BlockKind.IMAGE, media_type=event.media_type, base64=event.base64
    )
    update.add(block)


def flag_received(update: Update, event: FlagReceived) -> None:
    """Show a bookmark."""
    block = FlagBlock(
        update.new_block_id(), BlockKind.FLAG, text=event.text, content_id=event.content_id
    )
    update.add(block)


def unknown_received(update: Update, event: UnknownReceived) -> None:
    """Show content of an unknown kind as plain text."""
    block = PlainBlock(
        update.new_block_id(), BlockKind.NOTE, Fold.OPEN, name=event.kind, text=event.text
    )
    update.add(block)

"""Messages: texts of the user, the model and the system; reasoning, hooks, links, images, flags."""

from collections.abc import Mapping
from typing import TypeAlias

from msgspec.structs import asdict

from eca_nvim.chat.handlers.prompt_queue import take_steers
from eca_nvim.chat.model import blocks
from eca_nvim.chat.model.chat import QueueKind
from eca_nvim.chat.render.block import hook_failed
from eca_nvim.chat.text.safe_text import clean
from eca_nvim.chat.update import Update
from eca_nvim.chat.vocabulary import events, ops, states, turn_events


def text_received(update: Update, event: events.TextReceived) -> None:
    """Show text of any role; the hot path for the assistant's."""
    if event.role is events.Role.ASSISTANT:
        block = update.lane.current_text
        if block is None:
            _begin_text(update, event.text)
        elif text := block.cleaner.feed(event.text):
            # A chunk costs the same however long the chat is: only the chunk goes to the view.
            update.append(block, text)
    elif event.role is events.Role.USER:
        _echoed(update, event)
    else:
        note(update, event.text)


def _begin_text(update: Update, text: str) -> None:
    text = text.lstrip("\r\n")
    if not text:
        return
    block = blocks.TextBlock(*update.place(), ops.BlockKind.ASSISTANT)
    if drawn := block.cleaner.feed(text):
        block.chunks.append(drawn)
    update.add(block)
    update.lane.current_text = block
    update.withdraw_rejection()


def _echoed(update: Update, event: events.TextReceived) -> None:
    echo = event.text.strip()
    if update.lane is update.chat.root and not update.replays:
        # The question of a login shows its answer, or hides it; a sent prompt is shown already.
        if update.chat.turn.state in states.LOGIN_TURNS or _confirms(update, event):
            return
        take_steers(update, echo)
    if echo:
        show_user(update, event.text, event.content_id)


def steer_taken(update: Update, event: events.SteerTaken) -> None:
    """Show a steer that is the agent's now; it waits no more."""
    take_steers(update, event.text.strip())
    show_user(update, event.text)


def _confirms(update: Update, event: events.TextReceived) -> bool:
    """Store the agent's id in the echoed prompt; return whether the prompt was found."""
    echo = clean(event.text).strip()
    for block in update.chat.unconfirmed:
        if block.text.strip() == echo:
            update.chat.unconfirmed.remove(block)
            block.content_id = event.content_id
            return True
    return False


def show_user(update: Update, text: str, content_id: str | None = None) -> blocks.TextBlock:
    """Add a block with a message of the user, and return it."""
    block = blocks.TextBlock(
        *update.place(), ops.BlockKind.USER, complete=True, content_id=content_id
    )
    turn = update.chat.turn
    if not update.replays:  # a message from another client starts the next turn
        block.turn = turn.number + (turn.state is states.Turn.IDLE)
    if shown := clean(text).strip("\n"):
        block.chunks.append(shown)
    update.add(block)
    return block


def note(update: Update, text: str, *, is_error: bool = False) -> None:
    """Add a system message unless it is empty; errors are plain text, the rest is Markdown."""
    if text := text.strip("\r\n"):
        kind = ops.BlockKind.NOTE if is_error else ops.BlockKind.SYSTEM
        update.add(blocks.NoteBlock(*update.place(), kind, text=text, is_error=is_error))


def titled_text(
    update: Update, title: str, text: str, fold: blocks.Fold = blocks.Fold.CLOSED
) -> None:
    """Add a text below a title."""
    update.add(blocks.PlainBlock(*update.place(), ops.BlockKind.NOTE, fold, name=title, text=text))


def notice_received(update: Update, event: events.NoticeReceived) -> None:
    """Show a notice from this client or the agent."""
    if event.title:
        titled_text(update, event.title, event.text)
    else:
        note(update, event.text, is_error=event.is_error)


def instead_wanted(update: Update, event: events.InsteadWanted) -> None:
    """Show the agent's question what to do instead, unless the user has already said it."""
    if all(waiting.kind is not QueueKind.REASON for waiting in update.chat.queue):
        note(update, event.text)


# --- reasoning ----------------------------------------------------------------------------------


def reasoning_started(update: Update, event: events.ReasoningStarted) -> None:
    """Open a reasoning block."""
    _reasoning_block(update, event.id)


def reasoning_text(update: Update, event: events.ReasoningText) -> None:
    """Append to a reasoning block, even if it is no longer the last block."""
    block = _reasoning_block(update, event.id)
    text = event.text if block.chunks else event.text.lstrip("\r\n")
    if drawn := block.cleaner.feed(text):
        update.append(block, drawn)


def reasoning_finished(update: Update, event: events.ReasoningFinished) -> None:
    """Close a reasoning block; the answer may already have begun."""
    block = update.lane.reasoning.get(event.id)
    if block is not None and block.id in update.chat.live:
        finish_reasoning(update, block, event.total_ms)


def finish_reasoning(update: Update, block: blocks.ReasoningBlock, total_ms: int | None) -> None:
    """Close a reasoning block; without `total_ms` its time is measured here."""
    update.chat.live.pop(block.id, None)
    block.total_ms = update.now - block.started_ms if total_ms is None else total_ms
    update.complete(block)
    update.redraw(block)


def _reasoning_block(update: Update, reasoning_id: str) -> blocks.ReasoningBlock:
    block = update.lane.reasoning.get(reasoning_id)
    if block is None:
        block = blocks.ReasoningBlock(
            *update.place(),
            ops.BlockKind.REASONING,
            blocks.Fold.CLOSED,
            content_id=reasoning_id,
            started_ms=update.now,
        )
        update.lane.reasoning[reasoning_id] = block
        update.chat.live[block.id] = block
        update.add(block)
    return block


def hook_started(update: Update, event: turn_events.HookStarted) -> None:
    """Show that a hook runs."""
    _hook(update, event.id, event.name)


def hook_finished(update: Update, event: turn_events.HookFinished) -> None:
    """Show a hook's result; open it if the hook failed."""
    block = _hook(update, event.id, event.name)
    block.result = event
    update.fold(block, blocks.Fold.OPEN if hook_failed(block) else blocks.Fold.CLOSED)


def _hook(update: Update, hook_id: str, name: str) -> blocks.HookBlock:
    block = update.lane.hooks.get(hook_id)
    if block is None or block.result is not None:
        block = blocks.HookBlock(*update.place(), ops.BlockKind.HOOK, blocks.Fold.CLOSED, name=name)
        update.lane.hooks[hook_id] = block
        update.add(block)
    return block


_PLAIN: Mapping[type, tuple[type[blocks.Block], ops.BlockKind]] = {
    turn_events.LinkReceived: (blocks.LinkBlock, ops.BlockKind.LINK),
    turn_events.ImageReceived: (blocks.ImageBlock, ops.BlockKind.IMAGE),
    events.FlagReceived: (blocks.FlagBlock, ops.BlockKind.FLAG),
}
"""Blocks that have the fields of their event."""

PlainEvent: TypeAlias = turn_events.LinkReceived | turn_events.ImageReceived | events.FlagReceived


def plain_received(update: Update, event: PlainEvent) -> None:
    """Show a link, an image or a bookmark."""
    block, kind = _PLAIN[type(event)]
    update.add(block(*update.place(), kind, **asdict(event)))


def unknown_received(update: Update, event: events.UnknownReceived) -> None:
    """Show content of an unknown kind as plain text."""
    titled_text(update, event.kind, event.text, blocks.Fold.OPEN)

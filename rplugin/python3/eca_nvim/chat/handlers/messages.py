"""Messages: what the user, the model and the system say, and what the model thinks.

Rules kept here:
- A chunk of the model's text costs the same in a chat of any length: it is appended to the block
  that is being said, and only the chunk goes to the view.
- What the user sent is shown at once; the agent's echo confirms it and adds nothing.
- What a login was given is never shown: its echo stands for it, whatever the agent says there.
"""

from __future__ import annotations

from eca_nvim.chat.handlers.prompt_queue import take_steers
from eca_nvim.chat.model.blocks import Fold, NoteBlock, ReasoningBlock, TextBlock
from eca_nvim.chat.model.chat import Lane, QueueKind
from eca_nvim.chat.text.safe_text import HIDDEN, clean
from eca_nvim.chat.update import Update
from eca_nvim.chat.vocabulary.events import (
    InsteadWanted,
    NoticeReceived,
    ReasoningFinished,
    ReasoningStarted,
    ReasoningText,
    Role,
    TextReceived,
)
from eca_nvim.chat.vocabulary.ops import BlockKind
from eca_nvim.chat.vocabulary.states import SECRET_TURNS, Turn


def text_received(update: Update, event: TextReceived) -> None:
    """Take text of any role (hot for the assistant's)."""
    if event.role is Role.ASSISTANT:
        block = update.lane.speaking
        if block is None:
            _begin_speech(update, event.text)
        elif text := block.cleaner.feed(event.text):
            update.append(block, update.lane, text)
    elif event.role is Role.USER:
        _echoed(update, event)
    else:
        note(update, event.text)


def _begin_speech(update: Update, text: str) -> None:
    text = text.lstrip("\r\n")
    if not text:
        return
    block = TextBlock(update.mint(), BlockKind.ASSISTANT)
    update.add(block)
    update.lane.speaking = block
    update.withdraw_rejection()
    if drawn := block.cleaner.feed(text):
        update.append(block, update.lane, drawn)


def _echoed(update: Update, event: TextReceived) -> None:
    said = event.text.strip()
    if update.lane is update.chat.root and not update.replays:
        if update.chat.turn.state in SECRET_TURNS:
            _echoed_secret(update, said)
            return
        if _confirms(update, event):
            return
        take_steers(update, said)
    if said:
        show_user(update, event.text, event.content_id)


def _echoed_secret(update: Update, said: str) -> None:
    """Show that a login was given something; who cancels one says nothing more to it."""
    if said and update.chat.turn.state is Turn.LOGIN:
        show_user(update, HIDDEN)


def _confirms(update: Update, event: TextReceived) -> bool:
    """Say whether an echo is of a prompt that is shown; then the prompt has the agent's id."""
    said = clean(event.text).strip()
    for block in update.chat.unconfirmed:
        if block.text.strip() == said:
            update.chat.unconfirmed.remove(block)
            block.content_id = event.content_id
            return True
    return False


def show_user(update: Update, text: str, content_id: str | None = None) -> TextBlock:
    """Add a block with what the user said, and return it."""
    block = TextBlock(update.mint(), BlockKind.USER, complete=True, content_id=content_id)
    block.turn = _turn_of(update)
    if shown := clean(text).strip("\n"):
        block.chunks.append(shown)
    update.add(block)
    return block


def _turn_of(update: Update) -> int:
    """Give the number of the turn that the user speaks in; another client's begins after that."""
    turn = update.chat.turn
    return 0 if update.replays else turn.number + (turn.state is Turn.IDLE)


def note(update: Update, text: str, *, is_error: bool = False) -> None:
    """Add a word of the system, if it has any: Markdown as agents write it, but for a fault."""
    if text := text.strip("\r\n"):
        kind = BlockKind.NOTE if is_error else BlockKind.SYSTEM
        update.add(NoteBlock(update.mint(), kind, text=text, is_error=is_error))


def notice_received(update: Update, event: NoticeReceived) -> None:
    """Take a line from the client or the agent itself."""
    note(update, event.text, is_error=event.is_error)


def instead_wanted(update: Update, event: InsteadWanted) -> None:
    """Show that the agent asks what to do instead, unless the user has said so already."""
    if all(waiting.kind is not QueueKind.REASON for waiting in update.chat.queue):
        note(update, event.text)


# --- thoughts -----------------------------------------------------------------------------------


def reasoning_started(update: Update, event: ReasoningStarted) -> None:
    """Begin a thought."""
    _thought(update, event.id)


def reasoning_text(update: Update, event: ReasoningText) -> None:
    """Add to a thought, wherever it stands."""
    block = _thought(update, event.id)
    text = event.text if block.chunks else event.text.lstrip("\r\n")
    if drawn := block.cleaner.feed(text):
        update.append(block, update.lane, drawn)


def reasoning_finished(update: Update, event: ReasoningFinished) -> None:
    """End a thought; it may be that an answer has begun already."""
    block = update.lane.thoughts.get(event.id)
    if block is not None and block.id in update.chat.live:
        finish_thought(update, block, update.lane, event.total_ms)


def finish_thought(update: Update, block: ReasoningBlock, lane: Lane, total_ms: int | None) -> None:
    """End a thought after `total_ms`, or after the time we saw it take."""
    update.chat.live.pop(block.id, None)
    block.total_ms = update.now - block.started_ms if total_ms is None else total_ms
    update.complete(block, lane)
    update.redraw(block, lane)


def _thought(update: Update, thought_id: str) -> ReasoningBlock:
    block = update.lane.thoughts.get(thought_id)
    if block is None:
        block = ReasoningBlock(
            update.mint(),
            BlockKind.REASONING,
            Fold.CLOSED,
            content_id=thought_id,
            started_ms=update.now,
        )
        update.lane.thoughts[thought_id] = block
        update.chat.live[block.id] = (block, update.lane)
        update.add(block)
    return block

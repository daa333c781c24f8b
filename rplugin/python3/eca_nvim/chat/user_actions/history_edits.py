"""History edits: rollbacks, forks and flags, and the prompts that wait for one.

The agent goes first. Then the same change is made to the shown blocks, instead of a replay: folds,
the reader's position and blocks that no agent replays stay.
"""

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import Struct

from eca_nvim.chat.handlers.messages import note
from eca_nvim.chat.handlers.prompt_queue import OF_HISTORY, requeue, take
from eca_nvim.chat.handlers.turn import start_prompt
from eca_nvim.chat.model.blocks import (
    Block,
    Changes,
    FlagBlock,
    ReasoningBlock,
    TextBlock,
    ToolBlock,
)
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.text.safe_text import one_line, truncate
from eca_nvim.chat.update import Update
from eca_nvim.chat.user_actions.attempts import forget_session, take_tail
from eca_nvim.chat.user_actions.earlier_messages import root_place
from eca_nvim.chat.vocabulary import ops, states


def begin_change(chat: Chat) -> None:
    """Let the prompts of a chat wait from now on."""
    chat.history = states.History.CHANGING


def end_change(chat: Chat, now: int, *, sends: bool = True) -> Changes:
    """Send the first prompt that waited; the others follow it, one turn after the other.

    sends: else all of them stay queued. They also do while the agent runs a turn of its own.
    """
    update = Update(chat, chat.root, now)
    chat.history = states.History.SETTLED
    is_free = sends and chat.turn.state is states.Turn.IDLE
    prompt = take(update, OF_HISTORY) if is_free else None
    requeue(update, OF_HISTORY)
    if prompt is not None:
        start_prompt(update, prompt.text, prompt.contexts)
    return update.finish()


TITLE_CELLS = 100

Anchor: TypeAlias = tuple[Block, str]
"""A block and the agent's id of it."""


def content_id(block: Block) -> str | None:
    """Return the agent's id of a block; text of the model has none."""
    match block:
        case TextBlock(content_id=found):
            return found
        case ToolBlock(call=call):
            return call.id or None
        case ReasoningBlock(content_id=found) | FlagBlock(content_id=found):
            return found or None
        case _:
            return None


def anchor_of(chat: Chat, block_id: int) -> Anchor | None:
    """Return the nearest block at or before a block that has an agent's id."""
    place = root_place(chat, block_id)
    for block in reversed(chat.root.blocks[: 0 if place is None else place + 1]):
        if (found := content_id(block)) is not None:
            return block, found
    return None


def prompt_of(chat: Chat, block_id: int) -> TextBlock | None:
    """Return the user message that a block is or belongs to."""
    place = root_place(chat, block_id)
    for block in reversed(chat.root.blocks[: 0 if place is None else place + 1]):
        if isinstance(block, TextBlock) and block.kind is ops.BlockKind.USER:
            return block
    return None


class ForkPoint(Struct, frozen=True):
    """Where a copy of a chat ends: at the content with this id.

    is_prompt: this is a prompt, which is left out of the copy. rewrite: the user chose this prompt,
    and wants to write it again.
    """

    content_id: str
    is_prompt: bool = False
    rewrite: bool = False


def fork_point(chat: Chat, block_id: int) -> ForkPoint | None:
    """Return where a copy of a chat up to a block ends: before a prompt, or at a turn's end.

    Text of the model has no id: the end of its turn is named by the next prompt.
    """
    place = root_place(chat, block_id)
    if place is None:
        return None
    for block in chat.root.blocks[place:]:
        if isinstance(block, TextBlock) and block.kind is ops.BlockKind.USER:
            rewrite = block is chat.root.blocks[place]
            found = block.content_id
            return ForkPoint(found, is_prompt=True, rewrite=rewrite) if found is not None else None
    anchor, prompt = anchor_of(chat, block_id), prompt_of(chat, block_id)
    if anchor is None or (prompt is not None and anchor[0].id <= prompt.id):
        return None
    return ForkPoint(anchor[1])


NEW_SESSION = "The agent goes on in a new session."
WITH_RECAP = (
    "The agent goes on in a new session: it gets what was said until here with your next prompt."
)


def roll_back(
    chat: Chat, prompt: TextBlock, now: int, *, give_back: bool = True, recap: str | None = None
) -> Changes:
    """Remove a user message and all blocks after it; its text goes back into the input.

    recap: the agent has a new session, which gets this with the next prompt.
    """
    update = Update(chat, chat.root, now)
    if prompt not in chat.root.blocks:
        return update.finish()
    take_tail(update, prompt)
    if give_back:
        update.ops.append(ops.SetInput(chat.id, prompt.text))
    if recap is not None:
        forget_session(chat, recap)
        note(update, WITH_RECAP if recap else NEW_SESSION)
    return update.finish()


def files_restored(chat: Chat, now: int) -> Changes:
    """Report that the agent restored files; it does not say which ones."""
    update = Update(chat, chat.root, now)
    update.ops.append(ops.FilesChanged(chat.id, ()))
    return update.finish()


def add_flag(chat: Chat, after: Block, flag_id: str, text: str, now: int) -> Changes:
    """Show a new bookmark after a block."""
    update = Update(chat, chat.root, now)
    update.after = after if after in chat.root.blocks else None
    current_text, chat.root.current_text = chat.root.current_text, None
    update.add(FlagBlock(*update.place(), ops.BlockKind.FLAG, text=text, content_id=flag_id))
    chat.root.current_text = current_text
    return update.finish()


def remove_flag(chat: Chat, flag: FlagBlock, now: int) -> Changes:
    """Remove a bookmark."""
    update = Update(chat, chat.root, now)
    if flag in chat.root.blocks:
        update.remove(flag)
    return update.finish()


def timeline(chat: Chat, block_id: int | None = None) -> list[Mapping[str, object]]:
    """List user messages, bookmarks and the placeholder for older messages: block, kind, title.

    With a block, list only the user message that it is or belongs to, with its text.
    """
    blocks: list[Block] = chat.root.blocks
    prompt = None if block_id is None else prompt_of(chat, block_id)
    if block_id is not None:
        blocks = [] if prompt is None else [prompt]
    rows: list[dict[str, object]] = [
        {"block": block.id, "kind": block.kind.value, "title": truncate(title, TITLE_CELLS)}
        for block in blocks
        if (title := _title(block)) is not None
    ]
    whole = {} if prompt is None else {"text": prompt.text}
    return [{**row, **whole} for row in rows]


def _title(block: Block) -> str | None:
    match block:
        case TextBlock(kind=ops.BlockKind.USER) | FlagBlock():
            return one_line(block.text)
        case Block(kind=ops.BlockKind.OLDER):
            return "older messages"
        case _:
            return None

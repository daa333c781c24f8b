"""History changes: what the user changes in a chat's history, once the agent has done the same.

Rules kept here:
- The agent is asked first; here the same is done to what is shown, and nothing else is touched:
  folds, the place of the reader and what no agent replays stay.
- A place in a chat is a block; where the agent needs an id, that of the nearest block at or before
  it is taken which has one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import Struct

from eca_nvim.chat.handlers.task_list import drop_task_list
from eca_nvim.chat.model.blocks import Block, FlagBlock, ReasoningBlock, TextBlock, ToolBlock
from eca_nvim.chat.model.changes import Changes
from eca_nvim.chat.model.chat import Chat, Lane
from eca_nvim.chat.text.safe_text import one_line, truncate
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.user_actions.earlier_messages import root_place
from eca_nvim.chat.vocabulary.ops import BlockKind, FilesChanged, RemoveBlock, SetInput

TITLE_CELLS = 100

Anchor: TypeAlias = tuple[Block, str]
"""A block, and the id that the agent has for it."""


def content_id(block: Block) -> str | None:
    """Give the agent's id of what a block shows; text of the model has none."""
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
    """Find the nearest block at or before one that the agent has an id for."""
    place = root_place(chat, block_id)
    for block in reversed(chat.root.blocks[: 0 if place is None else place + 1]):
        if (found := content_id(block)) is not None:
            return block, found
    return None


def prompt_of(chat: Chat, block_id: int) -> TextBlock | None:
    """Find the message of the user that a block is or belongs to."""
    place = root_place(chat, block_id)
    for block in reversed(chat.root.blocks[: 0 if place is None else place + 1]):
        if isinstance(block, TextBlock) and block.kind is BlockKind.USER:
            return block
    return None


class Cut(Struct, frozen=True):
    """Where a copy of a chat ends: with some content, which may be a prompt that is to go again.

    anew: that prompt is to be written anew.
    """

    content_id: str
    is_prompt: bool = False
    anew: bool = False


def cut_of(chat: Chat, block_id: int) -> Cut | None:
    """Find where to copy a chat up to: before a prompt, or with the whole turn of another block.

    Agents have no name for what a model said: such a turn ends before the next prompt.
    """
    place = root_place(chat, block_id)
    if place is None:
        return None
    for block in chat.root.blocks[place:]:
        if isinstance(block, TextBlock) and block.kind is BlockKind.USER:
            anew = block is chat.root.blocks[place]
            named = block.content_id
            return Cut(named, is_prompt=True, anew=anew) if named is not None else None
    anchor, prompt = anchor_of(chat, block_id), prompt_of(chat, block_id)
    if anchor is None or (prompt is not None and anchor[0].id <= prompt.id):
        return None
    return Cut(anchor[1])


def roll_back(chat: Chat, prompt: TextBlock, now: int, *, give_back: bool = True) -> Changes:
    """Take out a message of the user and all after it; its text goes back into the input."""
    update = Update(chat, chat.root, now)
    if prompt not in chat.root.blocks:
        return update.finish()
    place = chat.root.blocks.index(prompt)
    gone = frozenset(chat.root.blocks[place:])
    nested = [lane for lane in chat.lanes.values() if lane.anchor in gone]
    for lane in nested:
        _cut(update, lane, frozenset(lane.blocks))
        del chat.lanes[lane.chat_id]
    chat.anchors = {key: block for key, block in chat.anchors.items() if block not in gone}
    _cut(update, chat.root, gone)
    del chat.root.blocks[place:]
    if chat.task_list_block in gone:
        drop_task_list(update)
    if give_back:
        update.ops.append(SetInput(chat.id, prompt.text))
    update.dirty |= Dirty.STATUS
    return update.finish()


def _cut(update: Update, lane: Lane, gone: frozenset[Block]) -> None:
    for block in [block for block in lane.blocks if block in gone]:
        if lane.shows(block):
            update.ops.append(RemoveBlock(update.chat.id, block.id))
        del update.chat.blocks[block.id]
    for known in (lane.calls, lane.thoughts, lane.hooks):
        for key in [key for key, block in known.items() if block in gone]:
            del known[key]


def files_restored(chat: Chat, now: int) -> Changes:
    """Say that files were put back as they were; which, the agent does not tell."""
    update = Update(chat, chat.root, now)
    update.ops.append(FilesChanged(chat.id, ()))
    return update.finish()


def add_flag(chat: Chat, after: Block, flag_id: str, text: str, now: int) -> Changes:
    """Show a new bookmark after a block."""
    update = Update(chat, chat.root, now)
    update.after = after if after in chat.root.blocks else None
    speaking, chat.root.speaking = chat.root.speaking, None
    update.add(FlagBlock(update.mint(), BlockKind.FLAG, text=text, content_id=flag_id))
    chat.root.speaking = speaking
    return update.finish()


def remove_flag(chat: Chat, flag: FlagBlock, now: int) -> Changes:
    """Take a bookmark out."""
    update = Update(chat, chat.root, now)
    if flag in chat.root.blocks:
        update.remove(flag, chat.root)
    return update.finish()


def timeline(chat: Chat, block_id: int | None = None) -> list[Mapping[str, object]]:
    """List messages of the user, bookmarks and what is not loaded: block, kind and title.

    With a block only the message of the user that it is or belongs to.
    """
    blocks: list[Block] = chat.root.blocks
    if block_id is not None:
        prompt = prompt_of(chat, block_id)
        blocks = [] if prompt is None else [prompt]
    return [
        {"block": block.id, "kind": block.kind.value, "title": truncate(title, TITLE_CELLS)}
        for block in blocks
        if (title := _title(block)) is not None
    ]


def _title(block: Block) -> str | None:
    match block:
        case TextBlock(kind=BlockKind.USER) | FlagBlock():
            return one_line(block.text)
        case Block(kind=BlockKind.OLDER):
            return "older messages"
        case _:
            return None

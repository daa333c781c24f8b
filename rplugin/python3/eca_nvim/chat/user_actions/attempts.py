"""Attempts: sends a prompt once more, and goes from one of its answers to another.

The agent goes first, as in `history_edits`: each answer has a session of its own.
"""

from collections.abc import Sequence
from typing import TypeGuard

from eca_nvim.chat.handlers.task_list import drop_task_list
from eca_nvim.chat.handlers.turn import start_prompt
from eca_nvim.chat.model.attempts import Attempt, AttemptsBlock, Tail
from eca_nvim.chat.model.blocks import Block, Changes, Lane, TextBlock
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.user_actions.earlier_messages import root_place
from eca_nvim.chat.vocabulary import ops

_KNOWN = ("calls", "reasoning", "hooks")
"""The fields of a lane that have blocks by the agent's ids."""


def last_prompt(chat: Chat) -> TextBlock | None:
    """Return the prompt that began the last turn; what has steered that turn is none."""
    prompts = [it for it in chat.root.blocks if _is_prompt(it)]
    last = prompts[-1] if prompts else None
    return next((it for it in prompts if last and last.turn and it.turn == last.turn), last)


def is_first(chat: Chat, prompt: TextBlock) -> bool:
    """Return whether nobody has said anything before a prompt."""
    return next((it for it in chat.root.blocks if isinstance(it, TextBlock)), None) is prompt


def _is_prompt(block: Block) -> TypeGuard[TextBlock]:
    return isinstance(block, TextBlock) and block.kind is ops.BlockKind.USER


def attempts_at(chat: Chat, block_id: int) -> AttemptsBlock | None:
    """Return the row of the turn that a block belongs to; 0: the last row of the chat."""
    blocks, place = chat.root.blocks, root_place(chat, block_id)
    near = [] if place is None else blocks[: place + 2]
    rows = [at for at, block in enumerate(near) if isinstance(block, AttemptsBlock)]
    if place is None or not rows:
        return None
    row, at = near[rows[-1]], rows[-1]
    turns = {it.turn for it in blocks[max(0, at - 1) : place + 1] if _is_prompt(it)}
    is_near = not block_id or len(turns) < 2
    return row if is_near and isinstance(row, AttemptsBlock) else None


def ask_again(
    chat: Chat, prompt: TextBlock, kept_as: str, model: str, now: int, recap: str | None = None
) -> Changes:
    """Put the answer to a prompt aside, and send the prompt once more, as it was sent.

    kept_as: the id under which the agent keeps the session of that answer. model: the name of the
    one that is asked now. recap: what the agent's new session gets; None if it knows all.
    """
    update = Update(chat, chat.root, now)
    was_asked = chat.turn.model if prompt.turn == chat.turn.number else ""
    tail = take_tail(update, prompt)
    row = next((it for it in tail.blocks[1:2] if isinstance(it, AttemptsBlock)), None)
    if row is None:
        row = _row(update, [Attempt(was_asked)])
        tail.blocks.insert(1, row)
    row.shown.tail, row.shown.kept_as = tail, kept_as
    row.attempts.append(Attempt(model, is_told=bool(recap)))
    if recap is not None:
        forget_session(chat, recap)
    start_prompt(update, prompt.text, prompt.contexts)
    update.add(_row(update, row.attempts))
    return update.finish()


def _row(update: Update, attempts: list[Attempt]) -> AttemptsBlock:
    place = (*update.place(), ops.BlockKind.ATTEMPTS)
    return AttemptsBlock(*place, attempts=attempts, place=len(attempts) - 1)


def show_attempt(chat: Chat, row: AttemptsBlock, place: int, now: int) -> Changes:
    """Show another answer in place of the one that follows a row."""
    update, wanted = Update(chat, chat.root, now), row.attempts[place]
    if wanted.tail is None or row not in chat.root.blocks:
        return update.finish()
    index = chat.root.blocks.index(row)
    prompts = [it for it in chat.root.blocks[max(0, index - 1) : index] if _is_prompt(it)]
    row.shown.tail = take_tail(update, prompts[0] if prompts else row)
    row.shown.kept_as = wanted.kept_as  # the agent has exchanged the two sessions
    put_back(update, wanted.tail)
    wanted.tail, wanted.kept_as = None, ""
    return update.finish()


def forget_session(chat: Chat, recap: str) -> None:
    """Note that a new session gets a recap of what is shown; it knows no id of it."""
    chat.recap = recap
    for block in chat.root.blocks:
        if isinstance(block, TextBlock):
            block.content_id = None


# --- what is put aside --------------------------------------------------------------------------


def take_tail(update: Update, first: Block) -> Tail:
    """Remove all from a block of the chat's own lane on, and return it."""
    chat, root = update.chat, update.chat.root
    update.finish_text(root)
    place = root.blocks.index(first)
    blocks = root.blocks[place:]
    gone, lanes = set(blocks), dict[str, Lane]()
    for lane in chat.lanes.values():
        if lane.anchor in gone:
            lanes[lane.chat_id] = lane
            gone.update(lane.blocks)
    anchors = {key: block for key, block in chat.anchors.items() if block in gone}
    known = {name: _within(getattr(root, name), gone) for name in _KNOWN}
    before = [it for it in root.blocks[:place] if isinstance(it, TextBlock)]
    ids = [(it, it.content_id) for it in before]
    tail = Tail(blocks, lanes, anchors, known, ids, chat.recap, chat.usage)
    if chat.task_list_block in gone:
        tail.task_list_block = chat.task_list_block
        drop_task_list(update)
    _undraw(update, tail)
    return tail


def _within(known: dict[str, Block], gone: set[Block]) -> dict[str, Block]:
    return {key: block for key, block in known.items() if block in gone}


def _undraw(update: Update, tail: Tail) -> None:
    chat, root = update.chat, update.chat.root
    for block in _all(tail):
        if block.is_shown:
            update.ops.append(ops.RemoveBlock(chat.id, block.id))
        del chat.blocks[block.id]
    del root.blocks[-len(tail.blocks) :]
    for chat_id in tail.lanes:
        del chat.lanes[chat_id]
    for key in tail.anchors:
        del chat.anchors[key]
    for name, known in tail.known.items():
        for key in known:
            del getattr(root, name)[key]
    update.dirty |= Dirty.STATUS


def _all(tail: Tail) -> Sequence[Block]:
    """Return all blocks; those of the subagents first."""
    return [*(block for lane in tail.lanes.values() for block in lane.blocks), *tail.blocks]


def put_back(update: Update, tail: Tail) -> None:
    """Show again what was put aside, below all that is shown."""
    chat, root = update.chat, update.chat.root
    root.blocks += tail.blocks
    chat.blocks.update((block.id, block) for block in _all(tail))
    chat.lanes.update(tail.lanes)
    chat.anchors.update(tail.anchors)
    for name, known in tail.known.items():
        getattr(root, name).update(known)
    for prompt, content_id in tail.content_ids:
        prompt.content_id = content_id
    chat.recap, chat.usage = tail.recap, tail.usage
    chat.task_list_block = tail.task_list_block
    for block in tail.blocks:
        if block.is_shown:
            update.draw(block)
    for lane in tail.lanes.values():
        if lane.is_shown:
            update.draw_lane(lane)
    update.dirty |= Dirty.STATUS | Dirty.USAGE | Dirty.TASK_LIST

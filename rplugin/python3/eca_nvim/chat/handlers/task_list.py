"""Task list: the agent's tasks, as one block where they changed last.

Rules kept here:
- The agent sends its tasks with a tool call, whose block then shows them, or without one: then they
  get a block of their own, which is a call that has ended.
- The agent always sends its whole task list. A new list replaces the old one and keeps the fold
  the user chose.
- The list is dropped when the agent's process ends, and at the end of a turn in which the agent
  did not send it. Its last block stays, also when the agent clears the list.
- When the block moves, the calls on both sides of it become neighbours.
- A list in older messages that are loaded does not replace a newer one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from eca_nvim.chat.handlers.call_groups import join_sides
from eca_nvim.chat.model.blocks import AUTOMATIC_FOLDS, Fold, ToolBlock
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.vocabulary import call_details, events, ops, states


def update_task_list(
    update: Update, details: call_details.Details | None, block: ToolBlock | None = None
) -> None:
    """Show the task list of a call in its block; without a block, clear the list.

    Other details are ignored, and so is the task list of a subagent.
    """
    chat = update.chat
    if not isinstance(details, call_details.TaskList) or update.lane is not chat.root:
        return
    if block is None or not details.tasks:
        _put_away(update)
    else:
        _move(update, details, block)
        chat.task_list_turn = chat.turn.number
    update.dirty |= Dirty.TASK_LIST


def plan_changed(update: Update, event: events.PlanChanged) -> None:
    """Show a task list that the agent sent without a call, in a new block; or clear it."""
    block = None
    if event.tasks.tasks and update.lane is update.chat.root:
        call = call_details.ToolCall(
            "", kind=call_details.ToolKind.TASKS, verb="tasks", details=event.tasks
        )
        block = ToolBlock(
            update.new_block_id(), update.lane, ops.BlockKind.TASKS, Fold.CLOSED, call=call
        )
        block.state = states.CallState.DONE
        block.replayed = update.replays
        update.add(block)
    update_task_list(update, event.tasks, block)


def drop_task_list(update: Update) -> None:
    """Forget the task list, if there is one; its block stays."""
    chat = update.chat
    if chat.task_list is not None:
        _forget(chat)
        update.dirty |= Dirty.TASK_LIST


def drop_unsent_task_list(update: Update) -> None:
    """Drop the task list if the agent did not send it in the turn that ended."""
    if update.chat.task_list_turn < update.chat.turn.number:
        drop_task_list(update)


@contextmanager
def keeping_task_list(update: Update) -> Iterator[None]:
    """Keep the task list while older messages are replayed: their last one is left out."""
    chat = update.chat
    tasks, block = chat.task_list, chat.task_list_block
    _forget(chat)
    try:
        yield
    finally:
        older = chat.task_list_block
        if block is not None:
            chat.task_list, chat.task_list_block = tasks, block
            if older is not None and older.nested is None:
                _give_way(update, older)


def _put_away(update: Update) -> None:
    chat = update.chat
    if chat.task_list_block is not None:
        update.auto_fold(chat.task_list_block, Fold.CLOSED)
    _forget(chat)


def _forget(chat: Chat) -> None:
    chat.task_list = chat.task_list_block = None


def _move(update: Update, tasks: call_details.TaskList, block: ToolBlock) -> None:
    chat = update.chat
    before = chat.task_list_block
    chat.task_list, chat.task_list_block = tasks, block
    if before is not None and before is not block and before.nested is None:
        _give_way(update, before)
        if before.fold not in AUTOMATIC_FOLDS:
            update.fold(block, before.fold)
    unfinished = tasks.done < len(tasks.tasks)
    update.auto_fold(block, Fold.OPEN if unfinished else Fold.CLOSED)


def _give_way(update: Update, before: ToolBlock) -> None:
    """Remove the block of a task list, because another block shows a newer one."""
    root = update.chat.root
    place = root.blocks.index(before)
    update.remove(before)
    join_sides(update, place, root)

"""Task list: the agent's tasks, as one block where they changed last."""

from collections.abc import Iterator
from contextlib import contextmanager

from eca_nvim.chat.handlers.call_groups import join_sides
from eca_nvim.chat.model.blocks import AUTOMATIC_FOLDS, Fold, ToolBlock
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
    before = chat.task_list_block
    if block is None or not details.tasks:
        if before is not None:  # its block stays, also when the agent clears the list
            update.fold(before, Fold.CLOSED)
        chat.task_list_block = None
    else:
        # The agent always sends its whole list, so a new one takes the place of the old one.
        chat.task_list_block, chat.turn.sent_tasks = block, True
        if before is not None and before is not block and before.nested is None:
            _give_way(update, before)
            if before.fold not in AUTOMATIC_FOLDS:
                update.fold(block, before.fold)
        unfinished = details.done < len(details.tasks)
        update.fold(block, Fold.OPEN if unfinished else Fold.CLOSED)
    update.dirty |= Dirty.TASK_LIST


def plan_changed(update: Update, event: events.PlanChanged) -> None:
    """Show a task list that the agent sent without a call, in a new block; or clear it."""
    block = None
    if event.tasks.tasks and update.lane is update.chat.root:
        call = call_details.ToolCall(
            "", kind=call_details.ToolKind.TASKS, verb="tasks", details=event.tasks
        )
        block = ToolBlock(*update.place(), ops.BlockKind.TASKS, Fold.CLOSED, call=call)
        block.state = states.CallState.DONE
        block.replayed = update.replays
        update.add(block)
    update_task_list(update, event.tasks, block)


def drop_task_list(update: Update) -> None:
    """Forget the task list, if there is one; its block stays."""
    if update.chat.task_list_block is not None:
        update.chat.task_list_block = None
        update.dirty |= Dirty.TASK_LIST


@contextmanager
def keeping_task_list(update: Update) -> Iterator[None]:
    """Keep the task list while older messages are replayed: their last one is left out."""
    chat, turn = update.chat, update.chat.turn
    block, was_sent = chat.task_list_block, turn.sent_tasks
    chat.task_list_block = None
    try:
        yield
    finally:
        older = update.chat.task_list_block
        if block is not None:
            chat.task_list_block, turn.sent_tasks = block, was_sent
            if older is not None and older.nested is None:
                _give_way(update, older)


def _give_way(update: Update, before: ToolBlock) -> None:
    """Remove the block of a task list, because another block shows a newer one."""
    root = update.chat.root
    place = root.blocks.index(before)
    update.remove(before)
    join_sides(update, place, root)

"""Plan: the agent's task list, one block and one line, wherever the agent changed it last.

Rules kept here:
- The agent always tells the whole of its plan: a new telling takes the place of the one before,
  as open or collapsed as the user left that.
- A plan is dropped with the process of the agent that told it, and when another turn has ended
  without a word of it. One that is dropped, or put away by the agent, leaves its last block there.
- Calls that only the plan's earlier place parted are neighbours again.
"""

from __future__ import annotations

from eca_nvim.chat.handlers.groups import join_neighbours
from eca_nvim.chat.model.blocks import AUTOMATIC_FOLDS, Fold, ToolBlock
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.vocabulary.call_details import Details, TaskList


def take_plan(update: Update, details: Details | None, block: ToolBlock | None = None) -> None:
    """Take the plan told by a call, in its block; without one the agent tells it by itself.

    Details that are no plan do not matter here, nor does a subagent's plan.
    """
    chat = update.chat
    if not isinstance(details, TaskList) or update.lane is not chat.root:
        return
    if block is None or not details.tasks:
        _put_away(update)
    else:
        _move(update, details, block)
        chat.plan_turn = chat.turn.number
    update.dirty |= Dirty.PLAN


def drop_plan(update: Update) -> None:
    """Take that nobody follows the plan any more, if there is one."""
    chat = update.chat
    if chat.plan is not None:
        chat.plan = chat.plan_block = None
        update.dirty |= Dirty.PLAN


def turn_ended(update: Update) -> None:
    """Drop a plan of which the turn that ended has said nothing."""
    if update.chat.plan_turn < update.chat.turn.number:
        drop_plan(update)


def _put_away(update: Update) -> None:
    chat = update.chat
    if chat.plan_block is not None:
        update.auto_fold(chat.plan_block, chat.root, Fold.CLOSED)
    chat.plan = chat.plan_block = None


def _move(update: Update, plan: TaskList, block: ToolBlock) -> None:
    chat = update.chat
    before = chat.plan_block
    chat.plan, chat.plan_block = plan, block
    if before is not None and before is not block and before.nested is None:
        place = chat.root.blocks.index(before)
        update.remove(before, chat.root)
        for beside in chat.root.blocks[max(place - 1, 0) : place + 1]:
            if isinstance(beside, ToolBlock):
                join_neighbours(update, beside, chat.root)
        if before.fold not in AUTOMATIC_FOLDS:
            update.fold(block, chat.root, before.fold)
    unfinished = plan.done < len(plan.tasks)
    update.auto_fold(block, chat.root, Fold.OPEN if unfinished else Fold.CLOSED)

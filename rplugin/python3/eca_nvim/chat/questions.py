"""Questions: what the agent asks the user, and what became of it."""

from __future__ import annotations

from eca_nvim.chat.blocks import Fold, QuestionBlock, QuestionState
from eca_nvim.chat.effects import Changes, TellAnswer
from eca_nvim.chat.events import QuestionAsked
from eca_nvim.chat.model import Chat, Lane
from eca_nvim.chat.ops import BlockKind
from eca_nvim.chat.text import one_line
from eca_nvim.chat.update import Dirty, Update


def asked(update: Update, event: QuestionAsked) -> None:
    """Show a question and let it wait for the user."""
    block = QuestionBlock(update.mint(), BlockKind.QUESTION, Fold.OPEN, asked=event)
    update.add(block)
    update.chat.live[block.id] = (block, update.lane)
    update.chat.pending[block.id] = update.now
    update.dirty |= Dirty.PENDING | Dirty.STATUS
    update.emit("EcaQuestionAsked", {"id": event.id, "title": one_line(event.question)})


def answer_question(chat: Chat, question_id: str, text: str | None, now: int) -> Changes:
    """Answer a question that waits, or cancel it with None; a late answer does nothing."""
    update = Update(chat, chat.root, now)
    for block, lane in list(chat.live.values()):
        if isinstance(block, QuestionBlock) and block.asked.id == question_id:
            block.answer = text
            state = QuestionState.DISMISSED if text is None else QuestionState.ANSWERED
            _close(update, block, lane, state)
            update.tell(TellAnswer(question_id, text))
    return update.finish()


def dismiss(update: Update, block: QuestionBlock, lane: Lane) -> None:
    """End a question without an answer; the agent is told, because it asked."""
    _close(update, block, lane, QuestionState.DISMISSED)
    update.tell(TellAnswer(block.asked.id, None))


def dismiss_for_call(update: Update, call_id: str) -> None:
    """End the questions of a tool call that has ended."""
    for block, lane in list(update.chat.live.values()):
        if isinstance(block, QuestionBlock) and block.asked.tool_call_id == call_id:
            dismiss(update, block, lane)


def _close(update: Update, block: QuestionBlock, lane: Lane, state: QuestionState) -> None:
    block.state = state
    update.chat.live.pop(block.id, None)
    update.chat.pending.pop(block.id, None)
    update.dirty |= Dirty.PENDING | Dirty.STATUS
    update.auto_fold(block, lane, Fold.CLOSED)

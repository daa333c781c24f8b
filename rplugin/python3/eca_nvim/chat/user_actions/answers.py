"""Answers: what the user answers to a question, a form or a link.

Rules kept here:
- An answer is taken only if the question is still as it was shown (answer_check.py).
- A form is sent once all its fields are answered and fit; an answer that does not fit changes
  nothing, and the field is asked again with the reason.
- Declining is an answer of the user. What he does not answer is cancelled when the turn ends.
- A link is opened only by the user's answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from eca_nvim.chat.handlers.answer_check import check_answer
from eca_nvim.chat.handlers.questions import close_question, finish_question
from eca_nvim.chat.handlers.turn import stop
from eca_nvim.chat.model.blocks import (
    Block,
    Question,
    QuestionBlock,
    QuestionState,
    ToolBlock,
    open_question,
)
from eca_nvim.chat.model.changes import Changes
from eca_nvim.chat.model.chat import Chat, Lane
from eca_nvim.chat.model.form_progress import Answer, FormProgress
from eca_nvim.chat.update import Update
from eca_nvim.chat.vocabulary.effects import TellForm
from eca_nvim.chat.vocabulary.ops import OpenExternal

OPENED = "opened"


def answer_question(
    chat: Chat,
    block_id: int,
    digest: str,
    text: str | None,
    now: int,
    picked: Sequence[int] | None = None,
) -> Changes:
    """Answer the open question of a block; None cancels it, or declines a form or a link.

    digest: of the question as the user saw it (answer_check.py). picked: the numbers of choices
    of a form's field (1-based), instead of a text.
    """
    update = Update(chat, chat.root, now)
    if check_answer(update, block_id, digest, _typed(chat, block_id, text)):
        block, lane = chat.live[block_id]
        take_answer(update, block, lane, text if picked is None else tuple(picked))
    return update.finish()


def previous_field(chat: Chat, block_id: int, digest: str, now: int) -> Changes:
    """Ask the field before again."""
    update = Update(chat, chat.root, now)
    if check_answer(update, block_id, digest):
        block, lane = chat.live[block_id]
        question = open_question(block)
        if question is not None and question.progress is not None:
            question.progress.back()
            _ask_again(update, block, lane)
    return update.finish()


def asks_secret(chat: Chat, block_id: int) -> bool:
    """Return whether the question of a block asks for a secret now."""
    question = _question_of(chat, block_id)
    if question is None:
        return False
    field = question.progress and question.progress.current
    return question.asked.secret or bool(field and field.secret)


def take_answer(update: Update, block: Block, lane: Lane, answer: Answer | None) -> None:
    """Take the answer to the open question of a block, if there is one."""
    question = open_question(block)
    if question is None:
        return
    if question.progress is not None:
        _fill_in(update, block, lane, question, question.progress, answer)
    elif question.asked.link is not None:
        _follow(update, block, lane, question, question.asked.link, consents=answer is not None)
    elif answer is None and question.asked.in_login:
        stop(update)
    elif answer is None or isinstance(answer, str):
        close_question(update, block, lane, answer)


def _fill_in(
    update: Update,
    block: Block,
    lane: Lane,
    question: Question,
    progress: FormProgress,
    answer: Answer | None,
) -> None:
    """Take the answer to the field that is asked; send the form if it is complete."""
    if answer is None:
        finish_question(update, block, lane, QuestionState.DECLINED, None)
        update.tell(TellForm(question.asked.id, None))
    elif progress.take(answer):
        content = progress.content
        finish_question(update, block, lane, QuestionState.ANSWERED, progress.summary)
        update.tell(TellForm(question.asked.id, content))
    else:
        _ask_again(update, block, lane)


def _ask_again(update: Update, block: Block, lane: Lane) -> None:
    update.request_changed(block.id)
    update.redraw(block, lane, with_body=block.is_open)


def _follow(
    update: Update, block: Block, lane: Lane, question: Question, link: str, *, consents: bool
) -> None:
    state = QuestionState.ANSWERED if consents else QuestionState.DECLINED
    finish_question(update, block, lane, state, OPENED if consents else None)
    update.tell(TellForm(question.asked.id, {} if consents else None))
    if consents:
        update.ops.append(OpenExternal(link))


def _typed(chat: Chat, block_id: int, text: str | None) -> str | None:
    """Return an answer that may go back into the input: free text, and not a secret."""
    question = _question_of(chat, block_id)
    if question is None or text is None:
        return text
    is_chosen = question.asks_consent or question.offers(text)
    return None if is_chosen or asks_secret(chat, block_id) else text


def _question_of(chat: Chat, block_id: int) -> Question | None:
    block = chat.blocks.get(block_id)
    return block.question if isinstance(block, ToolBlock | QuestionBlock) else None

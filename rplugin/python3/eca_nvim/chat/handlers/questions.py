"""Questions: what the agent asks the user, and how each question ends.

A question and the tool call that asks it are one block.
"""

from eca_nvim.chat.handlers.call_groups import conceal, reveal
from eca_nvim.chat.model.blocks import (
    Block,
    Changes,
    Fold,
    Question,
    QuestionBlock,
    QuestionState,
    ToolBlock,
    open_question,
)
from eca_nvim.chat.model.chat import Chat, active_call
from eca_nvim.chat.model.form_progress import FormProgress
from eca_nvim.chat.text.safe_text import HIDDEN, one_line
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.vocabulary import call_details, events, ops, states

DONE = "done"
"""What is shown of a link once the agent says that what it is for has been done."""

_ASKING = frozenset({states.CallState.APPROVED, states.CallState.RUNNING})


def question_asked(update: Update, event: events.QuestionAsked) -> None:
    """Show a question and add it to what is pending."""
    if event.by_agent and update.chat.turn.state is states.Turn.LOGIN:
        close_login_question(update)
    question = Question(event)
    if event.form is not None:
        question.progress = FormProgress(event.form)
    block = _asking_call(update, event)
    if block is None:
        block = QuestionBlock(*update.place(), ops.BlockKind.QUESTION, Fold.OPEN, question=question)
        update.chat.live[block.id] = block
        update.add(block)
    else:
        block.question = question
        update.fold(block, Fold.OPEN)
    request = update.chat.ask(block, update.now)
    reveal(update, update.lane)
    update.dirty |= Dirty.PENDING | Dirty.STATUS
    update.emit("EcaQuestionAsked", {"id": request.id, "title": one_line(event.question)})


def _asking_call(update: Update, event: events.QuestionAsked) -> ToolBlock | QuestionBlock | None:
    """Return the call that asks; None if it has ended or already has an open question."""
    block = active_call(update.lane, call_details.ToolCall(event.tool_call_id or ""))
    asks = block is not None and block.state in _ASKING and not open_question(block)
    return block if asks else None


def replayed_question(dialogue: events.Dialogue) -> Question:
    """Return the closed question of a replayed call."""
    answered = dialogue.answer is not None
    state = QuestionState.ANSWERED if answered else QuestionState.DISMISSED
    return Question(dialogue.question, state, dialogue.answer)


def withdraw_question(chat: Chat, question_id: str, now: int, answer: str | None = None) -> Changes:
    """Close a question by the id its asker gave it, with an answer that came otherwise, or none."""
    update = Update(chat, chat.root, now)
    for block in list(chat.live.values()):
        question = open_question(block)
        if question is not None and question.asked.id == question_id:
            close_question(update, block, answer)
    return update.finish()


def asks_itself(chat: Chat) -> bool:
    """Return whether a question of the agent is open, not one that we ask for its login."""
    opened = map(open_question, chat.waiting)
    return any(it and it.asked.by_agent and not it.asked.in_login for it in opened)


def close_login_question(update: Update) -> None:
    """Close the question that we ask for a login of the agent: it goes on otherwise."""
    for block in update.chat.waiting:
        question = open_question(block)
        if question is not None and question.asked.in_login:
            finish_question(update, block, QuestionState.DISMISSED, None)


def dismiss(update: Update, block: Block) -> None:
    """Close the open question of a block, if any, without an answer."""
    if open_question(block):
        close_question(update, block, None)


def dismiss_for_call(update: Update, call: ToolBlock) -> None:
    """Close the questions of a tool call that has ended."""
    dismiss(update, call)
    for block in list(update.chat.live.values()):
        question = block.question if isinstance(block, QuestionBlock) else None
        if question and block.lane is call.lane and question.asked.tool_call_id == call.call.id:
            dismiss(update, block)


def close_question(update: Update, block: Block, answer: str | None) -> None:
    """Close a question and send the answer, or None; the agent always gets a reply.

    An answer that names an option is replaced by that option's label. Without an answer a login
    that has asked no question of its own gets nothing: only the user's stop cancels it.
    """
    question = open_question(block)
    assert question is not None
    option = None if answer is None else question.option(answer)
    answer = answer if option is None else option
    secret = question.asked.secret and answer and option is None
    state = QuestionState.DISMISSED if answer is None else QuestionState.ANSWERED
    finish_question(update, block, state, HIDDEN if secret else answer)
    if not question.asked.in_login:
        update.effects.append(lambda it: it.answer(question.asked.id, answer))
    elif answer is not None:
        update.effects.append(lambda it: it.answer_login(update.chat.id, answer))


def finish_question(update: Update, block: Block, state: QuestionState, answer: str | None) -> None:
    """Show how the open question of a block has ended."""
    question = open_question(block)
    assert question is not None
    question.state, question.answer = state, answer
    if question.progress is not None:
        question.progress.forget_secrets()
    if isinstance(block, QuestionBlock):
        update.chat.live.pop(block.id, None)
    block.request = None
    update.dirty |= Dirty.PENDING | Dirty.STATUS
    update.fold(block, Fold.CLOSED)
    conceal(update, block.lane)


def question_closed(update: Update, event: events.QuestionClosed) -> None:
    """Close a question that the agent waits for no more; it has its answer."""
    block = find_question(update.chat, event.id)
    if block is None:
        return
    question = block.question
    if question.state is QuestionState.WAITING:
        state = QuestionState.ANSWERED if event.is_done else QuestionState.DISMISSED
        finish_question(update, block, state, DONE if event.is_done else None)
    elif event.is_done and question.state is QuestionState.ANSWERED:
        question.answer = DONE
        update.redraw(block)


def find_question(chat: Chat, question_id: str) -> QuestionBlock | None:
    """Return the newest block with a question of this id."""
    shown = (it for it in reversed(chat.blocks.values()) if isinstance(it, QuestionBlock))
    return next((it for it in shown if it.question.asked.id == question_id), None)

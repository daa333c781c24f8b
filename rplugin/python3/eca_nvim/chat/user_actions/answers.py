"""Answers: a question, a form's field or a link as the user is asked it, and the answers.

Each text is cut to what a float can show; the block in the chat has all of it.
"""

from collections.abc import Sequence
from typing import Final

from eca_nvim.chat.handlers.call_steps import check_answer
from eca_nvim.chat.handlers.questions import close_question, finish_question
from eca_nvim.chat.handlers.turn import stop
from eca_nvim.chat.model.blocks import (
    Block,
    Changes,
    Question,
    QuestionBlock,
    QuestionState,
    ToolBlock,
    open_question,
)
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.field_values import offers_of, requirement, shown_value
from eca_nvim.chat.model.form_progress import LONGEST_DEFAULT, Answer, FormProgress
from eca_nvim.chat.render.question import CELLS, field_text
from eca_nvim.chat.text.safe_text import HIDDEN, clean, host_of, literal_name, one_line, truncate
from eca_nvim.chat.update import Update
from eca_nvim.chat.vocabulary import ops, requests

ACCEPT: Final = "accept"
OPEN: Final = "open this page"
MOST_LISTED: Final = 200
"""Most choices that are listed; the others can be typed."""
_CELLS: Final = 30
SKIP: Final = "skip"


def question_item(question: Question) -> dict[str, object]:
    """Build the keys of an item that are about the question."""
    asked, progress = question.asked, question.progress
    item: dict[str, object] = {"call": asked.id, "kind": "question"}
    if progress is not None and progress.current is not None:
        return item | _field(question, progress, progress.current)
    item["title"] = one_line(asked.question)
    if question.asks_consent:
        return item | _consent(question)
    return item | {
        "detail": clean(asked.question),
        "options": [[one_line(label), one_line(about)] for label, about in asked.options],
        "freeform": asked.allow_freeform,
        "secret": asked.secret or None,
    }


def question_behind(question: Question) -> object:
    """Return all that an answer is about, also what is not shown."""
    return question.asked, question.progress and question.progress.steps


def _consent(question: Question) -> dict[str, object]:
    """Return the keys of a link, or of a form without fields: yes or no."""
    link = question.asked.link
    return {
        "detail": field_text(question, None),
        "options": [[ACCEPT if link is None else OPEN, ""]],
        "freeform": False,
        "notes": [] if link is None else [f"host: {host_of(link)}"],
        "declines": True,
    }


def _field(
    question: Question, progress: FormProgress, field: requests.FormField
) -> dict[str, object]:
    offers = offers_of(field)[:MOST_LISTED]
    return {
        "title": truncate(one_line(field.title), CELLS),
        "detail": field_text(question, field),
        "options": [
            [truncate(one_line(it.name), CELLS), truncate(one_line(it.description), CELLS)]
            for it in offers
        ],
        "freeform": True,
        "notes": [" · ".join(_notes(progress, field))],
        "fault": progress.fault or None,
        "typed": clean(progress.typed) or None,
        "place": progress.place or None,
        "empty": _empty(progress, field),
        "back": progress.at > 0 or None,
        "yes_no": field.kind is requests.FieldKind.YES_NO or None,
        "several": field.kind is requests.FieldKind.SEVERAL or None,
        "secret": field.secret or None,
        "declines": True,
        "picks": True,
    }


def _notes(progress: FormProgress, field: requests.FormField) -> list[str]:
    """Return whether an answer is required, and what fits."""
    notes = ["required" if field.required else "optional"]
    if field.kind in _SAID or field.format or field.least is not None or field.most is not None:
        notes.append(requirement(field))
    if field.pattern:
        notes.append("the agent checks the pattern")
    if (value := progress.empty_answer) is not None:
        notes.append(f"an empty answer: take {_taken(field, value)}")
    elif progress.may_skip:
        notes.append(f"an empty answer: {SKIP}")
    if isinstance(field.default, str) and len(field.default) > LONGEST_DEFAULT:
        notes.append(f"its default of {len(field.default)} characters is too long to be taken")
    left = len(offers_of(field)) - MOST_LISTED
    if left > 0:
        notes.append(f"{left} more choices: type part of a name to find them")
    return notes


_SAID: Final = frozenset(
    {requests.FieldKind.WHOLE, requests.FieldKind.NUMBER, requests.FieldKind.SEVERAL}
)
"""Kinds of fields that cannot be seen from the question alone."""


def _empty(progress: FormProgress, field: requests.FormField) -> str | None:
    """Return what an empty answer does; None if it is not one."""
    value = progress.empty_answer
    if value is not None:
        whole = _taken(field, value)
        shown = truncate(whole, _CELLS)
        return f"take {shown}" if shown == whole else f"take {shown} (all of it is above)"
    return SKIP if progress.may_skip else None


def _taken(field: requests.FormField, value: requests.Value) -> str:
    """Return all of the value that an empty answer takes, in one line."""
    if field.secret:
        return HIDDEN
    if field.kind is not requests.FieldKind.TEXT or not isinstance(value, str):
        return shown_value(field, value)
    text = literal_name(value)
    return text if text == one_line(text) else f"'{text}'"


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

    digest: of the question as the user saw it (`check_answer`). picked: the numbers of choices
    of a form's field (1-based), instead of a text.
    """
    update = Update(chat, chat.root, now)
    if check_answer(update, block_id, digest, _typed(chat, block_id, text)):
        block = chat.live[block_id]
        take_answer(update, block, text if picked is None else tuple(picked))
    return update.finish()


def previous_field(chat: Chat, block_id: int, digest: str, now: int) -> Changes:
    """Ask the field before again."""
    update = Update(chat, chat.root, now)
    if check_answer(update, block_id, digest):
        block = chat.live[block_id]
        question = open_question(block)
        if question is not None and question.progress is not None:
            question.progress.back()
            _ask_again(update, block)
    return update.finish()


def asks_secret(chat: Chat, block_id: int) -> bool:
    """Return whether the question of a block asks for a secret now."""
    question = _question_of(chat, block_id)
    if question is None:
        return False
    field = question.progress and question.progress.current
    return question.asked.secret or bool(field and field.secret)


def take_answer(update: Update, block: Block, answer: Answer | None) -> None:
    """Take the answer to the open question of a block, if there is one."""
    question = open_question(block)
    if question is None:
        return
    if question.progress is not None:
        _fill_in(update, block, question, question.progress, answer)
    elif question.asked.link is not None:
        _follow(update, block, question, question.asked.link, consents=answer is not None)
    elif answer is None and question.asked.in_login:
        stop(update)
    elif answer is None or isinstance(answer, str):
        close_question(update, block, answer)


def _fill_in(
    update: Update,
    block: Block,
    question: Question,
    progress: FormProgress,
    answer: Answer | None,
) -> None:
    """Take the answer to the field that is asked; send the form if it is complete."""
    if answer is None:
        finish_question(update, block, QuestionState.DECLINED, None)
        update.effects.append(lambda it: it.answer_form(question.asked.id, None))
    elif progress.take(answer):
        content = progress.content
        finish_question(update, block, QuestionState.ANSWERED, progress.summary)
        update.effects.append(lambda it: it.answer_form(question.asked.id, content))
    else:
        _ask_again(update, block)


def _ask_again(update: Update, block: Block) -> None:
    update.request_changed(block)
    update.redraw(block, with_body=block.is_open)


def _follow(update: Update, block: Block, question: Question, link: str, *, consents: bool) -> None:
    state = QuestionState.ANSWERED if consents else QuestionState.DECLINED
    finish_question(update, block, state, OPENED if consents else None)
    update.effects.append(lambda it: it.answer_form(question.asked.id, {} if consents else None))
    if consents:
        update.ops.append(ops.OpenExternal(link))


def _typed(chat: Chat, block_id: int, text: str | None) -> str | None:
    """Return an answer that may go back into the input: free text, and not a secret."""
    question = _question_of(chat, block_id)
    if question is None or text is None:
        return text
    is_chosen = question.asks_consent or question.option(text) is not None
    return None if is_chosen or asks_secret(chat, block_id) else text


def _question_of(chat: Chat, block_id: int) -> Question | None:
    block = chat.blocks.get(block_id)
    return block.question if isinstance(block, ToolBlock | QuestionBlock) else None

"""Render question: shows a question, its options and the answer."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import Final

from eca_nvim.chat.model.blocks import Question, QuestionState
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.model.field_values import offers_of
from eca_nvim.chat.model.form_progress import FormProgress
from eca_nvim.chat.text.output import Body, cut, cut_characters
from eca_nvim.chat.text.safe_text import body_lines, one_line, truncate
from eca_nvim.chat.vocabulary.ops import Segment
from eca_nvim.chat.vocabulary.requests import FormField

CELLS = 120
FLOAT_LINES: Final = 30
FLOAT_CHARACTERS: Final = 800
"""Most of one text of a form that a float shows: the block in the chat has all of it."""

_LOOKS: Mapping[QuestionState, tuple[str, str]] = {
    QuestionState.WAITING: ("question", "EcaToolWaiting"),
    QuestionState.ANSWERED: ("done", "EcaToolDone"),
    QuestionState.DISMISSED: ("rejected", "EcaToolRejected"),
    QuestionState.DECLINED: ("rejected", "EcaToolRejected"),
}
_ENDS: Final[Mapping[QuestionState, str]] = {
    QuestionState.DISMISSED: " not answered",
    QuestionState.DECLINED: " declined",
}


def question_header(question: Question, settings: RenderSettings) -> Sequence[Segment]:
    """Return the header: the question, how far a form is answered, and the answer if any."""
    icon, group = _LOOKS[question.state]
    asked = truncate(one_line(question.asked.question), CELLS)
    if question.asked.in_login and question.state is QuestionState.DISMISSED:
        return [(asked, "EcaQuestion")]  # the agent's words, which may be its last: "cancelled"
    segments: list[Segment] = [(settings.icon(icon), group), (f" {asked}", "EcaQuestion")]
    if question.answer is not None:
        segments.append((f" → {truncate(one_line(question.answer), CELLS)}", "EcaToolTarget"))
    elif question.state in _ENDS:
        segments.append((_ENDS[question.state], "EcaMuted"))
    elif question.progress is not None and (place := question.progress.place):
        segments.append((f" {place}", "EcaMuted"))
    return segments


def stopped_question(question: Question, settings: RenderSettings) -> Sequence[Segment]:
    """Return the header of a question that can no longer be answered."""
    _, *asked = question_header(question, settings)
    group = "EcaToolRejected"
    return [(settings.icon("stopped"), group), *asked, (" stopped", group)]


def question_body(question: Question, limit: int | None) -> Body:
    """Return the body: a question too long for the header, the options, and a free-text answer.

    Of a form: the answers so far, and the field that is asked with its choices.
    """
    asked = question.asked
    is_long = "\n" in asked.question or len(asked.question) > CELLS
    lines = [*cut(body_lines(asked.question), limit).lines] if is_long else []
    if question.progress is not None:
        return cut([*lines, *_form_lines(question, question.progress, limit)], limit, language="")
    if asked.link is not None:
        return cut([*lines, one_line(asked.link)], limit, language="")
    for number, (label, description) in enumerate(asked.options, 1):
        tail = f" — {one_line(description)}" if description else ""
        lines.append(f"{number}. {one_line(label)}{tail}")
    if question.answer is not None and question.answer not in dict(asked.options):
        lines += [f"→ {line}" for line in cut(body_lines(question.answer), limit).lines]
    return Body(lines)


def _form_lines(question: Question, progress: FormProgress, limit: int | None) -> Iterator[str]:
    """Yield the lines of a form; choices beyond the limit are counted, not written out."""
    waits = question.state is QuestionState.WAITING
    for number, each in enumerate(progress.fields):
        shown = progress.shown(each)
        if number < progress.at or (shown is not None and not waits):
            yield f"{one_line(each.title)} → {'skipped' if shown is None else shown}"
    field = progress.current
    if field is not None and waits:
        yield one_line(field.title)
        if field.description:
            yield from (f"  {line}" for line in body_lines(field.description))
        if field.pattern:
            yield f"  pattern: {one_line(field.pattern)}"
        offers = offers_of(field)
        for number, offer in enumerate(offers[:limit], 1):
            about = f" — {one_line(offer.description)}" if offer.description else ""
            yield f"  {number}. {one_line(offer.name)}{about}"
        yield from repeat("", len(offers[limit:]) if limit is not None else 0)
    elif field is not None and progress.typed:
        yield f"{one_line(field.title)} → {one_line(progress.typed)} (it does not fit)"


def field_text(question: Question, field: FormField | None) -> str:
    """Return what the agent says of a question, or of a form's field, for a float: clean text.

    A link is whole; of other texts it has the beginning.
    """
    texts = [question.asked.question]
    if field is not None:
        texts += [field.title, field.description]
        texts.append(f"pattern: {field.pattern}" if field.pattern else "")
    beginnings = (cut(body_lines(text), FLOAT_LINES) for text in texts if text)
    lines = [line for it in beginnings for line in cut_characters(it, FLOAT_CHARACTERS).lines]
    return "\n".join([*lines, one_line(question.asked.link)] if question.asked.link else lines)

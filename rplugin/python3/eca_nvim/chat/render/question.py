"""Render question: shows a question, its options and the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eca_nvim.chat.model.blocks import Question, QuestionState
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.text.body import Body
from eca_nvim.chat.text.output import cut
from eca_nvim.chat.text.safe_text import body_lines, one_line, truncate
from eca_nvim.chat.vocabulary.ops import Segment

CELLS = 120

_LOOKS: Mapping[QuestionState, tuple[str, str]] = {
    QuestionState.WAITING: ("question", "EcaToolWaiting"),
    QuestionState.ANSWERED: ("done", "EcaToolDone"),
    QuestionState.DISMISSED: ("rejected", "EcaToolRejected"),
}


def question_header(question: Question, settings: RenderSettings) -> Sequence[Segment]:
    """Return the header: the question, and its answer if any."""
    icon, group = _LOOKS[question.state]
    asked = truncate(one_line(question.asked.question), CELLS)
    segments: list[Segment] = [(settings.icon(icon), group), (f" {asked}", "EcaQuestion")]
    if question.answer is not None:
        segments.append((f" → {truncate(one_line(question.answer), CELLS)}", "EcaToolTarget"))
    elif question.state is QuestionState.DISMISSED:
        segments.append((" not answered", "EcaMuted"))
    return segments


def stopped_question(question: Question, settings: RenderSettings) -> Sequence[Segment]:
    """Return the header of a question that can no longer be answered."""
    _, *asked = question_header(question, settings)
    group = "EcaToolRejected"
    return [(settings.icon("stopped"), group), *asked, (" stopped", group)]


def question_body(question: Question, limit: int | None) -> Body:
    """Return the body: a question of several lines, the options, and a free-text answer."""
    asked = question.asked
    lines = [*cut(body_lines(asked.question), limit).lines] if "\n" in asked.question else []
    for number, (label, description) in enumerate(asked.options, 1):
        tail = f" — {one_line(description)}" if description else ""
        lines.append(f"{number}. {one_line(label)}{tail}")
    if question.answer is not None and question.answer not in dict(asked.options):
        lines += [f"→ {line}" for line in cut(body_lines(question.answer), limit).lines]
    return Body(lines)

"""Question item: a question, a form's field or a link as the op `pending` has it.

Rules kept here: what the agent wrote is in `title`, `detail` and `options`; `notes`, `fault`,
`place` and `empty` are our own lines. Each text is cut to what a float can show; the block in the
chat has all of it.
"""

from __future__ import annotations

from typing import Final

from eca_nvim.chat.model.blocks import Question
from eca_nvim.chat.model.field_values import offers_of, requirement, shown_value
from eca_nvim.chat.model.form_progress import LONGEST_DEFAULT, FormProgress
from eca_nvim.chat.render.question import CELLS, field_text
from eca_nvim.chat.text.safe_text import HIDDEN, clean, literal_name, one_line, truncate
from eca_nvim.chat.text.web_links import host_of
from eca_nvim.chat.vocabulary.forms import FieldKind, FormField, Value

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


def _field(question: Question, progress: FormProgress, field: FormField) -> dict[str, object]:
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
        "yes_no": field.kind is FieldKind.YES_NO or None,
        "several": field.kind is FieldKind.SEVERAL or None,
        "secret": field.secret or None,
        "declines": True,
        "picks": True,
    }


def _notes(progress: FormProgress, field: FormField) -> list[str]:
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


_SAID: Final = frozenset({FieldKind.WHOLE, FieldKind.NUMBER, FieldKind.SEVERAL})
"""Kinds of fields that cannot be seen from the question alone."""


def _empty(progress: FormProgress, field: FormField) -> str | None:
    """Return what an empty answer does; None if it is not one."""
    value = progress.empty_answer
    if value is not None:
        whole = _taken(field, value)
        shown = truncate(whole, _CELLS)
        return f"take {shown}" if shown == whole else f"take {shown} (all of it is above)"
    return SKIP if progress.may_skip else None


def _taken(field: FormField, value: Value) -> str:
    """Return all of the value that an empty answer takes, in one line."""
    if field.secret:
        return HIDDEN
    if field.kind is not FieldKind.TEXT or not isinstance(value, str):
        return shown_value(field, value)
    text = literal_name(value)
    return text if text == one_line(text) else f"'{text}'"

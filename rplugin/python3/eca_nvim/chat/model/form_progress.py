"""Form progress: the answers to a form so far, and the field that is asked now."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import Struct, field

from eca_nvim.chat.model.field_values import (
    REQUIRED,
    Unfit,
    form_fault,
    picked_value,
    read_value,
    shown_value,
)
from eca_nvim.chat.text.safe_text import HIDDEN
from eca_nvim.chat.vocabulary.requests import FormField, Value

Answer: TypeAlias = str | Sequence[int]
"""What the user typed, or the numbers of the choices that they picked (1-based)."""

ACCEPTED = "accepted"
"""What is shown of a form that was sent without an answer."""


LONGEST_DEFAULT: Final = 1000
"""Characters of a default that is taken by an empty answer: what is taken is shown whole."""


def _default(field: FormField) -> Value | None:
    """Return the default of a field, unless nobody sees what it is."""
    is_long = isinstance(field.default, str) and len(field.default) > LONGEST_DEFAULT
    return None if is_long or field.secret else field.default


class FormProgress(Struct):
    """How far a form is answered; a form without fields only wants to be accepted.

    values: by the names of their fields; None is a field that was skipped. at: the field that is
    asked (0-based). fault: why its last answer does not fit, "" if none does not; typed: that
    answer, unless it is a secret. steps: changes with each answer, also with one that does not fit.
    """

    fields: Sequence[FormField]
    values: dict[str, Value | None] = field(default_factory=dict)
    at: int = 0
    fault: str = ""
    typed: str = ""
    steps: int = 0

    @property
    def current(self) -> FormField | None:
        """The field that is asked now."""
        return self.fields[self.at] if self.at < len(self.fields) else None

    @property
    def place(self) -> str:
        """Which field of how many is asked: "2 of 5"; "" if there is only one."""
        is_asked = self.current is not None and len(self.fields) > 1
        return f"{self.at + 1} of {len(self.fields)}" if is_asked else ""

    @property
    def empty_answer(self) -> Value | None:
        """What an empty answer means: the answer given before, else the default."""
        asked = self.current
        if asked is None:
            return None
        given = self.values.get(asked.name)
        return _default(asked) if given is None else given

    @property
    def may_skip(self) -> bool:
        """Whether the field that is asked needs no answer."""
        return self.current is not None and not self.current.required

    @property
    def content(self) -> Mapping[str, Value]:
        """What is sent."""
        return {name: value for name, value in self.values.items() if value is not None}

    def take(self, answer: Answer) -> bool:
        """Take an answer, and go to the next field; returns whether the form is complete."""
        self.steps += 1
        self.fault = self.typed = ""
        asked = self.current
        if asked is not None:
            try:
                self.values[asked.name] = self._read(asked, answer)
            except Unfit as fault:
                self.fault = str(fault)
                self.typed = answer if isinstance(answer, str) and not asked.secret else ""
                return False
            self.at += 1
        if self.current is not None:
            return False
        wrong = form_fault(self.fields, self.content)  # of the whole form, asked again there
        if wrong is not None:
            self.at, self.fault = wrong
        return wrong is None

    def _read(self, asked: FormField, answer: Answer) -> Value | None:
        if not isinstance(answer, str):
            return picked_value(asked, answer)
        if answer.strip():
            return read_value(asked, answer)
        if self.empty_answer is None and asked.required:
            raise Unfit(REQUIRED)
        return self.empty_answer

    def back(self) -> None:
        """Ask the field before again."""
        self.steps += 1
        self.at, self.fault, self.typed = max(0, self.at - 1), "", ""

    def forget_secrets(self) -> None:
        """Replace the secrets among the answers: the form was sent, or will not be."""
        for each in self.fields:
            if each.secret and self.values.get(each.name) is not None:
                self.values[each.name] = HIDDEN

    @property
    def summary(self) -> str:
        """The answers in one clean line."""
        given = (self.shown(each) for each in self.fields)
        return ", ".join(each for each in given if each is not None) or ACCEPTED

    def shown(self, asked: FormField) -> str | None:
        """Return the answer to a field as one clean line; None if it was skipped."""
        value = self.values.get(asked.name)
        if value is None:
            return None
        return HIDDEN if asked.secret else shown_value(asked, value)

"""Forms: what an agent wants to know from the user, field by field (ACP: elicitation).

All texts are the agent's: they are cleaned where they are drawn.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

Value: TypeAlias = str | int | float | bool | tuple[str, ...]
"""What a field is answered with; a tuple has the values of several choices."""


class FieldKind(StrEnum):
    """What a field can be answered with."""

    TEXT = "text"
    WHOLE = "whole number"
    NUMBER = "number"
    YES_NO = "yes or no"
    ONE = "one choice"
    SEVERAL = "several choices"


class TextFormat(StrEnum):
    """What a text must be."""

    EMAIL = "email"
    URI = "uri"
    DATE = "date"
    DATE_TIME = "date-time"


class Offer(Struct, frozen=True):
    """A choice: `value` is sent, `name` shown."""

    value: str
    name: str
    description: str = ""


class FormField(Struct, frozen=True, kw_only=True):
    """A question of a form.

    name: of the answer in what is sent. default: for an empty answer; it fits. least, most: a
    number, the characters of a text, or how many choices; both inclusive. pattern: one the agent
    checks, because a pattern of others may take for ever. secret: the answer is shown nowhere.
    """

    name: str
    kind: FieldKind
    title: str
    description: str = ""
    required: bool = False
    default: Value | None = None
    least: float | None = None
    most: float | None = None
    format: TextFormat | None = None
    pattern: str = ""
    offers: tuple[Offer, ...] = ()
    secret: bool = False

"""Elicitation: elicitation/create and elicitation/complete; the agent asks the user something.

A form has fields that a JSON Schema describes; a link is to be opened by the user.
"""

from typing import Any

from msgspec import field

from eca_nvim.protocol.base.types import Int, Notification, Request, Wire

FORM, URL = "form", "url"
"""The modes that are known here."""


class EnumOption(Wire, frozen=True):
    """A choice with a title."""

    const: str
    title: str = ""
    description: str | None = None


class CodexMeta(Wire, frozen=True):
    """What Codex says of a field: whether the answer is a secret."""

    is_secret: bool = False


class FieldMeta(Wire, frozen=True):
    """Members of `_meta` that are used here."""

    codex: CodexMeta | None = None


class Items(Wire, frozen=True):
    """The choices of an array: plain in `enum`, with titles in `any_of`."""

    enum: tuple[str, ...] | None = None
    any_of: tuple[EnumOption, ...] | None = None


class Field(Wire, frozen=True, kw_only=True):
    """A field of any type, with the members of all of them.

    `type`: string, number, integer, boolean or array, or a list of types. A string has choices in
    `enum` or `one_of`, an array in `items`.
    """

    type: Any = None
    title: str | None = None
    description: str | None = None
    default: str | bool | Int | float | tuple[str, ...] | None = None
    min_length: Int | None = None
    max_length: Int | None = None
    pattern: str | None = None
    format: str | None = None
    enum: tuple[str, ...] | None = None
    one_of: tuple[EnumOption, ...] | None = None
    minimum: Int | float | None = None
    maximum: Int | float | None = None
    items: Items = Items()
    min_items: Int | None = None
    max_items: Int | None = None
    meta: FieldMeta | None = field(default=None, name="_meta")


class FormSchema(Wire, frozen=True):
    """The fields of a form by their names, in the order in which they are asked."""

    title: str | None = None
    description: str | None = None
    properties: dict[str, Field] = field(default_factory=dict)
    required: tuple[str, ...] | None = None


class ElicitationResult(Wire, frozen=True, omit_defaults=True):
    """The answer: `accept` with the values of a form's fields, `decline` or `cancel`."""

    action: str
    content: dict[str, Any] | None = None


class CreateElicitation(Request[ElicitationResult], frozen=True, kw_only=True):
    """Ask the user to fill in a form, or to open a link.

    session_id: None if it is about one of our requests outside of a session, as a login is.
    """

    method = "elicitation/create"
    message: str = ""
    mode: str = FORM
    session_id: str | None = None
    requested_schema: FormSchema | None = None
    elicitation_id: str | None = None
    url: str | None = None


class ElicitationCompleted(Notification, frozen=True):
    """What the user was to do behind a link has been done."""

    method = "elicitation/complete"
    elicitation_id: str

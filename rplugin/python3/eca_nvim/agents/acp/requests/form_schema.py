"""Form schema: the fields of a form, read from the JSON Schema that describes them.

Rules kept here:
- A field of an unknown type is asked as text if it can be a string. Else it is left out if it is
  optional, and the whole form cannot be asked if it is required.
- A default that does not fit its own field is none.
- What an agent sends is bounded: in fields, in choices, and in characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from eca_nvim.agents.acp.faults import one_line
from eca_nvim.chat.model.field_values import fault_of
from eca_nvim.chat.vocabulary.forms import FieldKind, FormField, Offer, TextFormat, Value
from eca_nvim.protocol.acp.elicitation import (
    ArrayField,
    BooleanField,
    EnumOption,
    Field,
    FieldMeta,
    FormSchema,
    IntegerField,
    NumberField,
    StringField,
    UnknownField,
)

MOST_FIELDS: Final = 100
MOST_OFFERS: Final = 20_000
MOST_CHARACTERS: Final = 4_000_000
_MOST_TITLE: Final = 1000
_SECRET: Final = "password"  # noqa: S105 - the name of a format
_FORMATS: Final[Mapping[str, TextFormat]] = {it.value: it for it in TextFormat}


class CannotAsk(Exception):
    """Raised for a form that cannot be asked; the message is one line."""


class ReadForm(Struct, frozen=True):
    """The fields of a form; `left_out`: the names of those that cannot be asked."""

    fields: tuple[FormField, ...]
    left_out: tuple[str, ...] = ()


def read_form(schema: FormSchema) -> ReadForm:
    """Read a form. Raises CannotAsk."""
    if len(schema.properties) > MOST_FIELDS:
        raise CannotAsk(f"it has more than {MOST_FIELDS} fields")
    fields = list[FormField]()
    left_out = list[str]()
    required = frozenset(schema.required or ())
    for name, described in schema.properties.items():
        field = _field(name, described, required=name in required)
        if field is not None:
            fields.append(field)
        elif name in required:
            raise CannotAsk(f"its field {_quoted(name)} is of a type that is not known here")
        else:
            left_out.append(_quoted(name))
    _check_size(fields)
    return ReadForm(tuple(fields), tuple(left_out))


def _check_size(fields: Sequence[FormField]) -> None:
    if sum(len(it.offers) for it in fields) > MOST_OFFERS:
        raise CannotAsk(f"it has more than {MOST_OFFERS} choices")
    if sum(map(_characters, fields)) > MOST_CHARACTERS:
        raise CannotAsk(f"it has more than {MOST_CHARACTERS} characters")


def _characters(field: FormField) -> int:
    texts = (field.name, field.description, field.pattern, str(field.default or ""))
    offers = sum(len(it.value) + len(it.name) + len(it.description) for it in field.offers)
    return sum(map(len, texts)) + offers


def _field(name: str, described: Field, *, required: bool) -> FormField | None:
    default: Value | None
    match described:
        case StringField():
            field, default = _text(name, described), described.default
        case IntegerField() | NumberField():
            field, default = _number(name, described), described.default
        case BooleanField():
            field, default = _of_kind(name, described, FieldKind.YES_NO), described.default
        case ArrayField():
            return _several(name, described, required=required)
        case UnknownField(fields=wire):
            return _string_like(name, wire, required=required)
    return _with_default(replace(field, required=required), default)


def _text(name: str, described: StringField) -> FormField:
    titled = _offers(described.one_of, described.enum)
    field = _of_kind(name, described, FieldKind.ONE if titled else FieldKind.TEXT)
    if titled:
        return replace(field, offers=titled)
    return replace(
        field,
        least=described.min_length or None,
        most=described.max_length,
        format=_FORMATS.get(described.format or ""),
        pattern=described.pattern or "",
        secret=described.format == _SECRET or _is_secret(described.meta),
    )


def _number(name: str, described: IntegerField | NumberField) -> FormField:
    kind = FieldKind.WHOLE if isinstance(described, IntegerField) else FieldKind.NUMBER
    field = _of_kind(name, described, kind)
    return replace(field, least=described.minimum, most=described.maximum)


def _several(name: str, described: ArrayField, *, required: bool) -> FormField | None:
    offers = _offers(described.items.any_of, described.items.enum)
    if not offers:
        return None
    field = replace(
        _of_kind(name, described, FieldKind.SEVERAL),
        required=required,
        offers=offers,
        least=described.min_items or None,
        most=described.max_items,
    )
    return _with_default(field, described.default or None)


def _string_like(name: str, wire: Mapping[str, Any], *, required: bool) -> FormField | None:
    """Return a field whose type is not known as a text, if it can be a string."""
    kind = wire.get("type")
    if kind is not None and not (isinstance(kind, list) and "string" in kind):
        return None
    title, description = wire.get("title"), wire.get("description")
    return FormField(
        name=name,
        kind=FieldKind.TEXT,
        title=title[:_MOST_TITLE] if isinstance(title, str) and title else name,
        description=description if isinstance(description, str) else "",
        required=required,
    )


def _of_kind(
    name: str,
    described: StringField | IntegerField | NumberField | BooleanField | ArrayField,
    kind: FieldKind,
) -> FormField:
    title = (described.title or name)[:_MOST_TITLE]
    return FormField(name=name, kind=kind, title=title, description=described.description or "")


def _offers(titled: Iterable[EnumOption] | None, plain: Iterable[str] | None) -> tuple[Offer, ...]:
    """Return the choices, each value once."""
    found = dict[str, Offer]()
    for option in titled or ():
        offer = Offer(option.const, option.title or option.const, option.description or "")
        found.setdefault(option.const, offer)
    for value in () if found else plain or ():
        found.setdefault(value, Offer(value, value))
    return tuple(found.values())


def _with_default(field: FormField, default: Value | None) -> FormField:
    fits = default is not None and fault_of(field, default) is None
    return replace(field, default=default) if fits else field


def _is_secret(meta: FieldMeta | None) -> bool:
    return bool(meta and meta.codex and meta.codex.is_secret)


def _quoted(name: str) -> str:
    return f"'{one_line(name)[:40]}'"

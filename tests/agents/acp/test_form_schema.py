"""Forms of ACP agents: how the JSON Schema of a form is read, and what cannot be asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest

from eca_nvim.agents.acp.requests.forms import (
    MOST_CHARACTERS,
    MOST_FIELDS,
    MOST_OFFERS,
    CannotAsk,
    read_form,
)
from eca_nvim.chat.vocabulary.requests import FieldKind, FormField, Offer, TextFormat
from eca_nvim.protocol.acp import decode_agent_request
from eca_nvim.protocol.acp.elicitation import CreateElicitation


def read(
    properties: Mapping[str, Any], *required: str
) -> tuple[tuple[FormField, ...], Sequence[str]]:
    """Read a form as it is on the wire."""
    schema = {"type": "object", "properties": properties, "required": required}
    asked = {"sessionId": "s", "mode": "form", "message": "m", "requestedSchema": schema}
    raw = msgspec.Raw(msgspec.json.encode(asked))
    request = decode_agent_request("elicitation/create", raw)
    assert isinstance(request, CreateElicitation)
    assert request.requested_schema is not None
    return read_form(request.requested_schema)


def only(described: Mapping[str, Any], *required: str) -> FormField:
    [field], _ = read({"x": described}, *required)
    return field


def test_a_text_with_all_that_it_may_have() -> None:
    described = {
        "type": "string",
        "title": "Mail",
        "description": "Yours.",
        "minLength": 3,
        "maxLength": 30,
        "pattern": "@",
        "format": "email",
        "default": "a@b",
    }
    assert only(described, "x") == FormField(
        name="x",
        kind=FieldKind.TEXT,
        title="Mail",
        description="Yours.",
        required=True,
        default="a@b",
        least=3,
        most=30,
        format=TextFormat.EMAIL,
        pattern="@",
    )


@pytest.mark.parametrize(
    ("described", "kind", "limits"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 5, "default": 2}, FieldKind.WHOLE, (1, 5)),
        ({"type": "number", "maximum": 0.5, "default": 0}, FieldKind.NUMBER, (None, 0.5)),
        ({"type": "boolean", "default": False}, FieldKind.YES_NO, (None, None)),
    ],
)
def test_numbers_and_booleans(
    described: Mapping[str, Any], kind: FieldKind, limits: tuple[float | None, float | None]
) -> None:
    field = only(described)
    assert (field.kind, (field.least, field.most), field.required) == (kind, limits, False)
    assert field.default == described["default"]


def test_choices_with_and_without_titles() -> None:
    plain = only({"type": "string", "enum": ["a", "b", "a"], "default": "b"})
    assert (plain.kind, plain.default) == (FieldKind.ONE, "b")
    assert plain.offers == (Offer("a", "a"), Offer("b", "b"))
    titled = {"oneOf": [{"const": "a", "title": "A", "description": "first"}, {"title": "no"}]}
    assert only({"type": "string"} | titled).offers == (Offer("a", "A", "first"),)
    many = {"type": "array", "minItems": 0, "maxItems": 2, "default": ["a"]}
    several = only(many | {"items": {"type": "string", "enum": ["a", "b"]}})
    assert (several.kind, several.default, several.most) == (FieldKind.SEVERAL, ("a",), 2)
    assert several.least is None
    assert only(many | {"items": {"anyOf": [{"const": "a", "title": "A"}]}}).offers[0].name == "A"


@pytest.mark.parametrize(
    "described",
    [
        {"type": "integer", "maximum": 5, "default": 9},
        {"type": "string", "enum": ["a"], "default": "b"},
        {"type": "string", "format": "date", "default": "tomorrow"},
        {"type": "integer", "default": "nine", "minimum": "x"},
    ],
)
def test_a_default_that_does_not_fit_is_none(described: Mapping[str, Any]) -> None:
    assert only(described).default is None


def test_secrets_are_marked() -> None:
    assert only({"type": "string", "format": "password"}).secret
    assert only({"type": "string", "_meta": {"codex": {"isSecret": True}}}).secret
    assert not only({"type": "string", "_meta": {"codex": {"isSecret": False}, "z": 1}}).secret


@pytest.mark.parametrize("described", [{"title": "T"}, {"title": "T", "type": ["string", "null"]}])
def test_what_can_be_a_string_is_a_text(described: Mapping[str, Any]) -> None:
    field = only(described, "x")
    assert (field.kind, field.title, field.required) == (FieldKind.TEXT, "T", True)


UNKNOWN: list[Mapping[str, Any]] = [
    {"type": "object", "properties": {}},
    {"type": "_colour"},
    {"type": "array", "items": {"type": "number"}},
    {"type": "array"},
    {"type": 7},
]


@pytest.mark.parametrize("described", UNKNOWN)
def test_an_unknown_field_is_left_out_if_it_may_be(described: Mapping[str, Any]) -> None:
    [field], left_out = read({"b": {"type": "boolean"}, "x\x07": described})
    assert field.name == "b"
    assert left_out == ["'x␇'"]
    with pytest.raises(CannotAsk, match="is of a type that is not known here"):
        read({"x\x07": described}, "x\x07")


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        ({str(n): {"type": "string"} for n in range(MOST_FIELDS + 1)}, "fields"),
        ({"x": {"type": "string", "enum": [str(n) for n in range(MOST_OFFERS + 1)]}}, "choices"),
        ({"x": {"type": "string", "description": "d" * (MOST_CHARACTERS + 1)}}, "characters"),
    ],
)
def test_a_form_is_bounded(properties: Mapping[str, Any], reason: str) -> None:
    with pytest.raises(CannotAsk, match=reason):
        read(properties)

"""What fits a field of a form: everything that is read fits, everything else is one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from eca_nvim.chat.model.field_values import (
    REQUIRED,
    Unfit,
    fault_of,
    form_fault,
    picked_value,
    read_value,
    requirement,
    shown_value,
)
from eca_nvim.chat.vocabulary.requests import FieldKind, FormField, Offer, TextFormat, Value

COLOURS = (
    Offer("r", "Red", "warm"),
    Offer("lb", "light blue"),
    Offer("db", "dark\nblue"),
    Offer("3", "Green, yellow"),
)


def field(kind: FieldKind, **more: object) -> FormField:
    return replace(FormField(name="x", kind=kind, title="X"), **more)


WHOLE = field(FieldKind.WHOLE, least=1, most=10)
NUMBER = field(FieldKind.NUMBER, least=0.5)
TEXT = field(FieldKind.TEXT, least=3, most=5)
YES_NO = field(FieldKind.YES_NO)
ONE = field(FieldKind.ONE, offers=COLOURS)
SEVERAL = field(FieldKind.SEVERAL, offers=COLOURS, least=1, most=2)
FORMATS = {it: field(FieldKind.TEXT, format=it) for it in TextFormat}


@pytest.mark.parametrize(
    ("asked", "typed", "value"),
    [
        (WHOLE, " 7 ", 7),
        (WHOLE, "+10", 10),
        (NUMBER, "0.5", 0.5),
        (NUMBER, "1e3", 1000.0),
        (NUMBER, "3", 3),
        (TEXT, "a b", "a b"),
        (TEXT, "🙂🙂🙂🙂🙂", "🙂🙂🙂🙂🙂"),
        (YES_NO, "Y", True),
        (YES_NO, "2", False),
        (ONE, "red", "r"),
        (ONE, "r", "r"),
        (ONE, "2", "lb"),
        (ONE, "3", "3"),  # a value comes before a number
        (ONE, "dark blue", "db"),
        (ONE, "green, Yellow", "3"),
        (SEVERAL, "1 2", ("r", "lb")),
        (SEVERAL, "light blue, red, 1", ("lb", "r")),
        (SEVERAL, "Green, yellow", ("3",)),
        (FORMATS[TextFormat.EMAIL], "a@b.example", "a@b.example"),
        (FORMATS[TextFormat.EMAIL], " a@b \n", "a@b"),
        (FORMATS[TextFormat.URI], "urn:isbn:1", "urn:isbn:1"),
        (FORMATS[TextFormat.DATE], "2026-02-28", "2026-02-28"),
        (FORMATS[TextFormat.DATE_TIME], "2026-02-28T01:02:03+01:00", "2026-02-28T01:02:03+01:00"),
    ],
)
def test_what_fits_is_read(asked: FormField, typed: str, value: Value) -> None:
    assert read_value(asked, typed) == value
    assert type(read_value(asked, typed)) is type(value)
    assert fault_of(asked, value) is None


@pytest.mark.parametrize(
    ("asked", "typed", "fault"),
    [
        (WHOLE, "12", "it must be a whole number from 1 to 10, not 12"),
        (WHOLE, "x\x1b[31m\ny", "'x y' is not a whole number from 1 to 10"),
        (WHOLE, "1_0", "'1_0' is not a whole number from 1 to 10"),
        (WHOLE, "٣", "'٣' is not a whole number from 1 to 10"),
        (WHOLE, "9" * 5000, f"'{'9' * 39}…' is not a whole number from 1 to 10"),
        (NUMBER, "nan", "this is not a number of at least 0.5"),
        (NUMBER, "1e999", "this is not a number of at least 0.5"),
        (NUMBER, "0.25", "it must be a number of at least 0.5, not 0.25"),
        (TEXT, "ab", "it must be a text of 3 to 5 characters, it has 2"),
        (YES_NO, "maybe", "'maybe' is not yes or no"),
        (ONE, "blue", "'blue' is not one of the choices, like it: 2 light blue, 3 dark blue"),
        (ONE, "5", "'5' is not one of the choices, type the number or the name of one"),
        (SEVERAL, "1 2 3", "it must be a list of 1 to 2 choices, it has 3"),
        (SEVERAL, "red, mauve", "'mauve' is not one of the choices, type the number or the name "),
        (FORMATS[TextFormat.EMAIL], "a@b@c", "'a@b@c' is not an e-mail address"),
        (FORMATS[TextFormat.URI], "no", "'no' is not a URI like https://example.com/"),
        (FORMATS[TextFormat.DATE], "2026-02-30", "'2026-02-30' is not a date like 2026-03-31"),
        (
            FORMATS[TextFormat.DATE_TIME],
            "2026-02-28",
            "'2026-02-28' is not a time like 2026-03-31T",
        ),
    ],
)
def test_what_does_not_fit_is_one_line_that_says_what_does(
    asked: FormField, typed: str, fault: str
) -> None:
    with pytest.raises(Unfit) as unfit:
        read_value(asked, typed)
    assert str(unfit.value).startswith(fault)
    assert str(unfit.value).isprintable()


def test_a_fault_repeats_no_secret() -> None:
    with pytest.raises(Unfit) as unfit:
        read_value(replace(TEXT, format=TextFormat.EMAIL, secret=True), "s3cret")
    assert "s3cret" not in str(unfit.value)


def test_a_pattern_is_never_run() -> None:
    evil = field(FieldKind.TEXT, pattern="^(a+)+$")
    assert read_value(evil, "a" * 100_000 + "!") == "a" * 100_000 + "!"


def test_choices_are_picked_by_their_places_even_if_names_are_alike() -> None:
    alike = replace(ONE, offers=(Offer("a", "Same"), Offer("b", "Same")))
    assert picked_value(alike, [2]) == "b"
    assert picked_value(SEVERAL, [1, 4]) == ("r", "3")
    assert picked_value(YES_NO, [2]) is False
    for numbers in ([], [9], [0]):
        with pytest.raises(Unfit):
            picked_value(ONE, numbers)


LIMITS = st.none() | st.integers(-5, 5) | st.floats(-5, 5)
FIELDS = st.builds(
    FormField,
    name=st.text(max_size=3),
    kind=st.sampled_from(FieldKind),
    title=st.text(max_size=5),
    required=st.booleans(),
    least=LIMITS,
    most=LIMITS,
    format=st.none() | st.sampled_from(TextFormat),
    offers=st.lists(st.builds(Offer, st.text(max_size=3), st.text(max_size=3))).map(tuple),
    secret=st.booleans(),
)


@given(FIELDS, st.text() | st.from_regex(r"[0-9 ,.+-]*", fullmatch=True))
def test_what_is_read_fits_and_what_is_said_is_one_line(asked: FormField, typed: str) -> None:
    said = [requirement(asked)]
    try:
        value = read_value(asked, typed)
    except Unfit as unfit:
        said.append(str(unfit))
    else:
        assert fault_of(asked, value) is None
        assert form_fault([asked], {asked.name: value}) is None
        said.append(shown_value(asked, value))
    assert not any("\n" in line for line in said)


def test_a_whole_form_is_checked() -> None:
    fields = [replace(WHOLE, name="n", required=True), replace(ONE, name="c")]
    assert form_fault(fields, {"n": 3, "c": "r"}) is None
    assert form_fault(fields, {"n": 3}) is None
    assert form_fault(fields, {"c": "r"}) == (0, REQUIRED)
    assert form_fault(fields, {"n": 3, "c": "mauve"}) == (1, "this is not one of the choices")
    assert form_fault(fields, {"n": True}) == (0, "this is not a whole number from 1 to 10")

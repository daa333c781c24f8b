"""Field values: reads what the user typed for a field of a form, and says what fits.

A fault is one clean line that says what would fit; it never repeats a secret.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from itertools import islice
from math import isfinite
from typing import Final
from urllib.parse import urlsplit

from eca_nvim.chat.text.safe_text import one_line, truncate
from eca_nvim.chat.vocabulary import requests

REQUIRED: Final = "an answer is required"
YES_NO: Final = (requests.Offer("yes", "yes"), requests.Offer("no", "no"))
_YES, _NO = frozenset({"yes", "y", "true", "on", "1"}), frozenset({"no", "n", "false", "off", "2"})
_MOST_DIGITS: Final = 40
_MOST_INT: Final = 2**63 - 1
_CELLS: Final = 40
_MOST_LIKE: Final = 3


class Unfit(ValueError):
    """Raised for an answer that does not fit; the message is one line."""


def offers_of(field: requests.FormField) -> Sequence[requests.Offer]:
    """Return what the user can choose from."""
    return YES_NO if field.kind is requests.FieldKind.YES_NO else field.offers


def read_value(field: requests.FormField, typed: str) -> requests.Value:
    """Read an answer that is not blank. Raises Unfit."""
    return _fitting(field, _READERS[field.kind](field, typed))


def _fitting(field: requests.FormField, value: requests.Value) -> requests.Value:
    fault = fault_of(field, value)
    if fault is not None:
        raise Unfit(fault)
    return value


def picked_value(field: requests.FormField, numbers: Sequence[int]) -> requests.Value:
    """Return the choices with these numbers (1-based) as a value. Raises Unfit."""
    offers = offers_of(field)
    picked = tuple(offers[it - 1].value for it in numbers if 0 < it <= len(offers))
    value: requests.Value = picked
    if field.kind is not requests.FieldKind.SEVERAL:
        chosen = picked[0] if picked else ""
        value = chosen == YES_NO[0].value if field.kind is requests.FieldKind.YES_NO else chosen
    return _fitting(field, value)


def fault_of(field: requests.FormField, value: requests.Value) -> str | None:
    """Return why a value does not fit a field."""
    match field.kind, value:
        case requests.FieldKind.YES_NO, bool():
            return None
        case requests.FieldKind.WHOLE, int(number) if _is_number(number):
            return _fault_of_size(field, number)
        case requests.FieldKind.NUMBER, int(number) | float(number) if _is_number(number):
            return _fault_of_size(field, number)
        case requests.FieldKind.TEXT, str(text):
            return _fault_of_text(field, text)
        case requests.FieldKind.ONE, str(chosen) if any(chosen == it.value for it in field.offers):
            return None
        case requests.FieldKind.SEVERAL, tuple(chosen) if {
            it.value for it in field.offers
        }.issuperset(chosen):
            return _fault_of_size(field, len(chosen))
        case _:
            return f"this is not {requirement(field)}"


def form_fault(
    fields: Sequence[requests.FormField], values: Mapping[str, requests.Value]
) -> tuple[int, str] | None:
    """Return the first field (0-based) whose answer is missing or does not fit, and why."""
    for index, field in enumerate(fields):
        value = values.get(field.name)
        fault = None if value is None else fault_of(field, value)
        if value is None and field.required:
            fault = REQUIRED
        if fault is not None:
            return index, fault
    return None


def requirement(field: requests.FormField) -> str:
    """Return what fits a field: "a whole number from 1 to 10"."""
    what = _FORMATS[field.format][0] if field.format else _WHAT[field.kind]
    limits = _limits(field)
    return f"{what} {limits}" if limits else what


def shown_value(field: requests.FormField, value: requests.Value) -> str:
    """Return a value as one clean line; choices by their names."""
    match value:
        case bool():
            return "yes" if value else "no"
        case str() | tuple():
            names = {offer.value: offer.name for offer in field.offers}
            values = (value,) if isinstance(value, str) else value
            return ", ".join(one_line(names.get(each, each)) for each in values)
        case _:
            return str(value)


# --- reading ------------------------------------------------------------------------------------


def _text(field: requests.FormField, typed: str) -> str:
    return typed.strip() if field.format else typed


def _whole(field: requests.FormField, typed: str) -> int:
    try:
        return int(_plain_number(typed))
    except ValueError:
        raise _unfit(field, typed) from None


def _number(field: requests.FormField, typed: str) -> float:
    try:
        plain = _plain_number(typed)
        return int(plain) if plain.lstrip("+-").isdigit() else float(plain)
    except ValueError:
        raise _unfit(field, typed) from None


def _plain_number(typed: str) -> str:
    """Return a number as Python reads it. Raises ValueError for what only Python would read."""
    plain = typed.strip()
    if len(plain) > _MOST_DIGITS or not plain.isascii() or "_" in plain:
        raise ValueError
    return plain


def _yes_no(field: requests.FormField, typed: str) -> bool:
    word = typed.strip().casefold()
    if word not in _YES | _NO:
        raise _unfit(field, typed)
    return word in _YES


def _one(field: requests.FormField, typed: str) -> str:
    chosen = Named(field.offers).find(typed)
    if chosen is None:
        raise Unfit(_no_offer(field, typed))
    return chosen


def _several(field: requests.FormField, typed: str) -> tuple[str, ...]:
    named = Named(field.offers)
    whole = named.find(typed)
    if whole is not None:
        return (whole,)
    words = typed.split(",") if "," in typed else typed.split()
    chosen = dict[str, None]()
    for word in words:
        found = named.find(word)
        if found is None:
            raise Unfit(_no_offer(field, word))
        chosen[found] = None
    return tuple(chosen)


_READERS: Final[
    Mapping[requests.FieldKind, Callable[[requests.FormField, str], requests.Value]]
] = {
    requests.FieldKind.TEXT: _text,
    requests.FieldKind.WHOLE: _whole,
    requests.FieldKind.NUMBER: _number,
    requests.FieldKind.YES_NO: _yes_no,
    requests.FieldKind.ONE: _one,
    requests.FieldKind.SEVERAL: _several,
}


class Named:
    """Choices by what a user may call them: value, name or number (1-based), in this order."""

    def __init__(self, offers: Sequence[requests.Offer]) -> None:
        names = [one_line(offer.name) for offer in offers]
        folded = [name.casefold() for name in names]
        numbers = [str(number) for number in range(1, len(offers) + 1)]
        values = [offer.value for offer in offers]
        self._values = dict[str, str]()
        for words in (numbers, folded, names, values):  # what is set last counts
            self._values |= dict(zip(reversed(words), reversed(values), strict=True))

    def find(self, typed: str) -> str | None:
        """Return the value of the choice that is meant."""
        word = one_line(typed)
        known = (self._values.get(it) for it in (typed, word, word.casefold()))
        return next((value for value in known if value is not None), None)


def _no_offer(field: requests.FormField, typed: str) -> str:
    word = one_line(typed).casefold()
    numbered = ((number, one_line(it.name)) for number, it in enumerate(field.offers, 1))
    like = (
        f"{number} {truncate(name, _CELLS)}" for number, name in numbered if word in name.casefold()
    )
    found = ", ".join(islice(like, _MOST_LIKE)) if word else ""
    hint = f"like it: {found}" if found else "type the number or the name of one"
    return f"{_quoted(typed)} is not one of the choices, {hint}"


# --- what fits ----------------------------------------------------------------------------------


def _is_number(value: float) -> bool:
    return not isinstance(value, bool) and isfinite(value) and abs(value) <= _MOST_INT


def _fault_of_size(field: requests.FormField, size: float) -> str | None:
    is_low = field.least is not None and size < field.least
    is_high = field.most is not None and size > field.most
    if not is_low and not is_high:
        return None
    verb = "it has" if field.kind in _UNITS else "not"
    return f"it must be {requirement(field)}, {verb} {_plain(size)}"


def _fault_of_text(field: requests.FormField, value: str) -> str | None:
    fits = _FORMATS[field.format][1] if field.format else None
    if fits is not None and not fits(value):
        return str(_unfit(field, value))
    return _fault_of_size(field, len(value))


def _unfit(field: requests.FormField, typed: str) -> Unfit:
    word = "this" if field.secret else _quoted(typed)
    return Unfit(f"{word} is not {requirement(field)}")


def _quoted(typed: str) -> str:
    return f"'{truncate(one_line(typed), _CELLS)}'"


def _limits(field: requests.FormField) -> str:
    least, most, unit = field.least, field.most, _UNITS.get(field.kind, "")
    if least is None and most is None:
        return ""
    if most is None:
        return f"of at least {_counted(least or 0, unit)}"
    if least is None:
        return f"of at most {_counted(most, unit)}"
    if least == most:
        return f"of exactly {_counted(most, unit)}"
    return f"{'of' if unit else 'from'} {_plain(least)} to {_counted(most, unit)}"


def _counted(number: float, unit: str) -> str:
    return f"{_plain(number)} {unit}{'' if number == 1 else 's'}" if unit else _plain(number)


def _plain(number: float) -> str:
    return str(int(number)) if isfinite(number) and number == int(number) else str(number)


_WHAT: Final[Mapping[requests.FieldKind, str]] = {
    requests.FieldKind.TEXT: "a text",
    requests.FieldKind.WHOLE: "a whole number",
    requests.FieldKind.NUMBER: "a number",
    requests.FieldKind.YES_NO: "yes or no",
    requests.FieldKind.ONE: "one of the choices",
    requests.FieldKind.SEVERAL: "a list",
}
_UNITS: Final = {requests.FieldKind.TEXT: "character", requests.FieldKind.SEVERAL: "choice"}


def _is_email(text: str) -> bool:
    name, at, domain = text.partition("@")
    return bool(name and at and domain) and "@" not in domain and not any(map(str.isspace, text))


def _is_uri(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    blank = any(map(str.isspace, text))
    return bool(parts.scheme and (parts.netloc or parts.path)) and not blank


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _is_date_time(text: str) -> bool:
    try:
        return len(text) <= _MOST_DIGITS and datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


_FORMATS: Final[Mapping[requests.TextFormat, tuple[str, Callable[[str], bool]]]] = {
    requests.TextFormat.EMAIL: ("an e-mail address", _is_email),
    requests.TextFormat.URI: ("a URI like https://example.com/", _is_uri),
    requests.TextFormat.DATE: ("a date like 2026-03-31", _is_date),
    requests.TextFormat.DATE_TIME: ("a time like 2026-03-31T18:15:00Z", _is_date_time),
}

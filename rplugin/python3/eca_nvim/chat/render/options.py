"""Options of a chat as the view gets them: names to show, values to send back.

Rules kept here:
- Names and descriptions are one clean line each. Ids and values are sent unchanged; the view does
  not show them.
- The first option of some categories has a command of its own; `:Eca options` lists the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.vocabulary.options import (
    MODE,
    MODEL,
    THOUGHT_LEVEL,
    TRUST,
    ChatOption,
    OptionKind,
    OptionOffer,
    first_of,
)

COMMANDS: Final[Mapping[str, str]] = {
    MODEL: "model",
    MODE: "agent",
    THOUGHT_LEVEL: "variant",
    TRUST: "trust",
}
"""Subcommands of `:Eca`, by the category that they set."""


def option_rows(options: Sequence[ChatOption]) -> Sequence[Mapping[str, Any]]:
    """Return the tables of the op `options`."""
    rows = zip(map(_option_row, options), commands_of(options), strict=True)
    return [row if command is None else row | {"command": command} for row, command in rows]


def commands_of(options: Sequence[ChatOption]) -> Iterator[str | None]:
    """Yield for each option the subcommand of `:Eca` that sets it, None if `:Eca options` does."""
    categories: set[str] = set()
    for category in (option.category for option in options):
        is_first = category not in categories
        categories.add(category)
        yield COMMANDS.get(category) if is_first or category == TRUST else None


def _option_row(option: ChatOption) -> dict[str, object]:
    described = {"description": one_line(option.description)} if option.description else {}
    return {
        "id": option.id,
        "name": one_line(option.name or option.id),
        "kind": option.kind.value,
        "value": option.value,
        "shown": one_line(option.name_of(option.value)),
        "offers": [_offer_row(option, offer) for offer in option.offers],
        **described,
    }


def _offer_row(option: ChatOption, offer: OptionOffer) -> Mapping[str, object]:
    row = {
        "description": one_line(offer.description),
        "group": one_line(offer.group),
        "unasked": offer.value in option.unasked,
        "unsure": offer.value in option.unsure,
    }
    given = {key: item for key, item in row.items() if item}
    return {"value": offer.value, "name": one_line(offer.name or offer.value), **given}


def shown_choice(options: Sequence[ChatOption], category: str) -> str | None:
    """Return the name of what is chosen in a category; None if nothing is, or it is not known."""
    option = first_of(options, category)
    if option is None or not option.value:
        return None
    return option.name if option.kind is OptionKind.TOGGLE else option.name_of(option.value)


def unasked_names(options: Sequence[ChatOption]) -> list[str]:
    """Return names of the values with which tools run without asking."""
    mode = first_of(options, MODE)
    return [
        one_line(shown if option is mode else f"{option.name}: {shown}")
        for option in options
        if option.runs_unasked and (shown := option.name_of(option.value))
    ]

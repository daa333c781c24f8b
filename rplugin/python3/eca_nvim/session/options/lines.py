"""Lines: what the user reads about options, and which values are refused before they are sent.

Rule: names of options and values are the agent's text: each line is one clean line.
"""

from collections.abc import Iterable, Sequence

from eca_nvim.chat.render.status import COMMANDS, commands_of
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.vocabulary.options import ChatOption, OptionKind, OptionValue
from eca_nvim.session.view import Refused

LONGEST_NAME = 100
"""Characters of an unknown name that are compared with the names on offer."""
ASKS_MORE = "When this chat was left, more ran without asking than now. To go back: "


class NotOffered(Refused):
    """Raised when an option cannot be set."""


def no_option(key: str) -> str:
    """Return that a server has no option with an id or of a category."""
    return f"this server has no {one_line(COMMANDS.get(key, key))} to choose"


def _command_of(option: ChatOption, options: Sequence[ChatOption]) -> str:
    """Return the command that sets an option, without the value."""
    commands = zip(options, commands_of(options), strict=True)
    command = next((it for each, it in commands if each.id == option.id), None)
    return f":Eca {command or f'options {option.id}'}"


def asks_more(
    offered: Iterable[tuple[ChatOption, OptionValue]],
    options: Sequence[ChatOption],
    *,
    trusts: bool,
) -> str:
    """Return how the user goes back to values that ask less; `trusts`: and to trust."""
    ways = [one_line(f"{_command_of(it, options)} {it.name_of(value)}") for it, value in offered]
    return ASKS_MORE + ", ".join([*ways, *([":Eca trust"] if trusts else [])])


def asks_less(option: ChatOption, value: OptionValue, options: Sequence[ChatOption]) -> str:
    """Return why a prompt is not sent, and what the user can do."""
    now_, then = option.name_of(option.value), option.name_of(value)
    return one_line(
        f"not sent: {option.name} is {now_}, which asks less than {then}, and the agent has not "
        f"changed it. {_command_of(option, options)} chooses, an empty prompt sends it as it is"
    )


def not_set(option: ChatOption, value: OptionValue) -> str:
    """Return that a server does not offer a value."""
    shown = f"{option.name} is {option.name_of(option.value)}" if option.value else option.name
    return one_line(f"{shown}: the server does not offer {value}")


def require_offered(option: ChatOption, value: OptionValue) -> None:
    """Raise NotOffered unless an option accepts a value."""
    if option.accepts(value):
        return
    if option.kind is OptionKind.TOGGLE:
        raise NotOffered(f"{one_line(option.name)} takes on or off")
    near = _nearest(str(value), [offer.name for offer in option.offers])
    hint = f"; did you mean {one_line(near)}?" if near else ""
    raise NotOffered(f"unknown {one_line(option.name)} '{one_line(str(value))}'{hint}")


def _nearest(name: str, names: Sequence[str]) -> str | None:
    folded = {it.casefold(): it for it in names if it}
    from difflib import get_close_matches  # noqa: PLC0415 - only for a wrong name

    near = get_close_matches(name[:LONGEST_NAME].casefold(), folded, n=1)
    return folded[near[0]] if near else None

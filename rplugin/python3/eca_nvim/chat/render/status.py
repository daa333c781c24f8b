"""Status: what the winbar and `require('eca').status()` show of a chat, and its options.

Rules kept here:
- Names and descriptions are one clean line each. Ids and values are sent unchanged; the view does
  not show them.
- The first option of some categories has a command of its own; `:Eca options` lists the others.
- Unknown values are absent, never nil.
- `waiting` depends on pending requests, not on what the agent says it is doing. A login is
  `login`, even while it asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from eca_nvim.chat.model.chat import Chat, QueueKind
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.vocabulary.options import (
    ALL_ABILITIES,
    MODE,
    MODEL,
    THOUGHT_LEVEL,
    TRUST,
    ChatOption,
    OptionKind,
    OptionOffer,
    first_of,
)
from eca_nvim.chat.vocabulary.states import Turn
from eca_nvim.chat.vocabulary.turn_events import DOLLARS

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


_WORDS: Mapping[Turn, Turn] = {
    Turn.SENDING: Turn.RUNNING,
    Turn.LEAVING: Turn.STOPPING,
}


def state_word(chat: Chat) -> str:
    """Return idle, running, stopping, waiting or login."""
    turn = _turn(chat)
    if chat.pending and turn is not Turn.LOGIN:
        return "waiting"
    return _WORDS.get(turn, turn).value


def _turn(chat: Chat) -> Turn:
    """Return the state of the turn; a prompt that waits for the history is being sent."""
    is_idle = chat.turn.state is Turn.IDLE
    return Turn.SENDING if is_idle and chat.awaits_history else chat.turn.state


def status(chat: Chat, now: int) -> Mapping[str, object]:
    """Build the table of the op `status`; `elapsed`: ms since the turn began."""
    usage = chat.usage
    running = _turn(chat) not in (Turn.IDLE, Turn.LOGIN)
    table: dict[str, object | None] = {
        "server": chat.server,
        "server_name": chat.server_name,
        "state": state_word(chat),
        "title": chat.title,
        "model": shown_choice(chat.options, MODEL),
        "agent": shown_choice(chat.options, MODE),
        "variant": shown_choice(chat.options, THOUGHT_LEVEL),
        "trust": chat.trust,
        "unasked": unasked_names(chat.options) or None,
        "pending": len(chat.pending),
        "tokens": usage and usage.session_tokens,
        "limit": usage and usage.context_limit,
        "cost": usage and usage.session_cost,
        "currency": usage.currency if usage and usage.currency != DOLLARS else None,
        "elapsed": now - chat.turn.started_ms if running else None,
        "starting": now - chat.server_ms if chat.server == "starting" else None,
        "silent": now - chat.turn.last_activity_ms if running and chat.turn.times_asked else None,
        "activity": chat.activity,
        "retrying": chat.retrying or None,
        "lacks": sorted(it.value for it in ALL_ABILITIES - chat.abilities) or None,
    }
    return {
        key: one_line(value) if isinstance(value, str) else value
        for key, value in table.items()
        if value is not None
    }


def task_list_line(chat: Chat) -> Mapping[str, object] | None:
    """Return the task list in the form of the op `plan`."""
    if chat.task_list is None or chat.task_list_block is None:
        return None
    return {
        "block": chat.task_list_block.id,
        "done": chat.task_list.done,
        "total": len(chat.task_list.tasks),
        "doing": one_line(chat.task_list.doing),
    }


def queue_lines(chat: Chat) -> list[tuple[str, str]]:
    """List the queued prompts in the form of the op `queue`."""
    return [
        ("steer" if waiting.kind is QueueKind.STEER else "queue", one_line(waiting.text))
        for waiting in chat.queue
    ]

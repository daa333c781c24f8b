"""Status: what the winbar and `require('eca').status()` show of a chat, and its options."""

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
_SHOWN: Final = {"model": MODEL, "agent": MODE, "variant": THOUGHT_LEVEL}
"""Categories that a status shows, by its keys."""
_WORDS: Final = {Turn.SENDING: Turn.RUNNING, Turn.LEAVING: Turn.STOPPING}
"""States of a turn that a status does not tell apart from others."""


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


def shown_options(options: Sequence[ChatOption]) -> Mapping[str, object]:
    """Return the keys of a status that tell its options; computed when these change."""
    table = {key: _shown_choice(options, of) for key, of in _SHOWN.items()}
    return table | {"unasked": unasked_names(options) or None}


def _shown_choice(options: Sequence[ChatOption], category: str) -> str | None:
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


def status(chat: Chat, now: int) -> Mapping[str, object]:
    """Build the table of the op `status`; `elapsed`: ms since the turn began.

    Unknown values are absent, never nil.
    """
    usage, turn, waiting = chat.usage, chat.turn, chat.waiting
    state = turn.state
    if state is Turn.IDLE and chat.awaits_history:
        state = Turn.SENDING
    running = state not in (Turn.IDLE, Turn.LOGIN)
    # Pending requests say whether the user is waited for, not the agent. A login always asks.
    waits = bool(waiting) and state is not Turn.LOGIN
    table: dict[str, object | None] = {
        "server": chat.server,
        "server_name": chat.server_name,
        "state": "waiting" if waits else _WORDS.get(state, state).value,
        "title": chat.title,
        **chat.shown_options,
        "trust": chat.trust,
        "pending": len(waiting),
        "tokens": usage and usage.session_tokens,
        "limit": usage and usage.context_limit,
        "cost": usage and usage.session_cost,
        "currency": usage.currency if usage and usage.currency != DOLLARS else None,
        "elapsed": now - turn.started_ms if running else None,
        "starting": now - chat.server_ms if chat.server == "starting" else None,
        "silent": now - turn.last_activity_ms if running and turn.times_asked else None,
        "activity": turn.activity,
        "retrying": turn.retrying or None,
        "lacks": sorted(it.value for it in ALL_ABILITIES - chat.abilities) or None,
    }
    return {
        key: one_line(value) if isinstance(value, str) else value
        for key, value in table.items()
        if value is not None
    }


def task_list_line(chat: Chat) -> Mapping[str, object] | None:
    """Return the task list in the form of the op `plan`."""
    block, tasks = chat.task_list_block, chat.task_list
    if tasks is None or block is None:
        return None
    doing = one_line(tasks.doing)
    return {"block": block.id, "done": tasks.done, "total": len(tasks.tasks), "doing": doing}


_QUEUED: Mapping[QueueKind, str] = {QueueKind.STEER: "steer", QueueKind.NOTE: "note"}


def queue_lines(chat: Chat) -> list[tuple[str, str]]:
    """List the queued prompts in the form of the op `queue`."""
    return [(_QUEUED.get(waiting.kind, "queue"), one_line(waiting.text)) for waiting in chat.queue]

"""Status: builds a chat's status, for the winbar and `require('eca').status()`.

Rules kept here:
- Unknown values are absent, never nil.
- `waiting` depends on pending requests, not on what the agent says it is doing. A login is
  `login`, even while it asks.
"""

from __future__ import annotations

from collections.abc import Mapping

from eca_nvim.chat.model.chat import Chat, QueueKind
from eca_nvim.chat.render.options import shown_choice, unasked_names
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.vocabulary.abilities import ALL_ABILITIES
from eca_nvim.chat.vocabulary.options import MODE, MODEL, THOUGHT_LEVEL
from eca_nvim.chat.vocabulary.states import Turn
from eca_nvim.chat.vocabulary.usage import DOLLARS

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

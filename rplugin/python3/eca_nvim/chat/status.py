"""Status: a chat in a few words, for the winbar and `require('eca').status()`.

Rules kept here: what is not known is absent, never nil; `waiting` is derived from what is pending,
never from what the agent says it is doing.
"""

from __future__ import annotations

from collections.abc import Mapping

from eca_nvim.chat.model import Chat, QueueKind
from eca_nvim.chat.states import Turn
from eca_nvim.chat.text import one_line


def state_word(chat: Chat) -> str:
    """Say idle, running, stopping or waiting."""
    if chat.pending:
        return "waiting"
    return "running" if chat.turn.state is Turn.SENDING else chat.turn.state.value


def status(chat: Chat, now: int) -> Mapping[str, object]:
    """Build the table of the op `status`; `elapsed` is ms since the turn began."""
    usage = chat.usage
    running = chat.turn.state is not Turn.IDLE
    table: dict[str, object | None] = {
        "server": chat.server,
        "state": state_word(chat),
        "title": chat.title,
        "model": chat.selected.model,
        "agent": chat.selected.agent,
        "variant": chat.selected.variant or None,
        "trust": chat.selected.trust,
        "pending": len(chat.pending),
        "tokens": usage and usage.session_tokens,
        "limit": usage and usage.context_limit,
        "cost": usage and usage.session_cost,
        "elapsed": now - chat.turn.started_ms if running else None,
        "activity": chat.activity,
    }
    return {
        key: one_line(value) if isinstance(value, str) else value
        for key, value in table.items()
        if value is not None
    }


def queue_lines(chat: Chat) -> list[tuple[str, str]]:
    """List the waiting prompts as the op `queue` wants them."""
    return [
        ("steer" if waiting.kind is QueueKind.STEER else "queue", one_line(waiting.text))
        for waiting in chat.queue
    ]

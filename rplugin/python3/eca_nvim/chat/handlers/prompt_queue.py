"""Prompt queue: what the user said while a turn ran.

Rules kept here:
- Nothing the user wrote is dropped: a steer the agent did not read becomes the next prompt, and
  what may not be sent by itself stays in the queue, visible.
- Every prompt is sent by itself, in a turn of its own: prompts are never joined.
- After a stop only what was meant for the stopped turn is sent; after a failure nothing is.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from eca_nvim.chat.model.chat import QueueKind, Waiting
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.vocabulary.states import TurnEnd

_FOLLOWS: Mapping[TurnEnd, frozenset[QueueKind]] = {
    TurnEnd.DONE: frozenset(QueueKind),
    TurnEnd.REJECTED: frozenset(QueueKind),
    TurnEnd.STOPPED: frozenset({QueueKind.STEER, QueueKind.REASON}),
    TurnEnd.FAILED: frozenset(),
    TurnEnd.GONE: frozenset(),
}

_ORDER = (QueueKind.REASON, QueueKind.STEER, QueueKind.QUEUE)


def is_command(text: str) -> bool:
    """Say whether a prompt is a command to the agent, which it reads only as a prompt."""
    return text.lstrip().startswith("/")


def follow_up(update: Update, reason: TurnEnd) -> Waiting | None:
    """Take out the prompt to send now that a turn has ended."""
    for kind in _ORDER:
        waiting = [entry for entry in update.chat.queue if entry.kind is kind]
        if waiting and kind in _FOLLOWS[reason]:
            _take(update, waiting[:1])
            return waiting[0]
    return None


def next_waiting(update: Update) -> Waiting | None:
    """Take out the oldest prompt, whatever its kind."""
    oldest = update.chat.queue[:1]
    _take(update, oldest)
    return oldest[0] if oldest else None


def keep_for_later(update: Update) -> None:
    """Turn what was meant for a turn that is over into plain waiting prompts, ahead of the others.

    They keep the order in which they would have been sent.
    """
    queue = update.chat.queue
    if any(entry.kind is not QueueKind.QUEUE for entry in queue):
        queue.sort(key=lambda entry: _ORDER.index(entry.kind))
        queue[:] = [replace(entry, kind=QueueKind.QUEUE) for entry in queue]
        update.dirty |= Dirty.QUEUE


def take_steers(update: Update, said: str) -> None:
    """Take out the steers that an echo says were read; the agent joins several with newlines."""
    steers = [entry for entry in update.chat.queue if entry.kind is QueueKind.STEER]
    for count in range(1, len(steers) + 1):
        if "\n".join(entry.text.strip() for entry in steers[:count]) == said:
            _take(update, steers[:count])
            return


def _take(update: Update, taken: list[Waiting]) -> None:
    if taken:
        queue = update.chat.queue
        queue[:] = [entry for entry in queue if not any(entry is one for one in taken)]
        update.dirty |= Dirty.QUEUE

"""Prompt queue: prompts the user sent while a turn ran.

Rules kept here:
- Nothing the user wrote is dropped. A steering message the agent did not read becomes the next
  prompt; a prompt that may not be sent now stays visible in the queue.
- Every prompt gets a turn of its own: prompts are never joined.
- After a stop only prompts meant for the stopped turn are sent. After a failure, a limit or a
  refusal none is.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from eca_nvim.chat.handlers.file_uses import prompt_sent
from eca_nvim.chat.model.chat import QueuedPrompt, QueueKind
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.vocabulary.states import TurnEnd

_FOLLOWS: Mapping[TurnEnd, frozenset[QueueKind]] = {
    TurnEnd.DONE: frozenset(QueueKind),
    TurnEnd.REJECTED: frozenset(QueueKind),
    TurnEnd.STOPPED: frozenset({QueueKind.STEER, QueueKind.REASON}),
    TurnEnd.FAILED: frozenset(),
    TurnEnd.GONE: frozenset(),
    TurnEnd.LIMIT: frozenset(),
    TurnEnd.DECLINED: frozenset(),
}

_ORDER = (QueueKind.REASON, QueueKind.STEER, QueueKind.QUEUE)


def is_command(text: str) -> bool:
    """Return whether a prompt is a slash command, which the agent accepts only as a prompt."""
    return text.lstrip().startswith("/")


def follow_up(update: Update, reason: TurnEnd) -> QueuedPrompt | None:
    """Remove and return the prompt to send after a turn that ended for `reason`."""
    for kind in _ORDER:
        waiting = [entry for entry in update.chat.queue if entry.kind is kind]
        if waiting and kind in _FOLLOWS[reason]:
            _remove(update, waiting[:1])
            return waiting[0]
    return None


def next_waiting(update: Update) -> QueuedPrompt | None:
    """Remove and return the oldest prompt of any kind."""
    oldest = update.chat.queue[:1]
    _remove(update, oldest)
    return oldest[0] if oldest else None


def keep_for_later(update: Update) -> None:
    """Turn leftover steers and reasons into plain queued prompts, ahead of the others.

    They keep the order in which they would have been sent.
    """
    queue = update.chat.queue
    if any(entry.kind is not QueueKind.QUEUE for entry in queue):
        queue.sort(key=lambda entry: _ORDER.index(entry.kind))
        queue[:] = [replace(entry, kind=QueueKind.QUEUE) for entry in queue]
        update.dirty |= Dirty.QUEUE


def take_steers(update: Update, echo: str) -> None:
    """Remove the steers that an echo confirms; the agent joins several with newlines."""
    steers = [entry for entry in update.chat.queue if entry.kind is QueueKind.STEER]
    for count in range(1, len(steers) + 1):
        if "\n".join(entry.text.strip() for entry in steers[:count]) == echo:
            _remove(update, steers[:count])
            for entry in steers[:count]:
                prompt_sent(update, entry.contexts)
            return


def _remove(update: Update, taken: list[QueuedPrompt]) -> None:
    if taken:
        queue = update.chat.queue
        queue[:] = [entry for entry in queue if not any(entry is one for one in taken)]
        update.dirty |= Dirty.QUEUE

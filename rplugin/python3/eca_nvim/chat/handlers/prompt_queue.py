"""Prompt queue: prompts the user sent while a turn ran or the history changed.

Nothing the user wrote is dropped, and every prompt gets a turn of its own: they are never joined.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, Set
from itertools import combinations

from msgspec.structs import replace

from eca_nvim.chat.handlers.used_files import prompt_sent
from eca_nvim.chat.model.chat import QueuedPrompt, QueueKind
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.vocabulary.states import History, TurnEnd

_ORDER = (
    *(QueueKind.REASON, QueueKind.STEER, QueueKind.CORRECTION),
    *(QueueKind.NEXT, QueueKind.QUEUE),
)
_OF_TURN = frozenset({QueueKind.REASON, QueueKind.STEER, QueueKind.CORRECTION})
_OF_HISTORY = frozenset({QueueKind.NEXT})

# After a stop only prompts meant for the stopped turn are sent. After a failure, a limit or a
# refusal none is: the user decides.
_FOLLOWS: Mapping[TurnEnd, frozenset[QueueKind]] = {
    TurnEnd.DONE: frozenset(QueueKind),
    TurnEnd.REJECTED: frozenset(QueueKind),
    TurnEnd.STOPPED: _OF_TURN,
    TurnEnd.FAILED: frozenset(),
    TurnEnd.GONE: frozenset(),
    TurnEnd.LIMIT: frozenset(),
    TurnEnd.DECLINED: frozenset(),
}


def enqueue(update: Update, prompt: QueuedPrompt) -> None:
    """Let a prompt wait, behind those that are sent before it."""
    insort(update.chat.queue, prompt, key=_rank)
    update.dirty |= Dirty.QUEUE


def _rank(prompt: QueuedPrompt) -> int:
    return _ORDER.index(prompt.kind)


def follow_up(update: Update, reason: TurnEnd) -> QueuedPrompt | None:
    """Remove and return the prompt to send after a turn that ended for `reason`.

    While the history changes the prompt stays, and is sent after that.
    """
    follower = _first(update, _FOLLOWS[reason])
    # While the history changes nothing is sent: the response would remove it from the screen.
    if follower is not None and update.chat.history is History.CHANGING:
        _turn_into(update, QueueKind.NEXT, _OF_TURN | {follower.kind})
        return None
    return _taken(update, follower)


def next_after_change(update: Update) -> QueuedPrompt | None:
    """Remove and return the prompt to send now that the history has changed."""
    return _taken(update, _first(update, _OF_HISTORY))


def _first(update: Update, kinds: Set[QueueKind]) -> QueuedPrompt | None:
    return next((entry for entry in update.chat.queue if entry.kind in kinds), None)


def next_waiting(update: Update) -> QueuedPrompt | None:
    """Remove and return the first prompt of any kind."""
    return _taken(update, next(iter(update.chat.queue), None))


def keep_for_later(update: Update) -> None:
    """Turn what was meant for the turn into plain queued prompts, ahead of the others.

    They keep the order in which they would have been sent.
    """
    _turn_into(update, QueueKind.QUEUE, _OF_TURN)


def keep_after_change(update: Update) -> None:
    """Turn prompts that waited for the history into plain queued ones, ahead of the others."""
    _turn_into(update, QueueKind.QUEUE, _OF_HISTORY)


def _turn_into(update: Update, kind: QueueKind, kinds: Set[QueueKind]) -> None:
    """Give prompts of some kinds another one; all keep the order in which they would be sent."""
    queue = update.chat.queue
    if any(entry.kind in kinds for entry in queue):
        queue[:] = [replace(it, kind=kind) if it.kind in kinds else it for it in queue]
        queue.sort(key=_rank)
        update.dirty |= Dirty.QUEUE


def take_steers(update: Update, echo: str) -> None:
    """Remove the steers that an echo confirms; the agent joins several with newlines."""
    steers = [entry for entry in update.chat.queue if entry.kind is QueueKind.STEER]
    for first, last in combinations(range(len(steers) + 1), 2):
        taken = steers[first:last]
        if "\n".join(entry.text.strip() for entry in taken) == echo:
            _remove(update, taken)
            for entry in taken:
                prompt_sent(update, entry.contexts)
            return


def _taken(update: Update, prompt: QueuedPrompt | None) -> QueuedPrompt | None:
    if prompt is not None:
        _remove(update, [prompt])
    return prompt


def _remove(update: Update, taken: list[QueuedPrompt]) -> None:
    if taken:
        queue = update.chat.queue
        queue[:] = [entry for entry in queue if not any(entry is one for one in taken)]
        update.dirty |= Dirty.QUEUE

"""Prompt queue: prompts the user sent while a turn ran or the history changed.

Nothing the user wrote is dropped, and every prompt gets a turn of its own: they are never joined.
"""

from bisect import insort
from collections.abc import Mapping, Set
from itertools import combinations
from typing import Final

from msgspec.structs import replace

from eca_nvim.chat.handlers.used_files import prompt_sent
from eca_nvim.chat.model.chat import QueuedPrompt, QueueKind
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.vocabulary.states import History, TurnEnd

OF_TURN: Final = frozenset({QueueKind.REASON, QueueKind.STEER, QueueKind.CORRECTION})
"""Kinds of prompts that are meant for the turn that runs."""
OF_HISTORY: Final = frozenset({QueueKind.NEXT})
"""Kinds of prompts that wait for the history to change."""
STEERED: Final = frozenset({QueueKind.STEER, QueueKind.NOTE})
"""Kinds that the running turn may read."""
_PROMPTS: Final = frozenset(QueueKind) - {QueueKind.NOTE}
_RANKS: Final = {kind: rank for rank, kind in enumerate(QueueKind)}

# After a stop only prompts meant for the stopped turn are sent. After a failure, a limit or a
# refusal none is: the user decides.
_FOLLOWS: Mapping[TurnEnd, frozenset[QueueKind]] = {
    TurnEnd.DONE: _PROMPTS,
    TurnEnd.REJECTED: _PROMPTS,
    TurnEnd.STOPPED: OF_TURN,
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
    return _RANKS[prompt.kind]


def take(update: Update, kinds: Set[QueueKind] = frozenset(QueueKind)) -> QueuedPrompt | None:
    """Remove and return the first prompt of some kinds."""
    prompt = next((entry for entry in update.chat.queue if entry.kind in kinds), None)
    if prompt is not None:
        update.chat.queue.remove(prompt)
        update.dirty |= Dirty.QUEUE
    return prompt


def with_notes(update: Update, text: str) -> str:
    """Return the text of a prompt below the notes that wait for one."""
    notes: list[str] = []
    while note := take(update, frozenset({QueueKind.NOTE})):
        notes.append(note.text)
    return "\n\n".join([*notes, text])


def follow_up(update: Update, reason: TurnEnd) -> QueuedPrompt | None:
    """Remove and return the prompt to send after a turn that ended for `reason`."""
    kinds = _FOLLOWS[reason]
    if update.chat.history is not History.CHANGING:
        return take(update, kinds)
    # While the history changes nothing is sent: the response would remove it from the screen.
    follower = next((entry for entry in update.chat.queue if entry.kind in kinds), None)
    if follower is not None:
        requeue(update, OF_TURN | {follower.kind}, QueueKind.NEXT)
    return None


def requeue(update: Update, kinds: Set[QueueKind], kind: QueueKind = QueueKind.QUEUE) -> None:
    """Turn prompts of some kinds into those of another; all keep the order of their sending."""
    queue = update.chat.queue
    if any(entry.kind in kinds for entry in queue):
        queue[:] = [replace(it, kind=kind) if it.kind in kinds else it for it in queue]
        queue.sort(key=_rank)
        update.dirty |= Dirty.QUEUE


def take_steers(update: Update, echo: str) -> None:
    """Remove the steers that an echo confirms; the agent joins several with newlines."""
    steers = [entry for entry in update.chat.queue if entry.kind in STEERED]
    for first, last in combinations(range(len(steers) + 1), 2):
        taken = steers[first:last]
        if "\n".join(entry.text.strip() for entry in taken) == echo:
            for entry in taken:
                update.chat.queue.remove(entry)
                prompt_sent(update, entry.contexts)
            update.dirty |= Dirty.QUEUE
            return

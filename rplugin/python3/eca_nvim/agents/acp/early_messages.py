"""Early messages: what an agent sends for a session before the answer that makes it."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from typing import Final

from msgspec import Raw

from eca_nvim.transport import Incoming

MOST_MESSAGES: Final = 50_000
"""Most messages: some agents send all of a copied session before the answer."""
MOST_BYTES: Final = 64 << 20


class EarlyMessages:
    """The early messages of all sessions, by the agent's ids."""

    def __init__(self) -> None:
        self._kept: defaultdict[str, list[Incoming]] = defaultdict(list)
        self._count = 0
        self._bytes = 0

    def keep(self, session_id: str, message: Incoming) -> bool:
        """Keep a message; returns False if there is no room for it."""
        size = size_of(message)
        if self._count >= MOST_MESSAGES or self._bytes + size > MOST_BYTES:
            return False
        self._kept[session_id].append(message)
        self._count += 1
        self._bytes += size
        return True

    def take(self, session_id: str) -> Sequence[Incoming]:
        """Remove and return the messages of a session, in order."""
        taken = self._kept.pop(session_id, [])
        self._count -= len(taken)
        self._bytes -= sum(map(size_of, taken))
        return taken

    def take_all(self) -> Sequence[Incoming]:
        """Remove and return all messages."""
        taken = [*chain.from_iterable(self._kept.values())]
        self._kept.clear()
        self._count = self._bytes = 0
        return taken


def size_of(message: Incoming) -> int:
    """Return the size of a message on the wire, in bytes."""
    return memoryview(message.params).nbytes if isinstance(message.params, Raw) else 0

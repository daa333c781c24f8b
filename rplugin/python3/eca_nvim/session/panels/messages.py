"""Messages of a trace, as the rows that show them: within bounds, and only those that are wanted.

Notifications of one method and chat that follow each other are one row. Those bounds are of what is
shown; the tape has its own.
"""

from collections import deque
from collections.abc import Callable
from typing import Final

from msgspec import Struct, field

from eca_nvim.agents.trace import Kind, Trace, Traced
from eca_nvim.chat.vocabulary.panels import Row
from eca_nvim.transport.tape import LIMIT

MOST_MESSAGES: Final = 20_000


class Shown(Struct, eq=False):
    """A row: a message, or notifications that follow each other.

    count, size: of all messages and bytes, also those not kept any more. row, lines: what is drawn
    as long as it holds; lines: by the number of a message of several.
    """

    id: str
    messages: deque[Traced]
    count: int = 1
    size: int = 0
    row: Row | None = None
    lines: dict[int, Row] = field(default_factory=dict)

    @property
    def first(self) -> Traced:
        """The oldest message that is kept."""
        return self.messages[0]


class Messages:
    """The messages of one connection; `is_wanted`: whether one with this subject is shown.

    The subject of an answer is its request.
    """

    def __init__(self, trace: Trace, is_wanted: Callable[[Traced], bool]) -> None:
        self.trace = trace
        self.shown = deque[Shown]()
        """Rows, oldest first."""
        self._is_wanted = is_wanted
        self._reader = trace.reader()
        self._kept = deque[Traced]()
        self._size = 0  # bytes of the bodies
        self._from = 0  # the number of the first message that is shown
        self._requests = dict[int, Shown]()

    @property
    def is_behind(self) -> bool:
        """Whether something was not read yet."""
        return self._reader.is_behind

    def read(self, most: int) -> None:
        """Read at most so many pieces of the tape."""
        for message in self._reader.read(most):
            self._kept.append(message)
            self._size += len(message.body)
            self._show(message)
        while self._size > LIMIT or len(self._kept) > MOST_MESSAGES:
            self._drop(self._kept.popleft())

    def choose(self) -> None:
        """Show what is wanted now."""
        self.shown.clear()
        self._requests.clear()
        for message in self._kept:
            self._show(message)

    def clear(self) -> None:
        """Show only what comes from now on."""
        self._from = self._kept[-1].number + 1 if self._kept else 0
        self.choose()

    def get(self, number: int) -> Traced | None:
        """Return a message by its number, None if it is not kept any more."""
        return next((it for it in self._kept if it.number == number), None)

    def _drop(self, message: Traced) -> None:
        self._size -= len(message.body)
        if self.shown and self.shown[0].first is message:
            self.shown[0].messages.popleft()
            if not self.shown[0].messages:
                self.shown.popleft()
                self._requests.pop(message.number, None)

    def _show(self, message: Traced) -> None:
        """Give a message a row, or a place in one."""
        asked = self._requests.get(message.request.number) if message.request else None
        if asked is not None:
            asked.row, asked.size = None, asked.size + message.size
            return
        if message.number < self._from or not self._is_wanted(message.request or message):
            return
        last = self.shown[-1] if self.shown else None
        if last is not None and _goes_on(last.messages[-1], message):
            last.messages.append(message)
            last.count, last.size, last.row = last.count + 1, last.size + message.size, None
            return
        self.shown.append(Shown(str(message.number), deque([message]), size=message.size))
        if message.kind is Kind.REQUEST:
            self._requests[message.number] = self.shown[-1]


def _goes_on(last: Traced, message: Traced) -> bool:
    """Return whether a message belongs into the row of the last one."""
    return last.kind is message.kind is Kind.NOTIFICATION and (
        (last.name, last.chat, last.is_sent) == (message.name, message.chat, message.is_sent)
    )

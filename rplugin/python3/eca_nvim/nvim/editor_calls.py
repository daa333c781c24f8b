"""What the host asks Neovim to do or to tell: one notification each, answers by number.

Rules kept here:
- Lua code sent to Neovim is one of the constants here; all data travels as its arguments.
- The answer of a call comes as the intent `returned` with the call's number. So nothing ever
  blocks, and what fails in Neovim is an answer too.
- An agent waits half a minute for what it asked; every call gives up before.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from itertools import count

import anyio

from eca_nvim.chat.vocabulary.intents import CallReturned
from eca_nvim.nvim.wire import UNSENDABLE

ALIVE = "require('eca.host').alive()"
APPLY = "require('eca.view.frames').receive(...)"
CALL = "require('eca.view.editor_calls').call(...)"

PATIENCE = 25.0
"""Seconds a call waits for its answer."""

log = logging.getLogger(__name__)

Run = Callable[[str, Sequence[object]], None]
"""Runs one of the constants above with arguments; never waits."""


class CallFailed(Exception):
    """Raised when Neovim could not do what it was asked; says why in its words."""


class Unanswered(Exception):
    """Raised when Neovim has not answered in time: it waits for its user."""


class _Answer:
    """The place where an answer will be."""

    __slots__ = ("arrived", "ok", "value")

    def __init__(self) -> None:
        self.arrived = anyio.Event()
        self.ok = False
        self.value: object = None

    def fill(self, returned: CallReturned) -> None:
        self.ok, self.value = returned.ok, returned.value
        self.arrived.set()


class Calls:
    """Calls under way, by number."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._numbers = count(1)
        self._open: dict[int, _Answer] = {}
        self._feeds: dict[int, Callable[[object], None]] = {}

    async def call(
        self, name: str, arguments: Mapping[str, object], patience: float = PATIENCE
    ) -> object:
        """Call a function of `lua/eca/view/editor_calls.lua`. Raises CallFailed, Unanswered."""
        number, answer = next(self._numbers), _Answer()
        self._open[number] = answer
        try:
            self._ask(number, name, arguments)
            with anyio.move_on_after(patience):
                await answer.arrived.wait()
        finally:
            del self._open[number]
        if not answer.arrived.is_set():
            raise Unanswered(f"{name}: no answer within {patience} s")
        if not answer.ok:
            raise CallFailed(f"{name}: {answer.value}")
        return answer.value

    def _ask(self, number: int, name: str, arguments: Mapping[str, object]) -> None:
        try:
            self._run(CALL, [number, name, arguments])
        except UNSENDABLE as fault:
            raise CallFailed(f"{name}: cannot be asked, {fault}") from fault

    def feed(self, name: str, listener: Callable[[object], None]) -> None:
        """Make a call that answers again and again."""
        number = next(self._numbers)
        self._feeds[number] = listener
        self._run(CALL, [number, name, {}])

    def returned(self, answer: CallReturned) -> None:
        """Take an answer (intent `returned`); one that comes too late is dropped."""
        if (waiting := self._open.get(answer.call)) is not None:
            waiting.fill(answer)
        elif (listener := self._feeds.get(answer.call)) is not None:
            if answer.ok:
                listener(answer.value)
            else:
                log.error("Neovim ended a feed: %s", answer.value)

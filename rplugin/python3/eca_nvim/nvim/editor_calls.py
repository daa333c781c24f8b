"""Editor calls: the host's questions to Neovim, each a notification, answered by number.

Rules kept here:
- Lua code sent to Neovim is one of the constants here; all data travels as its arguments.
- The answer to a call comes as the intent `returned` with the call's number. So nothing ever
  blocks, and a failure in Neovim is an answer too.
- An agent waits half a minute for an answer; every call times out before that.
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

CALL_TIMEOUT = 25.0
"""Seconds that a call waits for its answer."""

log = logging.getLogger(__name__)

Run = Callable[[str, Sequence[object]], None]
"""Runs one of the constants above with arguments; never waits."""


class CallFailed(Exception):
    """Raised when a call failed in Neovim; the text is Neovim's reason."""


class Unanswered(Exception):
    """Raised when Neovim does not answer in time, because it waits for the user."""


class _PendingAnswer:
    """An answer that may not have arrived yet."""

    __slots__ = ("arrived", "ok", "value")

    def __init__(self) -> None:
        self.arrived = anyio.Event()
        self.ok = False
        self.value: object = None

    def fill(self, returned: CallReturned) -> None:
        self.ok, self.value = returned.ok, returned.value
        self.arrived.set()


class EditorCalls:
    """Calls and subscriptions, by number."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._numbers = count(1)
        self._pending: dict[int, _PendingAnswer] = {}
        self._subscriptions: dict[int, Callable[[object], None]] = {}

    async def call(
        self, name: str, arguments: Mapping[str, object], seconds: float = CALL_TIMEOUT
    ) -> object:
        """Call a function of `lua/eca/view/editor_calls.lua` and return its value.

        seconds: how long to wait for the answer. Raises CallFailed, Unanswered.
        """
        number, answer = next(self._numbers), _PendingAnswer()
        self._pending[number] = answer
        try:
            self._send(number, name, arguments)
            with anyio.move_on_after(seconds):
                await answer.arrived.wait()
        finally:
            del self._pending[number]
        if not answer.arrived.is_set():
            raise Unanswered(f"{name}: no answer within {seconds} s")
        if not answer.ok:
            raise CallFailed(f"{name}: {answer.value}")
        return answer.value

    def _send(self, number: int, name: str, arguments: Mapping[str, object]) -> None:
        try:
            self._run(CALL, [number, name, arguments])
        except UNSENDABLE as fault:
            raise CallFailed(f"{name}: cannot be sent, {fault}") from fault

    def subscribe(self, name: str, listener: Callable[[object], None]) -> None:
        """Make a call that Neovim answers whenever its value changes."""
        number = next(self._numbers)
        self._subscriptions[number] = listener
        self._run(CALL, [number, name, {}])

    def returned(self, answer: CallReturned) -> None:
        """Handle an answer (intent `returned`); one that comes too late is dropped."""
        if (pending := self._pending.get(answer.call)) is not None:
            pending.fill(answer)
        elif (listener := self._subscriptions.get(answer.call)) is not None:
            if answer.ok:
                listener(answer.value)
            else:
                log.error("Neovim ended a subscription: %s", answer.value)

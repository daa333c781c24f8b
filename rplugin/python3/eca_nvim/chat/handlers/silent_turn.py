"""Silent turn: a turn about which the agent has gone silent.

Rules kept here:
- If the agent is silent for a while, its turn may have ended without notice. So we ask, and ask
  again at growing intervals. The turn ends here only if the agent reports the chat as idle, or
  if we had asked it to stop and it does not answer about the turn.
- We do not ask while a tool runs, while a request waits for the user, or while the agent retries:
  all of these may take long. A stop must be confirmed soon, whatever it interrupts.
"""

from __future__ import annotations

from collections.abc import Mapping

from eca_nvim.chat.handlers.messages import note
from eca_nvim.chat.handlers.turn import end
from eca_nvim.chat.model.blocks import ToolBlock
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.update import Update
from eca_nvim.chat.vocabulary.effects import AskTurn
from eca_nvim.chat.vocabulary.states import CallState, Turn, TurnEnd
from eca_nvim.chat.vocabulary.turn_events import TurnLapsed

PATIENCE_MS: Mapping[Turn, int] = {
    Turn.SENDING: 30_000,
    Turn.RUNNING: 30_000,
    Turn.STOPPING: 5_000,
    Turn.LEAVING: 5_000,
}
"""Milliseconds of silence before we ask the agent; doubled each time."""
LONGEST_MS = 300_000

STOPPED = "The server did not confirm the stop; the turn is ended here."
IDLE = "The server reports this chat as idle but did not report the turn's end: it ends here."

_STOPS = frozenset({Turn.STOPPING, Turn.LEAVING})
_WORKING = frozenset({CallState.APPROVED, CallState.RUNNING})


def ask_when_silent(update: Update) -> None:
    """Ask the agent whether the turn still runs, if it has been silent for too long."""
    turn = update.chat.turn
    first = PATIENCE_MS.get(turn.state)
    if first is None or update.chat.server != "ready":
        return
    if turn.state not in _STOPS and _takes_its_time(update.chat):
        return
    waits = (min(first << number, LONGEST_MS) for number in range(turn.times_asked + 1))
    if update.now - turn.last_activity_ms >= sum(waits):
        turn.times_asked += 1
        update.tell(AskTurn(update.chat.id, turn.number, turn.times_asked))


def _takes_its_time(chat: Chat) -> bool:
    if chat.retrying or chat.pending:
        return True
    blocks = (block for block, _ in chat.live.values())
    return any(isinstance(block, ToolBlock) and block.state in _WORKING for block in blocks)


def turn_lapsed(update: Update, event: TurnLapsed) -> None:
    """End the turn we asked about, unless the agent has sent something since."""
    turn = update.chat.turn
    if turn.state is Turn.IDLE or (turn.number, turn.times_asked) != (
        event.number,
        event.times_asked,
    ):
        return
    stops = turn.state in _STOPS
    if not stops and not event.is_idle:
        return
    note(update, STOPPED if stops else IDLE, is_error=not stops)
    end(update, TurnEnd.STOPPED if stops else TurnEnd.FAILED)

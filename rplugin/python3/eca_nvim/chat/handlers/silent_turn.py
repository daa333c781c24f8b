"""Silent turn: a turn of which the agent says nothing any more.

Rules kept here:
- A turn that was to stop, or that runs, and of which nothing is heard for a while may be over
  without a word. The agent is asked, and asked again ever more seldom; the turn ends only when
  the agent says that the chat is idle, or says nothing of a turn that was to stop.
- It is not asked while a tool runs, while a request waits for the user, and while the agent says
  that it tries again: all of these may take long.
"""

from __future__ import annotations

from collections.abc import Mapping

from eca_nvim.chat.handlers.messages import note
from eca_nvim.chat.handlers.turn import end
from eca_nvim.chat.model.blocks import ToolBlock
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.update import Update
from eca_nvim.chat.vocabulary.effects import AskTurn
from eca_nvim.chat.vocabulary.events import TurnLapsed
from eca_nvim.chat.vocabulary.states import CallState, Turn, TurnEnd

PATIENCE_MS: Mapping[Turn, int] = {
    Turn.SENDING: 30_000,
    Turn.RUNNING: 30_000,
    Turn.CLOSING: 30_000,
    Turn.STOPPING: 5_000,
    Turn.LEAVING: 5_000,
}
"""Milliseconds without a word after which the agent is asked; doubled each time."""
LONGEST_MS = 300_000

STOPPED = "The server did not confirm the stop; the turn is ended here."
IDLE = "The server says that this chat is idle, and never said that the turn ended: it ends here."

_WORKING = frozenset({CallState.APPROVED, CallState.RUNNING})


def ask_when_silent(update: Update) -> None:
    """Ask the agent whether the turn goes on, when nothing was heard of it for too long."""
    turn = update.chat.turn
    first = PATIENCE_MS.get(turn.state)
    if first is None or update.chat.server != "ready" or _takes_its_time(update.chat):
        return
    if update.now - turn.heard_ms >= min(first << turn.asked, LONGEST_MS):
        turn.asked += 1
        turn.heard_ms = update.now
        update.tell(AskTurn(update.chat.id, turn.number, turn.asked))


def _takes_its_time(chat: Chat) -> bool:
    if chat.retrying or chat.pending:
        return True
    blocks = (block for block, _ in chat.live.values())
    return any(isinstance(block, ToolBlock) and block.state in _WORKING for block in blocks)


def lapsed(update: Update, event: TurnLapsed) -> None:
    """End the turn that the agent was asked about, unless something was heard of it since."""
    turn = update.chat.turn
    if turn.state is Turn.IDLE or (turn.number, turn.asked) != (event.number, event.asked):
        return
    stops = turn.state in (Turn.STOPPING, Turn.LEAVING)
    if not stops and not event.is_idle:
        return
    note(update, STOPPED if stops else IDLE, is_error=not stops)
    turn.owed, turn.unanswered = None, 0
    end(update, TurnEnd.STOPPED if stops else TurnEnd.FAILED)

"""Turn: how a turn begins, is stopped and ends.

Rules kept here:
- Every end leaves the chat idle, and is told exactly once with its reason.
- The agent says an end with two words (idle then finished, or stopping and finished, or finished
  then idle): the first ends the turn, the other is `owed` and never ends the next one.
- Before it has answered the prompt, `finished` is no end: a login may follow. A login ends with
  idle; until then nothing that waits is sent, and no question is closed.
- An answer to a prompt concerns the turn only when no newer prompt was sent.
"""

from __future__ import annotations

from collections.abc import Mapping

from eca_nvim.chat.handlers.messages import note, show_user
from eca_nvim.chat.handlers.prompt_queue import follow_up, is_command, keep_for_later
from eca_nvim.chat.handlers.questions import question_of_agent
from eca_nvim.chat.handlers.settle import settle, settle_pending
from eca_nvim.chat.handlers.task_list import turn_ended
from eca_nvim.chat.model.blocks import Fold, NoteBlock, PlainBlock, TextBlock
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.vocabulary.contexts import Context
from eca_nvim.chat.vocabulary.effects import TellLogin, TellPrompt, TellStop
from eca_nvim.chat.vocabulary.events import (
    AgentGone,
    AgentTurn,
    ChatDeleted,
    PromptAnswered,
    TurnChanged,
)
from eca_nvim.chat.vocabulary.ops import BlockKind
from eca_nvim.chat.vocabulary.states import SECRET_TURNS, Turn, TurnEnd, TurnStep, next_turn

LOG_END = "the last lines of the server's log"
NO_ANSWER = "The agent ended its turn without an answer."

_OTHER_WORD: Mapping[AgentTurn, AgentTurn] = {
    AgentTurn.IDLE: AgentTurn.FINISHED,
    AgentTurn.FINISHED: AgentTurn.IDLE,
}
_STEPS: Mapping[AgentTurn, TurnStep] = {
    AgentTurn.IDLE: TurnStep.END,
    AgentTurn.FINISHED: TurnStep.FINISH,
}


# --- steps --------------------------------------------------------------------------------------


def begin(update: Update, step: TurnStep) -> None:
    """Go from idle into a turn, because we sent a prompt or the agent began on its own."""
    turn = update.chat.turn
    turn.state = next_turn(turn.state, step)
    turn.started_ms = update.now
    turn.heard(update.now)
    turn.expected_end = TurnEnd.DONE
    turn.number += 1
    update.dirty |= Dirty.STATUS
    update.emit("EcaTurnStarted", {})


def start_prompt(update: Update, text: str, contexts: tuple[Context, ...]) -> None:
    """Begin a turn with a prompt: it is shown at once, and the agent is told."""
    chat = update.chat
    update.lane = chat.root
    begin(update, TurnStep.SEND)
    chat.unconfirmed.append(show_user(update, text))
    chat.turn.unanswered += 1
    update.tell(TellPrompt(chat.id, text, contexts))


def stop(update: Update) -> None:
    """Ask the agent to end the turn; what waits for the user is over at once."""
    match update.chat.turn.state:
        case Turn.IDLE:
            pass
        case Turn.LOGIN:
            update.chat.turn.heard(update.now)
            _step(update, TurnStep.STOP)
            _cancel_login(update)
        case Turn.LEAVING:
            if not update.chat.turn.unanswered:
                _cancel_login(update)
        case _:
            update.tell(TellStop(update.chat.id))
            update.chat.turn.heard(update.now)
            _stopping(update)


def _stopping(update: Update) -> None:
    turn = update.chat.turn
    if turn.state in (Turn.SENDING, Turn.RUNNING, Turn.CLOSING):
        _step(update, TurnStep.STOP)
        turn.owed = None
        settle_pending(update)


def _step(update: Update, step: TurnStep) -> None:
    turn = update.chat.turn
    turn.state = next_turn(turn.state, step)
    update.dirty |= Dirty.STATUS


def tell_login(update: Update, text: str | None) -> None:
    """Tell the agent what it needs to log in; None cancels the login. It answers as to a prompt."""
    update.chat.turn.unanswered += 1
    update.tell(TellLogin(update.chat.id, text))


def _cancel_login(update: Update) -> None:
    """End the login: the agent ends it when a question of it is cancelled, and else on request."""
    asks = question_of_agent(update.chat) is not None
    settle_pending(update)
    if not asks:
        tell_login(update, None)


def end(update: Update, reason: TurnEnd) -> None:
    """End the turn, close all that was going on in it, and send what should follow."""
    chat = update.chat
    chat.turn.state = next_turn(chat.turn.state, TurnStep.END)
    chat.activity, chat.retrying = None, False
    chat.unconfirmed.clear()
    update.dirty |= Dirty.STATUS
    settle(update, completed=reason is TurnEnd.DONE)
    turn_ended(update)
    if reason is TurnEnd.DONE and _is_unanswered(update):
        note(update, NO_ANSWER)
    update.emit("EcaTurnFinished", {"reason": reason.value})
    prompt = follow_up(update, reason)
    keep_for_later(update)
    if prompt is not None:
        start_prompt(update, prompt.text, prompt.contexts)


def _is_unanswered(update: Update) -> bool:
    """Say whether nothing came of the prompt of this turn; a command may do its work silently."""
    match update.chat.root.blocks[-1:]:
        case [TextBlock(kind=BlockKind.USER, turn=number) as prompt]:
            return number == update.chat.turn.number and not is_command(prompt.text)
        case _:
            return False


# --- the agent's word ---------------------------------------------------------------------------


def turn_changed(update: Update, event: TurnChanged) -> None:
    """Take the agent's word on its turn; a subagent's end settles only what is its own."""
    if update.lane is not update.chat.root:
        if event.turn in _OTHER_WORD:
            settle(update, update.lane, completed=update.chat.turn.state is Turn.RUNNING)
        return
    match event.turn:
        case AgentTurn.RUNNING:
            _agent_runs(update)
        case AgentTurn.STOPPING:
            _stopping(update)
        case AgentTurn.LOGIN:
            _agent_logs_in(update)
        case AgentTurn.IDLE | AgentTurn.FINISHED:
            _agent_ended(update, event.turn)


def _agent_runs(update: Update) -> None:
    turn = update.chat.turn
    turn.owed = None
    match turn.state:
        case Turn.IDLE:
            begin(update, TurnStep.START)
        case Turn.SENDING | Turn.CLOSING | Turn.LOGIN:
            _step(update, TurnStep.START)
        case Turn.LEAVING:  # there was no login any more
            _step(update, TurnStep.START)
            update.tell(TellStop(update.chat.id))
        case Turn.STOPPING:  # the stop came before the turn: it was not heard
            update.tell(TellStop(update.chat.id))
        case Turn.RUNNING:
            pass


def _agent_logs_in(update: Update) -> None:
    turn = update.chat.turn
    turn.owed = None
    was = turn.state
    if was is Turn.IDLE:
        begin(update, TurnStep.LOGIN)
    else:
        _step(update, TurnStep.LOGIN)
    update.chat.unconfirmed.clear()
    keep_for_later(update)
    if was is Turn.STOPPING:  # the stop came before the login: it was not heard
        _cancel_login(update)


def _agent_ended(update: Update, word: AgentTurn) -> None:
    turn = update.chat.turn
    if turn.owed is word:
        turn.owed = None
    elif turn.state is not Turn.IDLE:
        if next_turn(turn.state, _STEPS[word]) is Turn.IDLE:
            _end_by(update, word)
        else:
            _step(update, _STEPS[word])


def _end_by(update: Update, word: AgentTurn) -> None:
    """End the turn by a word of the agent; after a login no other follows."""
    turn = update.chat.turn
    stopped = turn.state in (Turn.STOPPING, Turn.LEAVING)
    turn.owed = None if turn.state in SECRET_TURNS else _OTHER_WORD[word]
    end(update, TurnEnd.STOPPED if stopped else turn.expected_end)


def prompt_answered(update: Update, event: PromptAnswered) -> None:
    """Take the answer to a prompt: a refusal ends the turn, unless it has ended already."""
    chat = update.chat
    turn = chat.turn
    if update.lane is not chat.root:
        return
    turn.unanswered = max(0, turn.unanswered - 1)
    if event.accepted and event.model:
        chat.selected.model = event.model
        update.dirty |= Dirty.STATUS
    if turn.unanswered or turn.state is Turn.IDLE:
        return
    if not event.accepted:
        note(update, event.fault or "The agent refused the prompt.", is_error=True)
        if turn.state is not Turn.LOGIN:  # which goes on: the user may try again
            end(update, TurnEnd.FAILED)
    elif turn.state is Turn.SENDING:
        _step(update, TurnStep.START)
    elif turn.state is Turn.CLOSING:
        _end_by(update, AgentTurn.FINISHED)
    elif turn.state is Turn.LEAVING:
        _end_by(update, AgentTurn.IDLE)


def agent_gone(update: Update, event: AgentGone) -> None:
    """Take the end of the agent's process: every turn is over, what waits stays.

    The reason comes last, for that is what the user sees; the end of the log is closed above it.
    """
    chat = update.chat
    update.lane = chat.root
    if event.stderr_tail:
        log = PlainBlock(update.mint(), BlockKind.NOTE, Fold.CLOSED, name=LOG_END)
        log.text = "\n".join(event.stderr_tail)
        update.add(log)
    else:
        _take_back(update, event.reason)
    note(update, event.reason, is_error=True)
    _cut(update)


def _take_back(update: Update, told: str) -> None:
    """Take out a fault right above the prompt that it is now the answer to.

    Opening a chat starts the agent, and so does its first prompt: both fail alike. A fault that
    answers an earlier prompt stays.
    """
    match update.lane.blocks[-3:]:
        case [TextBlock(kind=BlockKind.USER), NoteBlock(), _]:
            return
        case [*_, NoteBlock(text=text) as fault, TextBlock(kind=BlockKind.USER)] if text == told:
            update.remove(fault, update.lane)


def chat_deleted(update: Update, _event: ChatDeleted) -> None:
    """Mark the chat deleted; its text stays readable."""
    if update.lane is not update.chat.root:
        return
    update.chat.deleted = True
    note(update, "The agent has deleted this chat. Its text stays here; a prompt starts it anew.")
    _cut(update)


def _cut(update: Update) -> None:
    turn = update.chat.turn
    turn.unanswered = 0
    turn.owed = None
    if turn.state is Turn.IDLE:
        settle(update)
    else:
        end(update, TurnEnd.GONE)
    update.effects.clear()  # nobody is there to be told

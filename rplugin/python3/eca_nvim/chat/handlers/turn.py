"""Turn: starts, stops and ends a turn.

Rules kept here:
- Every end leaves the chat idle, and is announced exactly once with its reason.
- The agent reports an end with two events (idle then finished, stopping and finished, or finished
  then idle). The first ends the turn. The other one is `owed_end`, and must not end the next turn.
- Before the agent has answered the prompt, `finished` does not end the turn: a login may follow.
  A login ends with idle; until then no queued prompt is sent and no question is closed.
- The response to a prompt affects the turn only if no newer prompt was sent.
"""

from __future__ import annotations

from collections.abc import Mapping

from eca_nvim.chat.handlers.messages import note, show_user
from eca_nvim.chat.handlers.prompt_queue import follow_up, is_command, keep_for_later
from eca_nvim.chat.handlers.questions import question_of_agent
from eca_nvim.chat.handlers.settle import settle, settle_pending
from eca_nvim.chat.handlers.task_list import drop_unsent_task_list
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

_OTHER_END: Mapping[AgentTurn, AgentTurn] = {
    AgentTurn.IDLE: AgentTurn.FINISHED,
    AgentTurn.FINISHED: AgentTurn.IDLE,
}
_STEPS: Mapping[AgentTurn, TurnStep] = {
    AgentTurn.IDLE: TurnStep.END,
    AgentTurn.FINISHED: TurnStep.FINISH,
}


# --- steps --------------------------------------------------------------------------------------


def begin(update: Update, step: TurnStep) -> None:
    """Start a turn, because we sent a prompt or the agent began on its own."""
    turn = update.chat.turn
    turn.state = next_turn(turn.state, step)
    turn.started_ms = update.now
    turn.note_activity(update.now)
    turn.expected_end = TurnEnd.DONE
    turn.number += 1
    update.dirty |= Dirty.STATUS
    update.emit("EcaTurnStarted", {})


def start_prompt(update: Update, text: str, contexts: tuple[Context, ...]) -> None:
    """Start a turn with a prompt: show it at once and send it to the agent."""
    chat = update.chat
    update.lane = chat.root
    begin(update, TurnStep.SEND)
    chat.unconfirmed.append(show_user(update, text))
    chat.turn.unanswered += 1
    update.tell(TellPrompt(chat.id, text, contexts))


def stop(update: Update) -> None:
    """Ask the agent to end the turn; requests that wait for the user end at once."""
    match update.chat.turn.state:
        case Turn.IDLE:
            pass
        case Turn.LOGIN:
            update.chat.turn.note_activity(update.now)
            _step(update, TurnStep.STOP)
            _cancel_login(update)
        case Turn.LEAVING:
            if not update.chat.turn.unanswered:
                _cancel_login(update)
        case _:
            update.tell(TellStop(update.chat.id))
            update.chat.turn.note_activity(update.now)
            _mark_stopping(update)


def _mark_stopping(update: Update) -> None:
    turn = update.chat.turn
    if turn.state in (Turn.SENDING, Turn.RUNNING, Turn.CLOSING):
        _step(update, TurnStep.STOP)
        turn.owed_end = None
        settle_pending(update)


def _step(update: Update, step: TurnStep) -> None:
    turn = update.chat.turn
    turn.state = next_turn(turn.state, step)
    update.dirty |= Dirty.STATUS


def send_login(update: Update, text: str | None) -> None:
    """Send the agent what it needs to log in; None cancels. It responds as to a prompt."""
    update.chat.turn.unanswered += 1
    update.tell(TellLogin(update.chat.id, text))


def _cancel_login(update: Update) -> None:
    """Cancel the login: closing its question does that; without one we ask the agent."""
    asks = question_of_agent(update.chat) is not None
    settle_pending(update)
    if not asks:
        send_login(update, None)


def end(update: Update, reason: TurnEnd) -> None:
    """End the turn, close its live blocks, and send the prompt that should follow."""
    chat = update.chat
    chat.turn.state = next_turn(chat.turn.state, TurnStep.END)
    chat.activity, chat.retrying = None, False
    chat.unconfirmed.clear()
    update.dirty |= Dirty.STATUS
    settle(update, completed=reason is TurnEnd.DONE)
    drop_unsent_task_list(update)
    if reason is TurnEnd.DONE and _is_unanswered(update):
        note(update, NO_ANSWER)
    update.emit("EcaTurnFinished", {"reason": reason.value})
    prompt = follow_up(update, reason)
    keep_for_later(update)
    if prompt is not None:
        start_prompt(update, prompt.text, prompt.contexts)


def _is_unanswered(update: Update) -> bool:
    """Return whether the turn's prompt got no answer; a slash command may work silently."""
    match update.chat.root.blocks[-1:]:
        case [TextBlock(kind=BlockKind.USER, turn=number) as prompt]:
            return number == update.chat.turn.number and not is_command(prompt.text)
        case _:
            return False


# --- events of the agent ------------------------------------------------------------------------


def turn_changed(update: Update, event: TurnChanged) -> None:
    """Follow the turn state the agent reports; a subagent's end settles only its own lane."""
    if update.lane is not update.chat.root:
        if event.turn in _OTHER_END:
            settle(update, update.lane, completed=update.chat.turn.state is Turn.RUNNING)
        return
    match event.turn:
        case AgentTurn.RUNNING:
            _agent_runs(update)
        case AgentTurn.STOPPING:
            _mark_stopping(update)
        case AgentTurn.LOGIN:
            _agent_logs_in(update)
        case AgentTurn.IDLE | AgentTurn.FINISHED:
            _agent_ended(update, event.turn)


def _agent_runs(update: Update) -> None:
    turn = update.chat.turn
    turn.owed_end = None
    match turn.state:
        case Turn.IDLE:
            begin(update, TurnStep.START)
        case Turn.SENDING | Turn.CLOSING | Turn.LOGIN:
            _step(update, TurnStep.START)
        case Turn.LEAVING:  # the login had already ended
            _step(update, TurnStep.START)
            update.tell(TellStop(update.chat.id))
        case Turn.STOPPING:  # our stop arrived before the turn began: send it again
            update.tell(TellStop(update.chat.id))
        case Turn.RUNNING:
            pass


def _agent_logs_in(update: Update) -> None:
    turn = update.chat.turn
    turn.owed_end = None
    was = turn.state
    if was is Turn.IDLE:
        begin(update, TurnStep.LOGIN)
    else:
        _step(update, TurnStep.LOGIN)
    update.chat.unconfirmed.clear()
    keep_for_later(update)
    if was is Turn.STOPPING:  # our stop arrived before the login began
        _cancel_login(update)


def _agent_ended(update: Update, reported: AgentTurn) -> None:
    turn = update.chat.turn
    if turn.owed_end is reported:
        turn.owed_end = None
    elif turn.state is not Turn.IDLE:
        if next_turn(turn.state, _STEPS[reported]) is Turn.IDLE:
            _end_as_reported(update, reported)
        else:
            _step(update, _STEPS[reported])


def _end_as_reported(update: Update, reported: AgentTurn) -> None:
    """End the turn as the agent reports; after a login there is no second event."""
    turn = update.chat.turn
    stopped = turn.state in (Turn.STOPPING, Turn.LEAVING)
    turn.owed_end = None if turn.state in SECRET_TURNS else _OTHER_END[reported]
    end(update, TurnEnd.STOPPED if stopped else turn.expected_end)


def prompt_answered(update: Update, event: PromptAnswered) -> None:
    """Handle the response to a prompt: a refusal ends the turn if it still runs."""
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
        if turn.state is not Turn.LOGIN:  # a login goes on: the user may try again
            end(update, TurnEnd.FAILED)
    elif turn.state is Turn.SENDING:
        _step(update, TurnStep.START)
    elif turn.state is Turn.CLOSING:
        _end_as_reported(update, AgentTurn.FINISHED)
    elif turn.state is Turn.LEAVING:
        _end_as_reported(update, AgentTurn.IDLE)


def agent_gone(update: Update, event: AgentGone) -> None:
    """End the turn because the agent's process has ended; queued prompts stay.

    The reason comes last, where the user sees it; the end of the log is collapsed above it.
    """
    chat = update.chat
    update.lane = chat.root
    if event.stderr_tail:
        log = PlainBlock(update.mint(), BlockKind.NOTE, Fold.CLOSED, name=LOG_END)
        log.text = "\n".join(event.stderr_tail)
        update.add(log)
    else:
        _remove_repeated_error(update, event.reason)
    note(update, event.reason, is_error=True)
    _end_everything(update)


def _remove_repeated_error(update: Update, reason: str) -> None:
    """Remove the same error above the last prompt: it is about to be repeated below the prompt.

    Opening a chat starts the agent, and so does its first prompt: both fail in the same way. An
    error that answers an earlier prompt stays.
    """
    match update.lane.blocks[-3:]:
        case [TextBlock(kind=BlockKind.USER), NoteBlock(), _]:
            return
        case [*_, NoteBlock(text=text) as fault, TextBlock(kind=BlockKind.USER)] if text == reason:
            update.remove(fault, update.lane)


def chat_deleted(update: Update, _event: ChatDeleted) -> None:
    """Mark the chat deleted; its text stays readable."""
    if update.lane is not update.chat.root:
        return
    update.chat.deleted = True
    note(update, "The agent has deleted this chat. Its text stays here; a prompt starts it again.")
    _end_everything(update)


def _end_everything(update: Update) -> None:
    turn = update.chat.turn
    turn.unanswered = 0
    turn.owed_end = None
    if turn.state is Turn.IDLE:
        settle(update)
    else:
        end(update, TurnEnd.GONE)
    update.effects.clear()  # the agent is gone or has no such chat

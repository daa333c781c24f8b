"""Turn: starts, stops and ends a turn, also a silent one.

Every end leaves the chat idle, and is announced once with its reason.
"""

from collections.abc import Mapping, Sequence

from eca_nvim.chat.handlers.call_steps import settle, settle_pending
from eca_nvim.chat.handlers.messages import note, show_user, titled_text
from eca_nvim.chat.handlers.prompt_queue import OF_TURN, follow_up, requeue, with_notes
from eca_nvim.chat.handlers.questions import asks_itself, close_login_question, question_asked
from eca_nvim.chat.handlers.task_list import drop_task_list
from eca_nvim.chat.handlers.used_files import prompt_sent
from eca_nvim.chat.model import blocks
from eca_nvim.chat.model.chat import QueueKind, RunningTurn
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.vocabulary import completion, effects, events, ops, states, turn_events
from eca_nvim.chat.vocabulary.contexts import Context

PATIENCE_MS: Mapping[states.Turn, int] = {
    states.Turn.SENDING: 30_000,
    states.Turn.RUNNING: 30_000,
    states.Turn.STOPPING: 5_000,
    states.Turn.LEAVING: 5_000,
}
"""Milliseconds of silence before we ask the agent; doubled each time."""
LONGEST_MS = 300_000

STOPPED = "The server did not confirm the stop; the turn is ended here."
IDLE = "The server reports this chat as idle but did not report the turn's end: it ends here."

_STOPS = frozenset({states.Turn.STOPPING, states.Turn.LEAVING})
_WORKING = frozenset({states.CallState.APPROVED, states.CallState.RUNNING})


def ask_when_silent(update: Update) -> None:
    """Ask the agent whether the turn still runs, if it has been silent for too long."""
    chat, turn, live = update.chat, update.chat.turn, update.chat.live.values()
    first = PATIENCE_MS.get(turn.state)
    if first is None or chat.server != "ready":
        return
    # A tool that runs, a request that waits and a retry may take long. A stop must be confirmed
    # soon, whatever it interrupts.
    works = any(isinstance(block, blocks.ToolBlock) and block.state in _WORKING for block in live)
    if turn.state not in _STOPS and (turn.retrying or chat.waiting or works):
        return
    waits = (min(first << number, LONGEST_MS) for number in range(turn.times_asked + 1))
    if update.now - turn.last_activity_ms >= sum(waits):
        turn.times_asked += 1
        silent = effects.SilentTurn(chat.id, turn.number, turn.times_asked)
        update.effects.append(lambda it: it.ask_turn(silent))


def turn_lapsed(update: Update, event: turn_events.TurnLapsed) -> None:
    """End the turn we asked about, unless the agent has sent something since."""
    turn = update.chat.turn
    if turn.state is states.Turn.IDLE or (turn.number, turn.times_asked) != (
        event.number,
        event.times_asked,
    ):
        return
    stops = turn.state in _STOPS
    if not stops and not event.is_idle:
        return  # an agent that does not mention the chat may still work
    note(update, STOPPED if stops else IDLE, is_error=not stops)
    end(update, states.TurnEnd.STOPPED if stops else states.TurnEnd.FAILED)


LOG_END = "the last lines of the server's log"
NO_ANSWER = "The agent ended its turn without an answer: send your prompt again, or see :Eca log."
STOPPED_HERE = "The turn was stopped here."
SILENT_LOGIN = "The server wants a login, and does not say what it needs"
LOGIN_QUESTION = "login"
"""The id of the question that we ask for a login."""
_SECRET_WORDS = ("key", "token", "code", "password", "secret")
"""Words in what a login asks for if the answer is a secret."""


# --- steps --------------------------------------------------------------------------------------


def begin(update: Update, step: states.TurnStep) -> None:
    """Start a turn, because we sent a prompt or the agent began on its own."""
    chat, before = update.chat, update.chat.turn
    now, number = update.now, before.number + 1
    model = str(chat.shown_options.get("model") or "")
    chat.turn = RunningTurn(before.state, now, number, last_activity_ms=now, model=model)
    _step(update, step)
    chat.used.begin_turn(number)
    update.emit("EcaTurnStarted", {})


def start_prompt(update: Update, text: str, contexts: tuple[Context, ...]) -> None:
    """Start a turn with a prompt: show it at once and send it to the agent."""
    chat = update.chat
    update.lane = chat.root
    begin(update, states.TurnStep.SEND)
    chat.turn.by_command = bool(completion.COMMAND.match(text))
    if chat.queue and not chat.turn.by_command:
        text = with_notes(update, text)
    shown = show_user(update, text)
    shown.contexts = contexts
    chat.unconfirmed.append(shown)
    prompt = effects.Prompt(chat.id, text, contexts, chat.recap)
    update.effects.append(lambda it: it.prompt(prompt))
    if contexts:
        prompt_sent(update, contexts)


def stop(update: Update) -> None:
    """Ask the agent to end the turn; requests that wait for the user end at once."""
    match update.chat.turn.state:
        case states.Turn.IDLE:
            pass
        case states.Turn.LOGIN if _is_bare_login(update):
            update.effects.append(lambda it: it.stop(update.chat.id))
            end(update, states.TurnEnd.STOPPED)
        case states.Turn.LOGIN:
            update.chat.turn.note_activity(update.now)
            _step(update, states.TurnStep.STOP)
            _cancel_login(update)
        case states.Turn.LEAVING:
            _cancel_login(update)
        case _:
            update.effects.append(lambda it: it.stop(update.chat.id))
            update.chat.turn.note_activity(update.now)
            _mark_stopping(update)


def stop_for_reason(update: Update) -> None:
    """Stop a turn that went on after a rejection whose reason waits: it is the next prompt."""
    if any(entry.kind is QueueKind.REASON for entry in update.chat.queue):
        stop(update)


def _mark_stopping(update: Update) -> None:
    turn = update.chat.turn
    if turn.state in (states.Turn.SENDING, states.Turn.RUNNING):
        _step(update, states.TurnStep.STOP)
        settle_pending(update)


def _step(update: Update, step: states.TurnStep) -> None:
    """Take a step of a turn. Raises KeyError for one that is not in the table: a bug of ours."""
    turn = update.chat.turn
    turn.state = states.TURN_STEPS[turn.state, step]
    update.dirty |= Dirty.STATUS


def _last(update: Update) -> Sequence[blocks.Block]:
    """Return what was said last; the row that says which answer follows is nobody's words."""
    ends = update.chat.root.blocks[-2:]
    return [it for it in ends if it.kind is not ops.BlockKind.ATTEMPTS][-1:]


def _is_bare_login(update: Update) -> bool:
    """Return whether the agent has said nothing in a login: it may not know a word to cancel it."""
    match _last(update):
        case [blocks.TextBlock(kind=ops.BlockKind.USER)]:
            return True
        case [
            blocks.QuestionBlock(
                question=blocks.Question(asked=events.QuestionAsked(question=asked))
            )
        ]:
            return asked == SILENT_LOGIN
        case _:
            return False


def _login_question(update: Update) -> str | None:
    """Return what a login waits for: the last line of the agent, or what it asked before.

    None if that is asked already, or if the agent has said nothing since its own question.
    """
    match _last(update):
        case [blocks.NoteBlock(text=text)]:
            return text.strip().splitlines()[-1]
        case [blocks.TextBlock(kind=ops.BlockKind.USER)]:
            return SILENT_LOGIN
        case [blocks.QuestionBlock(question=blocks.Question(asked=asked, state=state))] if (
            asked.in_login
        ):
            return None if state is blocks.QuestionState.WAITING else asked.question
        case _:
            return None


def _cancel_login(update: Update) -> None:
    """Cancel the login: closing its own question does that; without one we ask the agent."""
    asks = asks_itself(update.chat)
    settle_pending(update)
    if not asks:
        update.effects.append(lambda it: it.answer_login(update.chat.id, None))


def end(update: Update, reason: states.TurnEnd) -> None:
    """End the turn, close its live blocks, and send the prompt that should follow."""
    chat = update.chat
    was_login = chat.turn.state in states.LOGIN_TURNS
    _step(update, states.TurnStep.END)
    chat.turn.activity, chat.turn.retrying, chat.turn.end = None, False, reason
    chat.unconfirmed.clear()
    if chat.recap is not None and not chat.turn.by_command and _has_answered(update):
        chat.recap = None
    settle(update, end=reason)
    if not chat.turn.sent_tasks:
        drop_task_list(update)
    if reason is states.TurnEnd.DONE and _is_unanswered(update):
        note(update, NO_ANSWER)
    elif reason is states.TurnEnd.STOPPED and not was_login and not _says_why_it_ended(update):
        note(update, STOPPED_HERE)
    ended = {"reason": reason.value, "command": chat.turn.by_command}
    update.emit("EcaTurnFinished", ended)
    prompt = follow_up(update, reason)
    requeue(update, OF_TURN)
    if prompt is not None:
        start_prompt(update, prompt.text, prompt.contexts)


def _has_answered(update: Update) -> bool:
    """Return whether the model has said or done something since the last prompt."""
    for block in reversed(update.chat.root.blocks):
        if isinstance(block, blocks.TextBlock):
            return block.kind is not ops.BlockKind.USER
        if isinstance(block, blocks.ReasoningBlock | blocks.ToolBlock):
            return True
    return False


def _is_unanswered(update: Update) -> bool:
    """Return whether the turn's prompt got no answer; a command may work silently."""
    turn = update.chat.turn
    match _last(update):
        case [blocks.TextBlock(kind=ops.BlockKind.USER, turn=number)]:
            return number == turn.number and not turn.by_command
        case _:
            return False


def _says_why_it_ended(update: Update) -> bool:
    """Return whether the last block says that the turn was stopped: a message, or a call."""
    match _last(update):
        case [blocks.NoteBlock()]:
            return True
        case [blocks.ToolBlock(state=states.CallState.STOPPED | states.CallState.REJECTED)]:
            return True
        case _:
            return False


# --- events of the agent ------------------------------------------------------------------------


def turn_began(update: Update, _event: turn_events.TurnBegan) -> None:
    """Note that the agent works."""
    match update.chat.turn.state:
        case states.Turn.IDLE:
            begin(update, states.TurnStep.START)
        case states.Turn.LOGIN:
            close_login_question(update)
            _step(update, states.TurnStep.START)
        case states.Turn.SENDING:
            _step(update, states.TurnStep.START)
        case states.Turn.LEAVING:  # the login had already ended
            _step(update, states.TurnStep.START)
            update.effects.append(lambda it: it.stop(update.chat.id))
        case states.Turn.STOPPING:  # our stop arrived before the turn began: send it again
            update.effects.append(lambda it: it.stop(update.chat.id))
        case states.Turn.RUNNING:
            pass


def turn_stopping(update: Update, _event: turn_events.TurnStopping) -> None:
    """Note that the agent stops the turn; pending requests are over at once."""
    _mark_stopping(update)


def stop_refused(update: Update, event: turn_events.StopRefused) -> None:
    """Note that the turn goes on although the user wants to stop it."""
    if update.chat.turn.state is states.Turn.STOPPING:
        _step(update, states.TurnStep.START)
    note(update, event.message)


def login_began(update: Update, _event: turn_events.LoginBegan) -> None:
    """Turn the chat's turn into a login."""
    was = update.chat.turn.state
    if was is states.Turn.IDLE:
        begin(update, states.TurnStep.LOGIN)
    else:
        _step(update, states.TurnStep.LOGIN)
    update.chat.unconfirmed.clear()
    requeue(update, OF_TURN)
    if was is states.Turn.STOPPING:  # our stop arrived before the login began
        _cancel_login(update)


def login_waits(update: Update, _event: turn_events.LoginWaits) -> None:
    """Ask for what a login waits for, unless the agent has a question of its own."""
    wanted = _login_question(update) if update.chat.turn.state is states.Turn.LOGIN else None
    if wanted is None or asks_itself(update.chat):
        return
    match update.lane.blocks[-1]:
        case blocks.NoteBlock(text=text) as said if text.strip() == wanted:
            update.remove(said)  # the question has all of it
    secret = wanted == SILENT_LOGIN or any(word in wanted.lower() for word in _SECRET_WORDS)
    question_asked(
        update, events.QuestionAsked(LOGIN_QUESTION, wanted, secret=secret, in_login=True)
    )


def turn_ended(update: Update, event: turn_events.TurnEnded) -> None:
    """End the turn and show the agent's reason; a subagent's end settles only its own lane."""
    turn = update.chat.turn
    if update.lane is not update.chat.root:
        is_done = turn.state is states.Turn.RUNNING
        settle(update, update.lane, states.TurnEnd.DONE if is_done else states.TurnEnd.STOPPED)
    elif turn.state is not states.Turn.IDLE:
        if event.message:
            note(update, event.message, is_error=event.end is states.TurnEnd.FAILED)
        end(update, _reason(turn, event.end))


def _reason(turn: RunningTurn, reported: states.TurnEnd) -> states.TurnEnd:
    """Return why a turn ended: what the user did counts more than a plain end the agent reports."""
    if reported not in (states.TurnEnd.DONE, states.TurnEnd.STOPPED):
        return reported
    if turn.state in (states.Turn.STOPPING, states.Turn.LEAVING):
        return states.TurnEnd.STOPPED
    return reported if turn.expected_end is states.TurnEnd.DONE else turn.expected_end


def agent_gone(update: Update, event: events.AgentGone) -> None:
    """End the turn because the agent's process has ended; queued prompts stay.

    The reason comes last, where the user sees it; the end of the log is collapsed above it.
    """
    chat = update.chat
    update.lane = chat.root
    if event.stderr_tail:
        titled_text(update, LOG_END, "\n".join(event.stderr_tail))
    else:
        _remove_repeated_error(update, event.reason)
    note(update, event.reason, is_error=True)
    _end_everything(update)
    for lane in chat.lanes.values():  # the next process may use the ids again
        lane.reasoning.clear()
        lane.hooks.clear()


def _remove_repeated_error(update: Update, reason: str) -> None:
    """Remove the same error above the last prompt: it is about to be repeated below the prompt.

    Opening a chat starts the agent, and so does its first prompt: both fail in the same way. An
    error that answers an earlier prompt stays.
    """
    match update.lane.blocks[-3:]:
        case [blocks.TextBlock(kind=ops.BlockKind.USER), blocks.NoteBlock(), _]:
            return
        case [
            *_,
            blocks.NoteBlock(text=text) as fault,
            blocks.TextBlock(kind=ops.BlockKind.USER),
        ] if text == reason:
            update.remove(fault)


def chat_deleted(update: Update, _event: events.ChatDeleted) -> None:
    """Mark the chat deleted; its text stays readable."""
    update.chat.deleted = True
    note(update, "The server has deleted this chat. Its text stays here; a prompt starts it again.")
    _end_everything(update)


def _end_everything(update: Update) -> None:
    if update.chat.turn.state is states.Turn.IDLE:
        settle(update)
    else:
        end(update, states.TurnEnd.GONE)
    update.effects.clear()  # the agent is gone or has no such chat

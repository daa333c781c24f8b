"""Prompts: sends prompts, queues them and takes them back."""

from eca_nvim.chat.handlers.messages import note
from eca_nvim.chat.handlers.prompt_queue import OF_HISTORY, STEERED, enqueue, requeue, take
from eca_nvim.chat.handlers.turn import end, start_prompt, stop
from eca_nvim.chat.model.blocks import Changes
from eca_nvim.chat.model.chat import Chat, QueuedPrompt, QueueKind
from eca_nvim.chat.text.safe_text import clean
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.vocabulary import completion, ops, options, states
from eca_nvim.chat.vocabulary.contexts import Context

NO_STEER = "this server cannot be steered: your prompt is queued"


def send_prompt(
    chat: Chat,
    text: str,
    now: int,
    contexts: tuple[Context, ...] = (),
    *,
    queue: bool = False,
) -> Changes:
    """Send a prompt; while a turn runs it steers, or with `queue` waits for the end.

    A command always waits for the end, and every prompt for a history that changes. An empty prompt
    to an idle chat sends the oldest queued one.
    """
    update = Update(chat, chat.root, now)
    blank = len(text) - len(text.lstrip())
    text = text[text.rfind("\n", 0, blank) + 1 :].rstrip()  # the first line keeps its indent
    if chat.history is states.History.CHANGING:  # its response may remove all that is shown
        if text:
            _wait_for_history(update, text, contexts)
        elif not chat.has_turn and (waiting := take(update)):
            _wait_for_history(update, waiting.text, waiting.contexts)
    elif chat.turn.state is not states.Turn.IDLE:
        if text:
            _wait(update, text, contexts, queue=queue)
    elif text:
        start_prompt(update, text, contexts)
    elif waiting := take(update):
        start_prompt(update, waiting.text, waiting.contexts)
    return update.finish()


def tell_with_prompt(chat: Chat, text: str, now: int) -> Changes:
    """Let the next prompt take a note along that an earlier Neovim could not send."""
    update = Update(chat, chat.root, now)
    enqueue(update, QueuedPrompt(QueueKind.NOTE, text))
    return update.finish()


def hold_prompt(
    chat: Chat, text: str, contexts: tuple[Context, ...], reason: str, now: int
) -> Changes:
    """Queue a prompt that has begun a turn and was not sent, as the next one; say why."""
    update = Update(chat, chat.root, now)
    if chat.unconfirmed:
        update.remove(chat.unconfirmed[-1])
    note(update, reason, is_error=True)
    enqueue(update, QueuedPrompt(QueueKind.NEXT, text, contexts))
    requeue(update, OF_HISTORY)
    end(update, states.TurnEnd.FAILED)
    return update.finish()


def _wait_for_history(update: Update, text: str, contexts: tuple[Context, ...]) -> None:
    chat = update.chat
    if not chat.has_turn:
        chat.turn.started_ms = update.now
    enqueue(update, QueuedPrompt(QueueKind.NEXT, text, contexts))


def _wait(update: Update, text: str, contexts: tuple[Context, ...], *, queue: bool) -> None:
    waits = queue or completion.COMMAND.match(text)
    kind = QueueKind.QUEUE if waits else _kind_in_turn(update)
    enqueue(update, QueuedPrompt(kind, text, contexts))
    if kind is QueueKind.STEER:
        _steer(update, text, contexts)


def _kind_in_turn(update: Update) -> QueueKind:
    """Return the kind of a prompt that is for the running turn, if one runs."""
    match update.chat.turn.state:
        case states.Turn.SENDING | states.Turn.RUNNING if (
            options.Ability.STEER in update.chat.abilities
        ):
            return QueueKind.STEER
        case states.Turn.SENDING | states.Turn.RUNNING:
            update.ops.append(ops.Notify("info", NO_STEER))
            return QueueKind.CORRECTION
        case states.Turn.STOPPING:
            return QueueKind.CORRECTION
        case _:
            return QueueKind.QUEUE


def unqueue(chat: Chat, index: int, now: int, *, edit: bool = False) -> Changes:
    """Remove a queued prompt, by its place in the queue (1-based).

    edit: put its text back into the input.
    """
    update = Update(chat, chat.root, now)
    if 1 <= index <= len(chat.queue):
        taken = chat.queue.pop(index - 1)
        update.dirty |= Dirty.QUEUE
        if taken.kind in STEERED and chat.has_turn and options.Ability.STEER in chat.abilities:
            _steer_again(update)
        if edit:
            update.ops.append(ops.SetInput(chat.id, clean(taken.text)))
    return update.finish()


def _steer_again(update: Update) -> None:
    """Withdraw all steers, because the agent cannot withdraw one, and send the others again."""
    update.effects.append(lambda it: it.unsteer(update.chat.id))
    for waiting in update.chat.queue:
        if waiting.kind in STEERED:
            _steer(update, waiting.text, waiting.contexts)


def _steer(update: Update, text: str, contexts: tuple[Context, ...]) -> None:
    update.effects.append(lambda it: it.steer(update.chat.id, text, contexts))


def stop_turn(chat: Chat, now: int) -> Changes:
    """Stop the running turn; a second stop asks the agent again. Warn if no turn runs.

    A prompt that waits for the history stays queued, and is not sent by itself any more.
    """
    update = Update(chat, chat.root, now)
    if not chat.has_turn:
        update.ops.append(ops.Notify("info", "no turn is running"))
    if chat.history is states.History.CHANGING:
        requeue(update, OF_HISTORY)
        update.effects.append(lambda it: it.give_up(chat.id))
    stop(update)
    return update.finish()

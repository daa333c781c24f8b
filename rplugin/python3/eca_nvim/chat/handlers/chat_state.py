"""Chat state: events about a whole chat: title, options, progress, usage, commands, cleared."""

from eca_nvim.chat.handlers.call_groups import show_progress, store_usage
from eca_nvim.chat.handlers.call_steps import settle
from eca_nvim.chat.handlers.messages import note
from eca_nvim.chat.handlers.task_list import drop_task_list
from eca_nvim.chat.model.blocks import Lane
from eca_nvim.chat.model.chat import Chat, TitleOwner
from eca_nvim.chat.render.status import shown_options
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.vocabulary import completion, events, ops, options, states, turn_events

FORGOTTEN = (
    "A new server answers from here on. It does not know what was said above: "
    "repeat what it needs to know."
)


def title_changed(update: Update, event: events.TitleChanged) -> None:
    """Store the chat's title, unless the user has set one that the agent cannot know."""
    chat = update.chat
    if chat.title_owner is not TitleOwner.USER or not chat.title:
        chat.title = one_line(event.title) or None
        update.dirty |= Dirty.STATUS


def chat_opened(update: Update, event: events.ChatOpened) -> None:
    """Note that the agent has the chat; without a title the chat is new to it. May repeat."""
    chat = update.chat
    chat.deleted = False
    if event.title is not None:
        title_changed(update, events.TitleChanged(event.title))
    elif chat.title_owner is TitleOwner.UNSURE:
        # A new process may not know the chat, and opens it as new when the first prompt arrives.
        # The chat keeps its title then: the agent has seen only its end.
        chat.title_owner = TitleOwner.USER
        _warn_forgotten(update)


def doubt_title(chat: Chat) -> None:
    """Note that the next agent process may not know this chat."""
    if any(block.kind is ops.BlockKind.ASSISTANT for block in chat.root.blocks):
        chat.title_owner = TitleOwner.UNSURE


def _warn_forgotten(update: Update) -> None:
    """Warn, above the first prompt it answers, that the agent has lost the conversation."""
    root, unread = update.chat.root, update.chat.unconfirmed
    place = root.blocks.index(unread[0]) if unread else 0
    update.after = root.blocks[place - 1] if place else None
    note(update, FORGOTTEN)


def options_changed(update: Update, event: options.OptionsChanged) -> None:
    """Store the options of the chat."""
    chat = update.chat
    before, chat.options = chat.options, event.options
    if before != chat.options:
        chat.shown_options = shown_options(chat.options)
        update.dirty |= Dirty.STATUS | Dirty.OPTIONS
    # What the agent lists counts: a value that the user has set is shown once it is listed.
    for option_id, value in tuple(chat.asked_options.items()):
        option = options.find_option(chat.options, option_id)
        if option is not None and option.value == value:
            del chat.asked_options[option_id]
        elif option is None or not option.accepts(value):
            del chat.asked_options[option_id]
            _complain(update, _not_offered(options.find_option(before, option_id), option, value))


def _not_offered(
    before: options.ChatOption | None, option: options.ChatOption | None, value: options.OptionValue
) -> str:
    listed = before or option or options.ChatOption("", "the option")
    if option is None:
        return f"{listed.name} is not set: the server no longer has it"
    stays = f"{option.name} stays {option.name_of(option.value)}"
    return f"{stays}: the server no longer offers {listed.name_of(value)}"


def _complain(update: Update, line: str) -> None:
    """Show a line as plain text: names in it are the agent's."""
    note(update, one_line(line), is_error=True)


def option_refused(update: Update, event: options.OptionRefused) -> None:
    """Tell the user why an option keeps its value. Refused trust is switched off."""
    chat = update.chat
    chat.asked_options.pop(event.option_id, None)
    option = options.find_option(chat.options, event.option_id)
    if option is None:
        _complain(update, event.reason)
        return
    if option.category == options.TRUST:
        chat.trust = False
        update.dirty |= Dirty.STATUS
    _complain(update, f"{option.name} stays {option.name_of(option.value)}: {event.reason}")


def progress_changed(update: Update, event: events.ProgressChanged) -> None:
    """Show what the agent says it is doing; ignored while no turn runs."""
    chat = update.chat
    if update.lane is not chat.root:
        show_progress(update, update.lane, one_line(event.text))
    elif chat.turn.state is not states.Turn.IDLE:
        chat.turn.activity, chat.turn.retrying = event.text or None, event.is_retry
        update.dirty |= Dirty.STATUS


def usage_reported(update: Update, event: turn_events.UsageReported) -> None:
    """Store tokens and cost; a subagent's are shown with its call."""
    if update.lane is not update.chat.root:
        store_usage(update, update.lane, event)
        return
    update.chat.usage = event
    update.dirty |= Dirty.STATUS | Dirty.USAGE


def chat_cleared(update: Update, event: events.ChatCleared) -> None:
    """Remove all blocks; the turn and the queued prompts stay."""
    chat = update.chat
    if not event.messages:
        return
    settle(update)
    chat.unconfirmed.clear()
    chat.older = None
    drawn = [it.id for it in chat.blocks.values() if it.is_shown]
    chat.blocks.clear()
    chat.lanes.clear()
    chat.anchors.clear()
    chat.used.clear()
    chat.recap = None
    drop_task_list(update)
    chat.title_owner = TitleOwner.AGENT
    if event.usage:
        chat.usage = None
        update.dirty |= Dirty.STATUS | Dirty.USAGE
    chat.lanes[chat.id] = Lane(chat.id)
    update.lane = chat.root
    removed = [ops.RemoveBlock(chat.id, it) for it in drawn]
    update.ops += removed if event.moves else [ops.ClearChat(chat.id)]


def commands_changed(update: Update, event: completion.CommandsChanged) -> None:
    """Store the commands that the agent knows in this chat."""
    update.chat.commands = event.commands

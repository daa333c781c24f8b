"""Options: the agent's list of what can be set in a chat, and what it refuses.

Rules kept here:
- What the agent lists counts: a value that the user has set is shown once the agent lists it.
- If the agent refuses such a value, or a newer list no longer offers it, one line says so.
"""

from __future__ import annotations

from eca_nvim.chat.handlers.messages import note
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.vocabulary.options import (
    TRUST,
    ChatOption,
    OptionRefused,
    OptionsChanged,
    OptionValue,
    find_option,
)


def options_changed(update: Update, event: OptionsChanged) -> None:
    """Store the options of the chat; a subagent's are not shown."""
    chat = update.chat
    if update.lane is not chat.root:
        return
    before, chat.options = chat.options, event.options
    if before != chat.options:
        update.dirty |= Dirty.STATUS | Dirty.OPTIONS
    for option_id, value in tuple(chat.asked_options.items()):
        option = find_option(chat.options, option_id)
        if option is not None and option.value == value:
            del chat.asked_options[option_id]
        elif option is None or not option.accepts(value):
            del chat.asked_options[option_id]
            _complain(update, _not_offered(find_option(before, option_id), option, value))


def _not_offered(before: ChatOption | None, option: ChatOption | None, value: OptionValue) -> str:
    listed = before or option or ChatOption("", "the option")
    if option is None:
        return f"{listed.name} is not set: the server no longer has it"
    stays = f"{option.name} stays {option.name_of(option.value)}"
    return f"{stays}: the server no longer offers {listed.name_of(value)}"


def _complain(update: Update, line: str) -> None:
    """Show a line as plain text: names in it are the agent's."""
    note(update, one_line(line), is_error=True)


def option_refused(update: Update, event: OptionRefused) -> None:
    """Tell the user why an option keeps its value. Refused trust is switched off."""
    chat = update.chat
    if update.lane is not chat.root:
        return
    chat.asked_options.pop(event.option_id, None)
    option = find_option(chat.options, event.option_id)
    if option is None:
        _complain(update, event.reason)
        return
    if option.category == TRUST:
        chat.trust = False
        update.dirty |= Dirty.STATUS
    _complain(update, f"{option.name} stays {option.name_of(option.value)}: {event.reason}")

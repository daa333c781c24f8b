"""Used files: counts the files that calls, requests, messages and prompts use.

The calls of a subagent count for the chat that it works in.
"""

from collections.abc import Iterable
from itertools import islice

from eca_nvim.chat.model.blocks import ToolBlock
from eca_nvim.chat.model.calls import MOST_NAMED, MOST_USES, call_uses, may_change
from eca_nvim.chat.update import Update
from eca_nvim.chat.vocabulary.call_details import FileNamed, FileUsed
from eca_nvim.chat.vocabulary.contexts import (
    Context,
    CursorContext,
    FileContext,
    ImageContext,
    PathMention,
)
from eca_nvim.chat.vocabulary.states import CallState


def file_used(update: Update, event: FileUsed) -> None:
    """Count a use that is certain."""
    used = update.chat.used
    if event.by_request:
        used.note_request(event.path, event.use)
    else:
        used.note(event.path, event.use, replayed=update.replays)


def file_named(update: Update, event: FileNamed) -> None:
    """Have a path looked for, because it may be no file; nothing of a replay is looked for."""
    if not update.replays:
        update.chat.used.look_for((event,))


def call_ended(update: Update, block: ToolBlock) -> None:
    """Count what a call used; a command that failed was run, too."""
    call, used = block.call, update.chat.used
    was_run = block.state in (CallState.DONE, CallState.STOPPED)
    if was_run:
        for path, use in call_uses(call):
            used.note_call(path, use, replayed=block.replayed)
        for change in islice(call.changes or (), MOST_USES) if may_change(call) else ():
            used.add_lines(change.path, change.added, change.removed)
    was_run = was_run or (block.state is CallState.FAILED and call.command is not None)
    if was_run and not update.replays:
        used.look_into(call)


def prompt_sent(update: Update, contexts: Iterable[Context]) -> None:
    """Count the files that a prompt names or sends; not that in which the cursor only stands."""
    paths = dict.fromkeys(path for it in contexts if (path := _path(it)) is not None)
    if not update.replays:
        update.chat.used.look_for(FileNamed(path) for path in islice(paths, MOST_NAMED))


def _path(context: Context) -> str | None:
    match context:
        case FileContext(path) | ImageContext(path) | PathMention(path):
            return path
        case CursorContext(path, start, end) if start != end:
            return path
        case _:
            return None

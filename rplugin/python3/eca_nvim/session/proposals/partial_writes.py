"""Partial writes: makes files hold what the user has allowed of a call whose tool writes all of it.

Rules kept here:
- As soon as the call has ended, a file that holds just what was proposed is given what was allowed.
  Any other file stays as it is (a formatter or another tool has written it), and a line says so.
- Files are compared byte for byte; a byte order mark, which the editor does not show, stays.
"""

import os.path
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from eca_nvim.chat.handlers.messages import note
from eca_nvim.chat.model.blocks import ToolBlock
from eca_nvim.chat.model.chat import active_call
from eca_nvim.chat.text.safe_text import literal_name
from eca_nvim.chat.update import Update
from eca_nvim.chat.user_actions.approvals import tell_in_part
from eca_nvim.chat.vocabulary import call_details, events, ops, states, turn_events
from eca_nvim.disk.replacing import FileDamaged, remove
from eca_nvim.disk.replacing import replace as replace_file
from eca_nvim.path_risks import real_path
from eca_nvim.paths import open_regular
from eca_nvim.review.snapshots import MOST_SNAPSHOT_BYTES

_MARK = "\ufeff"
_NOT_TAKEN_BACK = (
    "{} was not changed to what you have allowed: {}. It stays as it is, :Eca changes shows it"
)
_OTHER_TEXT = "it does not hold what was proposed, as if a formatter or another tool had written it"
_ALSO_TOLD = "These files could not be changed so, and still hold what I have not allowed: {}"

_STOPS = (turn_events.TurnEnded, turn_events.TurnLapsed)
_ENDS = (*_STOPS, events.AgentGone, events.ChatDeleted)
"""Events with which calls end that the agent does not end."""


def differs(chosen: call_details.HunkChoice) -> bool:
    """Return whether a file on the disk is another than when the user chose."""
    return any(it.on_disk and not _holds(it, it.before) for it in chosen.writes)


def settle(update: Update, event: events.ChatEvent) -> events.ChatEvent:
    """Return an event without the changes of a call that was allowed in part: the chat has them.

    If the event ends such calls, their files are given what was allowed.
    """
    ended: Sequence[ToolBlock] = ()
    if isinstance(event, call_details.FileUsed) and event.by_request:
        _written_by_us(update.chat.partial, event)
    elif isinstance(event, _ENDS):
        is_all = update.lane is update.chat.root  # else a subagent's turn
        ended = [it for it in update.chat.partial if is_all or it.lane is update.lane]
    elif isinstance(event, events.ToolRequested):
        # The user is asked about the call again, and answers for all of it.
        update.chat.partial = [it for it in update.chat.partial if it.call.id != event.call.id]
    elif isinstance(event, events.ToolRunning | events.ToolFinished | events.ToolRejected):
        block = active_call(update.lane, event.call)
        if block is None or block not in update.chat.partial:
            return event
        ended = [] if isinstance(event, events.ToolRunning) else [block]
        event = replace(event, call=replace(event.call, changes=None))
    for block in ended:
        if isinstance(event, _STOPS) and _may_write(block):
            continue
        update.chat.partial.remove(block)
        _correct(update, block.partial)
        block.partial = ()
    return event


def _may_write(block: ToolBlock) -> bool:
    """Return whether the tool of a call that its turn ends has not written yet.

    It may still run: its files are looked at again when it is reported, or the next turn ends.
    """
    is_late = block.state in states.ENDED_CALLS
    return not is_late and all(_holds(it, it.before) for it in block.partial)


def _written_by_us(partial: Iterable[ToolBlock], event: call_details.FileUsed) -> None:
    """Note that a file was given what was allowed when its tool had us write it.

    It may hold something else since: Neovim formats what it writes, as the user wants.
    """
    if event.use is call_details.Use.WRITTEN:
        place = os.path.realpath(event.path)
        for block in partial:
            block.partial = tuple(
                replace(it, is_merged=True) if it.place == place else it for it in block.partial
            )


def _correct(update: Update, writes: Iterable[call_details.PartialWrite]) -> None:
    left: list[str] = []
    for write in writes:
        name = literal_name(update.chat.settings.relative(write.path))
        fault = _give(write)
        if fault is not None:
            left.append(literal_name(write.path))
            note(update, _NOT_TAKEN_BACK.format(name, fault), is_error=True)
    if left:
        tell_in_part(update, _ALSO_TOLD.format(", ".join(left)))
    paths = [it.path for it in writes]
    update.ops.append(ops.FilesChanged(update.chat.id, paths, None))


def _give(write: call_details.PartialWrite) -> str | None:
    """Give a file what was allowed; returns why that was not done.

    A tool that has not written is no fault: nothing stands there that was not allowed.
    """
    if _holds(write, write.allowed) or _holds(write, write.before):
        return None
    if not _holds(write, write.proposed):
        return None if write.is_merged else _OTHER_TEXT
    try:
        if real_path(write.path) != write.place:
            return "a link leads elsewhere now"
        if write.allowed is None:
            remove(write.place)
        else:
            mark = _MARK if (_text(write) or "").startswith(_MARK) else ""
            replace_file(write.place, (mark + write.allowed).encode())
    except FileDamaged as fault:
        return f"it was damaged ({fault.strerror}), a copy is {fault.copy}"
    except (OSError, ValueError) as fault:
        return str(getattr(fault, "strerror", None) or fault)
    return None


def _holds(write: call_details.PartialWrite, text: str | None) -> bool:
    """Return whether a file holds a text; None: whether there is no such file."""
    if text is None:
        return not os.path.lexists(write.place)
    present = _text(write)
    return present is not None and present.removeprefix(_MARK) == text.removeprefix(_MARK)


def _text(write: call_details.PartialWrite) -> str | None:
    """Return the text of a file; None if it has none, or cannot be read."""
    try:
        with open_regular(write.place) as file:
            return file.read(MOST_SNAPSHOT_BYTES + 1).decode()
    except (OSError, ValueError):
        return None

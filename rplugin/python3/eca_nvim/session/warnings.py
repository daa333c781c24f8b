"""Warnings: what only a look at the disk tells of a call that waits.

Rules kept here: what the call itself tells is told already; nothing is looked up that is not shown.
"""

from __future__ import annotations

import os.path

from eca_nvim.chat.details import FileChange, ToolCall
from eca_nvim.chat.files import moved, whole_text
from eca_nvim.chat.model import Chat
from eca_nvim.chat.text import literal_name
from eca_nvim.review.changes import text_of
from eca_nvim.review.snapshots import Blobs, take
from eca_nvim.session.whole_writes import turned_ends

TAKEN = "there is a file already where this moves to"


def on_disk(chat: Chat, call: ToolCall) -> str | None:
    """Say what the files say of a call that waits in a chat."""
    return _taken(call, chat) or _turned(call)


def _taken(call: ToolCall, chat: Chat) -> str | None:
    places = moved(call)
    if places is None or not os.path.lexists(places[1]):
        return None
    return f"{TAKEN}: {chat.settings.relative(literal_name(places[1]))}"


def _turned(call: ToolCall) -> str | None:
    whole = whole_text(call)
    if whole is None or not isinstance(call.details, FileChange):
        return None
    there = take(call.details.path, Blobs())
    text = None if there.blob is None else text_of(there.blob.read())
    return None if text is None else turned_ends(text, whole)

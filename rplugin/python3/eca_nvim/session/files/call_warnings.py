"""Call warnings: what only a look at the disk tells of a call that waits.

Rules kept here: what the call itself tells is told already; nothing is looked up that is not shown.
"""

from __future__ import annotations

import os.path

from eca_nvim.chat.model.call_files import moved, whole_text
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.model.outside_paths import paths_named
from eca_nvim.chat.text.safe_text import literal_name
from eca_nvim.chat.user_actions.approvals import listed
from eca_nvim.chat.vocabulary.call_details import FileChange, ToolCall
from eca_nvim.places import Kind, leads_to
from eca_nvim.review.snapshots import Blobs, take
from eca_nvim.review.text_changes import text_of
from eca_nvim.session.files.whole_writes import turned_ends

MOST_LOOKED_AT = 1000
"""Paths of a call that are looked at."""
TAKEN = "there is a file already where this moves to"


def on_disk(chat: Chat, call: ToolCall) -> list[str]:
    """Say what the disk tells of a call that waits in a chat, a line each."""
    told = _led(call, chat.settings)
    if taken_or_turned := _taken(call, chat.settings) or _turned(call):
        told.append(taken_or_turned)
    return told


def _led(call: ToolCall, settings: RenderSettings) -> list[str]:
    """Say of which paths the user cannot see in the call what they lead to."""
    names = list(dict.fromkeys(paths_named(call)))
    found: dict[Kind, dict[str, None]] = {}  # in order, each once
    for name in names[:MOST_LOOKED_AT]:
        for kind, real in leads_to(name, settings.folders).items():
            found.setdefault(kind, {})[_arrow(name, real, settings)] = None
    told = [f"{kind.value}: {listed(list(paths))}" for kind, paths in found.items()]
    if len(names) > MOST_LOOKED_AT:
        told.append(f"only {MOST_LOOKED_AT} of {len(names)} paths were looked at")
    return told


def _arrow(name: str, real: str, settings: RenderSettings) -> str:
    shown, led = (settings.relative(literal_name(path)) for path in (name, real))
    return shown if shown == led else f"{shown} → {led}"


def _taken(call: ToolCall, settings: RenderSettings) -> str | None:
    places = moved(call)
    if places is None or not os.path.lexists(places[1]):
        return None
    return f"{TAKEN}: {settings.relative(literal_name(places[1]))}"


def _turned(call: ToolCall) -> str | None:
    whole = whole_text(call)
    if whole is None or not isinstance(call.details, FileChange):
        return None
    there = take(call.details.path, Blobs())
    text = None if there.blob is None else text_of(there.blob.read())
    return None if text is None else turned_ends(text, whole)

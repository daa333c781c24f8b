"""Call warnings: warnings about a pending call that need a look at the disk.

Rules kept here: warnings that the call's own arguments give are in `user_actions/approvals.py`.
Only paths that the call shows are looked up.
"""

from __future__ import annotations

import os.path

from eca_nvim.chat.model.call_files import moved
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.model.outside_paths import paths_named
from eca_nvim.chat.text.safe_text import literal_name
from eca_nvim.chat.user_actions.approvals import list_paths
from eca_nvim.chat.vocabulary.call_details import ToolCall
from eca_nvim.path_risks import PathRisk, path_risks
from eca_nvim.review.snapshots import Blobs, Snapshot, take_snapshot
from eca_nvim.review.text_changes import text_of
from eca_nvim.session.files.whole_writes import changed_line_ends

MOST_CHECKED = 1000
"""Paths of a call that are checked, at most."""
DESTINATION_EXISTS = "there is a file already where this moves to"


def disk_warnings(chat: Chat, call: ToolCall) -> list[str]:
    """Return the warnings about a call that is pending in a chat, one line each."""
    warnings = _path_warnings(call, chat.settings)
    destination = _destination_warning(call, chat.settings)
    return [*warnings, *([destination] if destination else []), *_line_ends_warnings(call)]


def _path_warnings(call: ToolCall, settings: RenderSettings) -> list[str]:
    """Warn of paths that lead to somewhere else than they seem to, one line for each kind."""
    names = list(dict.fromkeys(paths_named(call)))
    found: dict[PathRisk, dict[str, None]] = {}  # in order, each once
    for name in names[:MOST_CHECKED]:
        for kind, real in path_risks(name, settings.folders).items():
            found.setdefault(kind, {})[_arrow(name, real, settings)] = None
    warnings = [f"{kind.value}: {list_paths(list(paths))}" for kind, paths in found.items()]
    if len(names) > MOST_CHECKED:
        warnings.append(f"only {MOST_CHECKED} of {len(names)} paths were checked")
    return warnings


def _arrow(name: str, real: str, settings: RenderSettings) -> str:
    shown, target = (settings.relative(literal_name(path)) for path in (name, real))
    return shown if shown == target else f"{shown} → {target}"


def _destination_warning(call: ToolCall, settings: RenderSettings) -> str | None:
    paths = moved(call)
    if paths is None or not os.path.lexists(paths[1]):
        return None
    return f"{DESTINATION_EXISTS}: {settings.relative(literal_name(paths[1]))}"


def _line_ends_warnings(call: ToolCall) -> list[str]:
    """Warn of files that are written whole and get other line ends, each warning once."""
    warnings: dict[str, None] = {}  # in order
    for change in call.changes or ():
        present = Snapshot() if change.whole is None else take_snapshot(change.path, Blobs())
        text = None if present.blob is None else text_of(present.blob.read())
        warning = None if text is None else changed_line_ends(text, change.whole or "")
        warnings |= {warning: None} if warning else {}
    return list(warnings)

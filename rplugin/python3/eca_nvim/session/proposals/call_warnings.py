"""Call warnings: what needs a look at the disk: where links lead, line ends, which names are files.

Rules kept here:
- A path is data: only its kind is looked up, in a thread, because a disk may be slow or hang.
- One look at a time, at all that waits: its thread costs more than a look. If too many wait, the
  next ones are not counted: they are only for a list.
- Warnings that the call's own arguments give are in `user_actions/approvals.py`.
  Only paths that the call shows are looked up.
"""

import logging
import os
import os.path
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

import anyio

from eca_nvim.chat.model.calls import moved, named_in
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.model.outside_paths import paths_named
from eca_nvim.chat.text.safe_text import literal_name
from eca_nvim.chat.user_actions.approvals import list_paths
from eca_nvim.chat.vocabulary.call_details import FileUsed, ToolCall
from eca_nvim.chat.vocabulary.effects import FindFiles
from eca_nvim.chat.vocabulary.requests import DiskReport
from eca_nvim.path_risks import PathRisk, path_risks
from eca_nvim.paths import open_regular
from eca_nvim.review.snapshots import MOST_SNAPSHOT_BYTES
from eca_nvim.review.text_changes import text_of
from eca_nvim.session.proposals.whole_writes import changed_line_ends
from eca_nvim.threads import run_in_thread

MOST_WAITING: Final = 1000
"""Requests that wait, at most."""
GATHERING_S: Final = 0.1
"""Seconds in which requests are gathered: an agent is at work, and its text comes first."""
MOST_TOGETHER: Final = 100
"""Requests that one thread looks at, at most: what it finds is counted at once."""

log = logging.getLogger(__name__)


class NamedFiles:
    """Looks for files; `found` is called with the id of a chat and its files."""

    def __init__(self, found: Callable[[str, Sequence[FileUsed]], None]) -> None:
        self._found = found
        self._requests_in, self._requests = anyio.create_memory_object_stream[FindFiles](
            MOST_WAITING
        )

    def request(self, effect: FindFiles) -> None:
        """Look for files soon."""
        try:
            self._requests_in.send_nowait(effect)
        except anyio.WouldBlock:
            log.warning("too many files to look for: those of chat %s are not counted", effect.chat)

    async def run(self) -> None:
        """Look for files until cancelled."""
        async with self._requests_in, self._requests:
            async for first in self._requests:
                await anyio.sleep(GATHERING_S)
                waiting = self._requests.statistics().current_buffer_used
                more = range(min(waiting, MOST_TOGETHER - 1))
                together = [first, *(self._requests.receive_nowait() for _ in more)]
                for chat, files in (await run_in_thread(partial(_files, together))).items():
                    self._found(chat, files)


def _files(requests: Iterable[FindFiles]) -> Mapping[str, Sequence[FileUsed]]:
    """Return the named paths that are files, by chat."""
    found: dict[str, list[FileUsed]] = {}
    for request in requests:
        files = [FileUsed(it.path, it.use) for it in named_in(request) if _is_file(it.path)]
        if files:
            found.setdefault(request.chat, []).extend(files)
    return found


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116 - a path may have any name
    except (OSError, ValueError):
        return False


MOST_CHECKED = 1000
"""Paths of a call that are checked, at most."""
_LEADS_ELSEWHERE: Final = {PathRisk.OUTSIDE, PathRisk.LINK}
"""Risks of a path that no program obeys."""
DESTINATION_EXISTS = "there is a file already where this moves to"


def disk_warnings(chat: Chat, call: ToolCall) -> DiskReport:
    """Return what the disk says of a call that is pending in a chat."""
    settings, paths = chat.settings, moved(call)
    warnings, is_obeyed = _path_warnings(call, settings)
    if paths is not None and os.path.lexists(paths[1]):
        warnings.append(f"{DESTINATION_EXISTS}: {settings.relative(literal_name(paths[1]))}")
    return DiskReport((*warnings, *_line_ends_warnings(call)), is_obeyed)


def _path_warnings(call: ToolCall, settings: RenderSettings) -> tuple[list[str], bool]:
    """Warn of paths that lead to somewhere else than they seem to, one line for each kind.

    Beside that: whether a program obeys one of them.
    """
    names = list(dict.fromkeys(paths_named(call)))
    found: dict[PathRisk, dict[str, None]] = {}  # in order, each once
    for name in names[:MOST_CHECKED]:
        for kind, real in path_risks(name, settings.folders).items():
            found.setdefault(kind, {})[_arrow(name, real, settings)] = None
    warnings = [f"{kind.value}: {list_paths(list(paths))}" for kind, paths in found.items()]
    if len(names) > MOST_CHECKED:
        warnings.append(f"only {MOST_CHECKED} of {len(names)} paths were checked")
    return warnings, not found.keys() <= _LEADS_ELSEWHERE or len(names) > MOST_CHECKED


def _arrow(name: str, real: str, settings: RenderSettings) -> str:
    shown, target = (settings.relative(literal_name(path)) for path in (name, real))
    return shown if shown == target else f"{shown} → {target}"


def _line_ends_warnings(call: ToolCall) -> list[str]:
    """Warn of files that are written whole and get other line ends, each warning once."""
    warnings: dict[str, None] = {}  # in order
    for change in call.changes or ():
        if change.new is None or change.old is not None:
            continue
        with suppress(OSError, ValueError), open_regular(change.path) as file:
            content = file.read(MOST_SNAPSHOT_BYTES + 1)
            text = None if len(content) > MOST_SNAPSHOT_BYTES else text_of(content)
            if text is not None and (warning := changed_line_ends(text, change.new)):
                warnings[warning] = None
    return list(warnings)

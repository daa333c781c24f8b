"""The editor's services for agents: diagnostics, places in code, files.

Rules kept here:
- In some states Neovim answers nothing: at the hit-enter and more prompts, with half a command
  typed, while a program runs in the foreground. What diagnostics there are it therefore tells us
  whenever they change, and that is the answer when it gives none.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from eca_nvim.agents.base import Diagnostic, Location, NoAnswer
from eca_nvim.nvim.editor_calls import CallFailed, Calls, Run, Unanswered

DIAGNOSTICS_PATIENCE = 1.0
"""Seconds until the diagnostics last heard of have to do."""

Built = TypeVar("Built", Diagnostic, Location)

log = logging.getLogger(__name__)


class Editor:
    """The editor's services (`agents.base.EditorServices`), and its files."""

    def __init__(self, run: Run, calls: Calls) -> None:
        self._run = run
        self._calls = calls
        self._known: dict[str, Sequence[Diagnostic]] = {}

    def watch(self) -> None:
        """Start to hear of diagnostics as they change."""
        self._calls.feed("watch", self._hear)

    def _hear(self, value: object) -> None:
        """Take all diagnostics of some files: a list of {path, items}."""
        for file in _tables(value):
            self._known[str(file["path"])] = _diagnostics(file.get("items"))

    async def diagnostics(self, path: str | None) -> Sequence[Diagnostic]:
        """Give the findings for a file, or for all files of the workspace folders when None.

        Raises CallFailed.
        """
        arguments = {} if path is None else {"path": path}
        try:
            value = await self._calls.call("diagnostics", arguments, DIAGNOSTICS_PATIENCE)
        except Unanswered:
            log.info("Neovim is in a prompt: the diagnostics are those it told last")
            if path is not None:
                return self._known.get(path, ())
            return tuple(found for known in self._known.values() for found in known)
        return _diagnostics(value)

    async def locations(
        self, kind: str, path: str, line: int, column: int
    ) -> Sequence[Location] | NoAnswer:
        """Find definitions or references of what is at a place.

        Raises CallFailed, Unanswered.
        """
        place = {"kind": kind, "path": path, "line": line, "column": column}
        value = await self._calls.call("locations", place)
        if isinstance(value, str):
            return NoAnswer(value)
        return tuple(_build(Location, table) for table in _tables(value))

    async def unsaved(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Read those files that the user has changed and not written, by path.

        Raises CallFailed, Unanswered.
        """
        value = await self._calls.call("edited", {"paths": list(paths)})
        return {str(file["path"]): str(file["text"]) for file in _tables(value)}


def _diagnostics(value: object) -> Sequence[Diagnostic]:
    return tuple(_build(Diagnostic, table) for table in _tables(value))


def _tables(value: object) -> Sequence[Mapping[str, object]]:
    """Read a list of tables; an empty one may be a map, absent ones are none."""
    if not isinstance(value, list):
        return ()
    return [table for table in value if isinstance(table, Mapping)]


def _build(kind: type[Built], table: Mapping[str, object]) -> Built:
    """Build a finding or a place from its table. Raises CallFailed when a field is missing."""
    build: Callable[..., Built] = kind
    known = kind.__struct_fields__
    try:
        return build(**{key: value for key, value in table.items() if key in known})
    except TypeError as lacking:
        raise CallFailed(str(lacking)) from lacking

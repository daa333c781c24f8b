"""The editor's services for agents: diagnostics, locations in code, files."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import TypeVar

from eca_nvim.agents.base import Diagnostic, Location, NoAnswer, OpenBuffer
from eca_nvim.nvim.editor_calls import (
    AgentFiles,
    CallFailed,
    EditorCalls,
    Run,
    Unanswered,
)

DIAGNOSTICS_TIMEOUT = 1.0
"""Seconds until we answer with the diagnostics that Neovim sent last."""

Built = TypeVar("Built", Diagnostic, Location, OpenBuffer)

log = logging.getLogger(__name__)


class Editor(AgentFiles):
    """The editor's services (`agents.base.EditorServices`), and its files."""

    def __init__(self, run: Run, calls: EditorCalls) -> None:
        super().__init__(calls)
        self._run = run
        self._known: dict[str, Sequence[Diagnostic]] = {}

    def watch(self) -> None:
        """Subscribe to changes of diagnostics.

        In some states Neovim answers nothing: at the hit-enter and more prompts, with half a
        command typed, while a program runs in the foreground. Then the last ones are the answer.
        """
        self._calls.subscribe("watch", self._diagnostics_changed)

    def _diagnostics_changed(self, value: object) -> None:
        """Store all diagnostics of some files: a list of {path, items}."""
        for file in _tables(value):
            self._known[str(file["path"])] = _diagnostics(file.get("items"))

    async def diagnostics(self, path: str | None) -> Sequence[Diagnostic]:
        """Return the diagnostics of a file, or of all files of the workspace folders for None.

        They are in order of their places. Raises CallFailed.
        """
        arguments = {} if path is None else {"path": path}
        try:
            value = await self._calls.call("diagnostics", arguments, DIAGNOSTICS_TIMEOUT)
        except Unanswered:
            log.info("Neovim does not answer now: using the diagnostics that it sent last")
            known = self._known if path is None else {path: self._known.get(path, ())}
            return _in_order(chain(*known.values()))
        return _in_order(_diagnostics(value))

    async def locations(
        self, kind: str, path: str, line: int, column: int
    ) -> Sequence[Location] | NoAnswer:
        """Return the definitions or references of the symbol at a position.

        Raises CallFailed, Unanswered.
        """
        place = {"kind": kind, "path": path, "line": line, "column": column}
        value = await self._calls.call("locations", place)
        if isinstance(value, str):
            return NoAnswer(value)
        return tuple(_build(Location, table) for table in _tables(value))

    async def open_buffers(self) -> Sequence[OpenBuffer]:
        """Return the open files, the one used last first. Raises CallFailed, Unanswered."""
        value = await self._calls.call("open_buffers", {})
        return tuple(_build(OpenBuffer, table) for table in _tables(value))


def _diagnostics(value: object) -> Sequence[Diagnostic]:
    return tuple(_build(Diagnostic, table) for table in _tables(value))


def _in_order(found: Iterable[Diagnostic]) -> Sequence[Diagnostic]:
    return tuple(sorted(found, key=lambda it: (it.path, it.start_line, it.start_column)))


def _tables(value: object) -> Sequence[Mapping[str, object]]:
    """Return a list of tables; an empty one may arrive as a map or not at all."""
    if not isinstance(value, list):
        return ()
    return [table for table in value if isinstance(table, Mapping)]


def _build(kind: type[Built], table: Mapping[str, object]) -> Built:
    """Build a diagnostic or a location from its table. Raises CallFailed if a field is missing."""
    build: Callable[..., Built] = kind
    known = kind.__struct_fields__
    try:
        return build(**{key: value for key, value in table.items() if key in known})
    except TypeError as lacking:
        raise CallFailed(str(lacking)) from lacking

"""Tools that change real files as the real server does, and its messages about them.

Rules kept here, as in the real server: a diff has no line ends and no empty lines at the end; the
diff of a file that is written whole starts from an empty file. Bytes that are not UTF-8 become
U+FFFD, one CRLF in a file makes all of them CRLF, the end of a file stays as it is.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tests.support.calls import eca_call

from eca_nvim.chat.vocabulary.call_details import FileChange
from eca_nvim.chat.vocabulary.events import (
    ChatEvent,
    ToolFinished,
    ToolPreparing,
    ToolRejected,
    ToolRequested,
    ToolRunning,
)

Act: TypeAlias = Callable[[], None]
Moment: TypeAlias = ChatEvent | Act
"""The next step of the server: a message or an action."""


@dataclass
class Agent:
    """Tool calls in a folder, with messages and actions in the order of the real server."""

    folder: Path
    count: int = 0

    def edit(self, name: str, old: str, new: str, *, every: bool = False) -> Iterator[Moment]:
        """Replace a piece of a file, or all equal ones."""
        arguments = {"original_content": old, "new_content": new, "all_occurrences": every}
        path = self.folder / name

        def after() -> str:
            if old not in slurp(path):
                raise ValueError("original content not found")
            return edited(slurp(path), old, new, every=every)

        def change() -> FileChange:
            return file_change(path, slurp(path), after())

        yield from self._call("edit_file", path, arguments, lambda: spit(path, after()), change)

    def write(self, name: str, content: str) -> Iterator[Moment]:
        """Write a whole file."""
        path = self.folder / name
        change = file_change(path, "", content)
        act, arguments = (lambda: spit(path, content)), {"content": content}
        yield from self._call("write_file", path, arguments, act, lambda: change)

    def delete(self, name: str) -> Iterator[Moment]:
        """Delete a file; the call only names it."""
        path = self.folder / name
        yield from self._call("write_file", path, {}, path.unlink)

    def move(self, name: str, to: str) -> Iterator[Moment]:
        """Move a file; fails if there is one already."""
        source, destination = self.folder / name, self.folder / to
        ends = {"source": str(source), "destination": str(destination)}
        yield from self._tell("move_file", ends, lambda: _rename(source, destination))

    def refused(self, name: str, old: str, new: str) -> Iterator[Moment]:
        """Report an edit that the server's settings forbid."""
        told = [it for it in self.edit(name, old, new) if not callable(it)]
        *before, _running, ended = told
        assert isinstance(ended, ToolFinished)
        yield from (*before, ToolRejected(ended.call, "config"))

    def _call(
        self,
        tool: str,
        path: Path,
        arguments: Mapping[str, object],
        act: Act,
        change: Callable[[], FileChange] | None = None,
    ) -> Iterator[Moment]:
        yield from self._tell(tool, {"path": str(path), **arguments}, act, change)

    def _tell(
        self,
        tool: str,
        arguments: Mapping[str, object],
        act: Act,
        change: Callable[[], FileChange] | None = None,
    ) -> Iterator[Moment]:
        self.count += 1
        bare = eca_call(f"late-{self.count}", tool)
        (key, value), *_ = arguments.items()
        yield ToolPreparing(bare)
        yield ToolPreparing(bare, f'{{"{key}": "{value}", "')
        details, faults = None, list[Exception]()
        if change is not None:
            with suppress(OSError, ValueError):
                details = change()

        def attempt() -> None:
            try:
                act()
            except (OSError, ValueError) as fault:
                faults.append(fault)

        call = eca_call(bare.id, tool, arguments=arguments, details=details)
        yield from (ToolRequested(call), ToolRunning(call), attempt)
        yield ToolFinished(call, failed=bool(faults))


def _rename(source: Path, destination: Path) -> None:
    if destination.exists():
        raise ValueError("there is a file already")
    source.rename(destination)


def slurp(path: Path) -> str:
    """Read a file as the server does."""
    return path.read_bytes().decode(errors="replace")


def spit(path: Path, text: str) -> None:
    """Write a file as the server does."""
    path.write_bytes(text.encode())


def edited(text: str, old: str, new: str, *, every: bool = False) -> str:
    """Edit a text as the server does."""
    after = text.replace(old, new) if every else text.replace(old, new, 1)
    if text.endswith("\n") and not after.endswith("\n"):
        after += "\n"
    elif not text.endswith("\n"):
        after = after.removesuffix("\n")
    return re.sub("\r?\n", "\r\n", after) if "\r\n" in text else after


def file_change(path: Path, before: str, after: str) -> FileChange:
    """Describe a change as the server does: hunks without a header."""
    lines = list(difflib.unified_diff(_split(before), _split(after), lineterm=""))[2:]
    removed = sum(line.startswith("-") for line in lines) if before else 0
    added = sum(line.startswith("+") for line in lines)
    return FileChange(str(path), "\n".join(lines), added, removed)


def _split(text: str) -> Sequence[str]:
    lines = re.split("\r?\n", text)
    while len(lines) > 1 and not lines[-1]:
        lines.pop()
    return lines

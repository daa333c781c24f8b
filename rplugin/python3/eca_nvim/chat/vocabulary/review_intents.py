"""Intents about what tools did to files; intents.py has the rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, TypeAlias

from msgspec import Struct


class ListChanges(Struct, frozen=True):
    """Ask for all that the chat's tools changed, or one turn of it; answered with this number.

    The answer is a list of tables: see `review.change_list.entries`; None when there never was any,
    which is told.
    """

    name: ClassVar[str] = "changes"
    chat: str
    request: int
    turn: int | None = None


class KeepChanges(Struct, frozen=True):
    """Keep changes, by their keys: they are not listed any more."""

    name: ClassVar[str] = "keep"
    chat: str
    keys: Sequence[str]


class PlanUndo(Struct, frozen=True):
    """Ask what undoing a turn (default: the last) would do, to some files or to all; answered.

    since: the block of a message of the user; it and all turns after it are meant. messages: what
    was said will be undone, too.

    The answer is a table: turns (numbers, the newest first), again (it was undone: undoing it does
    it again), title, verb (what the key that undoes does), rows, why (said when there is no row).
    A row is a file (path, and seen: names what it is now) or a turn of which no file was kept
    (name). Its segments say what becomes of it: kept when it stays, taken when it is put back; it
    cannot become what is absent. None when nothing can be undone, which is told.
    """

    name: ClassVar[str] = "plan_undo"
    chat: str
    request: int
    turn: int | None = None
    paths: Sequence[str] | None = None
    since: int | None = None
    messages: bool = False


class UndoTurn(Struct, frozen=True):
    """Put files back as they were before turns; answered with this number.

    turns: the newest first. files: the path of each, and what it was `seen` as in the plan; one
    that was changed since then stays. The answer is a table: done (paths), failed (tables of path,
    fault and, when the file is damaged, copy: the path of what it was).
    """

    name: ClassVar[str] = "undo_turn"
    chat: str
    request: int
    turns: Sequence[int]
    files: Sequence[tuple[str, str]]


class ShowCheckpoint(Struct, frozen=True):
    """Show the diff of a file between the time before turns (the newest first) and now."""

    name: ClassVar[str] = "checkpoint"
    chat: str
    turns: Sequence[int]
    path: str


class ListFiles(Struct, frozen=True):
    """Ask for the files that the chat's tools read and changed; answered with this number.

    The answer is a list of tables, most used first: path, reads, changes, added, removed.
    """

    name: ClassVar[str] = "files"
    chat: str
    request: int


class FileWritten(Struct, frozen=True):
    """The user has begun to write a file, or done so, or given it up.

    What he wrote is no tool's doing.
    """

    name: ClassVar[str] = "wrote"
    path: str
    state: Literal["begun", "written", "given_up"]


ReviewIntent: TypeAlias = (
    ListChanges | KeepChanges | PlanUndo | UndoTurn | ShowCheckpoint | ListFiles
)

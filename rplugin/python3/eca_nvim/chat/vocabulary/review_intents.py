"""Intents about files that tools changed; intents.py has the rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, TypeAlias

from msgspec import Struct


class ListChanges(Struct, frozen=True):
    """Ask for all changes of a chat's tools, or of one turn; answered with this number.

    The answer is a list of tables (see `review.change_list.entries`). If nothing ever changed, a
    message says so and the answer is None.
    """

    name: ClassVar[str] = "changes"
    chat: str
    request: int
    turn: int | None = None


class KeepChanges(Struct, frozen=True):
    """Keep changes, by their keys: they are no longer listed."""

    name: ClassVar[str] = "keep"
    chat: str
    keys: Sequence[str]


class PlanUndo(Struct, frozen=True):
    """Ask what undoing a turn (default: the last) would do; answered with this number.

    paths: only these files. since: undo the turn of this user message's block and all later ones.
    messages: the messages will be undone, too.

    The answer is a table: turns (numbers, newest first), again (the turn is undone already, so that
    undoing it applies it again), title, verb (the action of the key that undoes), rows, why (the
    reason if there are no rows). A row is a file (path; seen: the digest of its present content) or
    a turn without saved files (name). Its segments word both outcomes: kept and taken; an
    impossible one is absent. The answer is None, after a message, if nothing can be undone.
    """

    name: ClassVar[str] = "plan_undo"
    chat: str
    request: int
    turn: int | None = None
    paths: Sequence[str] | None = None
    since: int | None = None
    messages: bool = False


class UndoTurn(Struct, frozen=True):
    """Restore files to their state before turns; answered with this number.

    turns: newest first. files: pairs of a path and its `seen` from the plan; a file changed since
    then is left alone. The answer is a table: done (paths), failed (tables of path, fault and, if
    the file is damaged, copy: the path of a copy of the original).
    """

    name: ClassVar[str] = "undo_turn"
    chat: str
    request: int
    turns: Sequence[int]
    files: Sequence[tuple[str, str]]


class ShowCheckpoint(Struct, frozen=True):
    """Show the diff of a file from before these turns (newest first) to now."""

    name: ClassVar[str] = "checkpoint"
    chat: str
    turns: Sequence[int]
    path: str


class ListFiles(Struct, frozen=True):
    """Ask for the files that the chat's tools read and changed; answered with this number.

    The answer is a list of tables, most used first: path, use (segments that say how it was used).
    """

    name: ClassVar[str] = "files"
    chat: str
    request: int


class FileWritten(Struct, frozen=True):
    """The user began, finished or abandoned writing a file, which is then no tool's change."""

    name: ClassVar[str] = "wrote"
    path: str
    state: Literal["begun", "written", "given_up"]


ReviewIntent: TypeAlias = (
    ListChanges | KeepChanges | PlanUndo | UndoTurn | ShowCheckpoint | ListFiles
)

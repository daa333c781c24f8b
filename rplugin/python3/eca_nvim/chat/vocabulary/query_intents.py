"""Intents that ask about a chat: its text, places in it, images. intents.py has the rules."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct


class Grep(Struct, frozen=True):
    """Look for a regular expression in all of a chat, what is collapsed included.

    Lower case finds either case. Answered by the op `answer` with this number: a table of hits (in
    order; tables of block, shown, row, column and text), more (how many hits are left out), or
    fault (why nothing can be looked for). `shown` is the block in the view, the same or one it is
    nested in; `row` counts the lines of the block's whole text from 0 and is absent when the header
    has the hit; `column` is a byte, from 0.
    """

    name: ClassVar[str] = "grep"
    chat: str
    pattern: str
    request: int


class Reveal(Struct, frozen=True):
    """Open a block, with what it is nested in; answered by the op `answer` with this number.

    `row`: a line of its whole text, from 0. The answer is the row of the body it is in; nothing
    when the body does not have it, and then all of the block's text is shown at this line.
    """

    name: ClassVar[str] = "reveal"
    chat: str
    block: int
    request: int
    row: int | None = None


class RequestImage(Struct, frozen=True):
    """Ask for the file of an image's block; answered by the op `answer` with this number.

    The answer is its path; nothing when it is of a kind that is not shown.
    """

    name: ClassVar[str] = "image"
    chat: str
    block: int
    request: int


class RequestOutput(Struct, frozen=True):
    """Show all of a block's text in a buffer of its own, at a line (from 0)."""

    name: ClassVar[str] = "output"
    chat: str
    block: int
    row: int = 0


class RequestTranscript(Struct, frozen=True):
    """Ask for the whole chat as Markdown; answered by the op `answer` with this number."""

    name: ClassVar[str] = "transcript"
    chat: str
    request: int


class RequestTimeline(Struct, frozen=True):
    """Ask for the user's messages and flags; answered by the op `answer` with this number.

    The answer is a list of tables in order: block, kind (user, flag, older) and title. With a
    `block` it has only the message of the user that the block is or belongs to, if there is one.
    """

    name: ClassVar[str] = "timeline"
    chat: str
    request: int
    block: int | None = None

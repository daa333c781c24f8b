r"""Completion: what the input offers after `@`, `#` and `/`.

Rules kept here:
- The query is the text after the trigger as it was typed, with blanks escaped as tokens are (`\ `).
- An answer has all items for its query, in the order to show, at most `MOST_ITEMS`. A later answer
  to the same query begins with the same items: nothing that was shown changes its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import ClassVar, Final

from msgspec import Struct

MOST_ITEMS: Final = 200
"""Most items of an answer."""


class Trigger(StrEnum):
    """The character before a query: contexts, paths to mention, commands."""

    CONTEXT = "@"
    PATH = "#"
    COMMAND = "/"


class ItemKind(StrEnum):
    """What an item is. The view adds kinds that only the editor knows, such as its buffers."""

    FILE = "file"
    FOLDER = "folder"
    CURSOR = "cursor"
    URL = "url"
    RESOURCE = "resource"
    COMMAND = "command"
    PROMPT = "prompt"
    SKILL = "skill"
    TEMPLATE = "template"


class Argument(Struct, frozen=True):
    """An argument of a command or prompt."""

    name: str
    description: str = ""
    required: bool = False


class CompletionItem(Struct, frozen=True):
    """Something to accept.

    text: what stands after the trigger then, with blanks escaped. label: how it is shown. detail:
    more about it. Both are one line that is safe to show.
    """

    text: str
    label: str
    kind: ItemKind
    detail: str = ""
    arguments: tuple[Argument, ...] = ()


class Complete(Struct, frozen=True):
    """An intent: ask what completes a query; answered by the op `completions`, maybe several times.

    A newer query of the same chat and trigger ends an older one. folder: the working folder, which
    paths in items are relative to; None for the first folder of the workspace.
    """

    name: ClassVar[str] = "complete"
    chat: str
    trigger: str
    query: str
    folder: str | None = None


class SetCompletions(Struct, frozen=True):
    """An op: the items for a query.

    An item is a table of text, label, kind, detail and arguments (tables of name, description and
    required), as `CompletionItem` explains them. final: no later answer to this query follows.
    """

    name: ClassVar[str] = "completions"
    chat: str
    trigger: str
    query: str
    items: Sequence[Mapping[str, object]]
    final: bool

"""Completion: what the input offers after `@`, `#` and `/`: contexts, commands, templates.

A query is the text after the trigger, and a path in an item is one as a user knows it: the editor
alone knows how they are written in a token.
"""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

from eca_nvim.chat.vocabulary import bases

COMMAND: Final = re.compile(r"\s*/[^\s/]*(?:\s|\Z)")
"""How a prompt begins that agents take as a command: a path, as `/etc/hosts`, is none."""


class Command(Struct, frozen=True):
    """A command of the agent; `hint` describes its argument."""

    name: str
    description: str = ""
    hint: str | None = None


class CommandsChanged(bases.ChatEvent, frozen=True):
    """An event: all commands of a chat (ACP: available_commands_update)."""

    commands: tuple[Command, ...]


MOST_ITEMS: Final = 300
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

    text: what stands after the trigger then; of a path, as a user knows it. label: how it is shown.
    detail: more about it. Both are one line that is safe to show.
    """

    text: str
    label: str
    kind: ItemKind
    detail: str = ""
    arguments: tuple[Argument, ...] = ()


class Complete(bases.ChatIntent, frozen=True, tag="complete"):
    """An intent: ask what completes a query; answered by the op `completions`, maybe several times.

    A newer query of the same chat and trigger ends an older one. folder: the working folder, which
    paths in items are relative to; None for the first folder of the workspace.
    """

    trigger: str
    query: str
    folder: str | None = None


class SetCompletions(bases.ChatOp, frozen=True, tag="completions"):
    """An op: the items for a query.

    An item is a table of text, label, kind, detail and arguments (tables of name, description and
    required), as `CompletionItem` explains them; the editor ranks them. final: no later answer to
    this query follows. A later one begins with the same items: nothing shown changes its place.
    """

    trigger: str
    query: str
    items: Sequence[Mapping[str, object]]
    final: bool


class CompleteCode(bases.Intent, frozen=True, tag="complete_code"):
    """An intent: ask what an agent would insert at a place in the text of a buffer.

    A newer one, or `CancelCode`, ends it; then the answer is nil. path: of the buffer's file,
    absolute. version: of the text. line, character: 1-based, in UTF-16 units. asked: the user has
    asked for it; else a server that has ended is not started again.

    The answer is a table of text (clean; "" if the agent would insert nothing), or of fault (why
    there is none, in one line) and about (what the fault is about: file or server).
    """

    path: str
    text: str
    version: int
    line: int
    character: int
    asked: bool
    request: int


class CancelCode(bases.Intent, frozen=True, tag="cancel_code"):
    """An intent: what was asked by `CompleteCode` is not needed any more."""


class ListTemplates(bases.Intent, frozen=True, tag="list_templates"):
    """Read all templates; the op `templates` has them, the op `answer` with this number follows.

    Files that cannot be used are reported.
    """

    request: int


class PrepareTemplate(bases.ChatIntent, frozen=True, tag="prepare_template"):
    """Ask what a template needs.

    rest: what was typed after its name. typed: `/name` was typed as a prompt, which may also be a
    command of the agent. The answer is nil if a message says why the template cannot be used; a
    table of command (true: the prompt is for the agent); or of digest, kinds (of variables) and
    questions.
    """

    template: str
    request: int
    rest: str = ""
    typed: bool = False


class ExpandTemplate(bases.ChatIntent, frozen=True, tag="expand_template"):
    """Put values into a template, and choose its agent for the chat.

    digest: of what was prepared. values: by kind, tables of content, label and language; kinds
    without a value are absent. answers: to the questions. decided: the user has seen a project's
    template, and what would be sent with it. The answer is nil if a message says why not, or a
    table of text (the prompt) and own (the part of it in which `@file` names a context). For a
    project's template on which the user has not decided nothing is done: the table also has its
    title and lines, and seen: whether the user has seen this template before.
    """

    template: str
    digest: str
    request: int
    rest: str = ""
    values: Mapping[str, object] = {}
    answers: Sequence[str] = ()
    decided: bool = False


class SetTemplates(bases.ViewOp, frozen=True, tag="templates"):
    """An op: all templates by name.

    Tables of name, description, source ('yours' and so on), and variables: the names of those that
    the editor has values for.
    """

    templates: Sequence[Mapping[str, object]]

"""Templates: the intents and the op about prompts that are kept in Markdown files.

Rules kept here:
- The editor collects the values of a template's variables, the host puts them into the text.
- What the user has seen of a template has a digest; a file that has changed since is not used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, TypeAlias

from msgspec import Struct


class ListTemplates(Struct, frozen=True):
    """Read all templates; the op `templates` has them, the op `answer` with this number follows.

    Files that cannot be used are reported.
    """

    name: ClassVar[str] = "list_templates"
    request: int


class PrepareTemplate(Struct, frozen=True):
    """Ask what a template needs; answered by the op `answer` with this number.

    rest: what was typed after its name. typed: `/name` was typed as a prompt, which may also be a
    command of the agent. The answer is nil if a message says why the template cannot be used; a
    table of command (true: the prompt is for the agent); or of digest, kinds (of variables) and
    questions.
    """

    name: ClassVar[str] = "prepare_template"
    chat: str
    template: str
    request: int
    rest: str = ""
    typed: bool = False


class ExpandTemplate(Struct, frozen=True):
    """Put values into a template, and choose its agent for the chat; answered with this number.

    digest: of what was prepared. values: by kind, tables of content, label and language; kinds
    without a value are absent. answers: to the questions. decided: the user has seen a project's
    template, and what would be sent with it. The answer is nil if a message says why not, or a
    table of text (the prompt) and own (the part of it in which `@file` names a context). For a
    project's template on which the user has not decided nothing is done: the table also has its
    title and lines, and seen: whether the user has seen this template before.
    """

    name: ClassVar[str] = "expand_template"
    chat: str
    template: str
    digest: str
    request: int
    rest: str = ""
    values: Mapping[str, object] = {}
    answers: Sequence[str] = ()
    decided: bool = False


class SetTemplates(Struct, frozen=True):
    """An op: all templates by name, tables of name, description and source ('yours' and so on)."""

    name: ClassVar[str] = "templates"
    templates: Sequence[Mapping[str, str]]


TemplateIntent: TypeAlias = ListTemplates | PrepareTemplate | ExpandTemplate

"""Library: finds templates and reads them: `key: value` lines between two `---`, and a text.

It is data, and a tiny subset of YAML: one word, a colon, and text on the same line.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

from msgspec import Struct

from eca_nvim.chat.text.safe_text import literal_name, one_line
from eca_nvim.path_risks import real_path
from eca_nvim.paths import NotAFile, open_regular
from eca_nvim.session.templates.expansion import MalformedTemplate, parse

PROJECT_FOLDER: Final = ".nvim/eca/templates"
"""Not in `.eca/`: that is the server's own, which looks there for commands and skills."""


class TemplateFolders(Struct, frozen=True):
    """The user's folder (absolute), and that of a project relative to it; "" for none."""

    user: str = ""
    project: str = PROJECT_FOLDER


KEYS: Final = ("name", "description", "agent")
FENCE: Final = "---"
_LINE = re.compile(r"([A-Za-z_-]{1,40})[ \t]*:(?:[ \t]+(.*))?")
_NAME = re.compile(r"\w[\w.-]{0,59}")
_OTHER_YAML: Final = ("|", ">", "[", "{", "&", "*", "!", "%", "@", "`")
_QUOTES: Final = ("'", '"')


class Template(Struct, frozen=True):
    """A template: what the list shows, the agent it asks for, and its text with variables.

    first_line: the line of the file where the text begins, 1-based.
    """

    name: str
    description: str
    agent: str | None
    body: str
    first_line: int = 1


def read_template(text: str, stem: str) -> Template:
    """Read the text of a file. `stem`, its name without `.md`, is the name if no other is given.

    Raises MalformedTemplate.
    """
    # Whatever else stands there is a fault that names its line: none is silently ignored.
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    fields, first = _front_matter(lines)
    name = fields.get("name", stem)
    if not _NAME.fullmatch(name):
        raise MalformedTemplate("a name has only letters, digits, '-', '_' and '.'")
    body = "\n".join(lines[first:]).strip("\n")
    if not body.strip():
        raise MalformedTemplate("there is no text below the front matter")
    blank = next(number for number, line in enumerate(lines[first:]) if line)
    parse(body, first_line := first + 1 + blank)
    return Template(
        name, fields.get("description", ""), fields.get("agent") or None, body, first_line
    )


def _front_matter(lines: list[str]) -> tuple[dict[str, str], int]:
    """Return the fields, and the index of the first line after them."""
    if lines[0].rstrip() != FENCE:
        return {}, 0
    fields: dict[str, str] = {}
    for number, line in enumerate(lines[1:], 2):
        if line.rstrip() == FENCE:
            return fields, number
        if line.strip() and not line.startswith("#"):
            key, value = _field(line, number)
            if key in fields:
                raise MalformedTemplate(f"'{key}' is there twice", number)
            fields[key] = value
    raise MalformedTemplate("the front matter has no end: a line '---' is missing", 1)


def _field(line: str, number: int) -> tuple[str, str]:
    found = _LINE.fullmatch(line.rstrip())
    if found is None:
        raise MalformedTemplate("expected 'key: text' or '---'", number)
    key, value = found[1], (found[2] or "").strip()
    if key not in KEYS:
        raise MalformedTemplate(f"unknown key '{key}'", number)
    if value.startswith(_OTHER_YAML):
        raise MalformedTemplate("expected text on this line; quote it if it begins so", number)
    if len(value) > 1 and value[0] in _QUOTES and value[-1] == value[0]:
        value = value[1:-1]
    return key, value


LARGEST: Final = 100_000
"""Bytes of a file."""
MOST_FILES: Final = 200
"""Files of a folder that are read, by name."""
SUFFIX: Final = ".md"
_BUILTIN: Final = Path(__file__).parent / "builtin"


class Source(StrEnum):
    """Where a template comes from, in words for the user."""

    USER = "yours"
    PROJECT = "project"
    BUILTIN = "built in"


class Found(Struct, frozen=True):
    """A template that was read. shown: its path for the user; digest: of the whole file."""

    template: Template
    source: Source
    shown: str
    text: str
    digest: str


class Library(Struct, frozen=True):
    """All templates by name, sorted, and a line for each file that cannot be used."""

    templates: Mapping[str, Found]
    faults: Sequence[str]


def read_library(folders: TemplateFolders, workspace: Sequence[str]) -> Library:
    """Read all templates; blocks, so runs in a thread."""
    found: dict[str, Found] = {}
    faults: list[str] = []
    for source, folder, root in _places(folders, workspace):
        own: dict[str, Found] = {}
        for path in _files(folder, faults):
            shown = literal_name(os.path.relpath(path, root))
            try:
                _add(own, _read(path, source, root, shown))
            except MalformedTemplate as fault:
                line = "" if fault.line is None else f":{fault.line}"
                faults.append(one_line(f"{shown}{line}: {fault}"))
        # A repository must not change what a user's own `/commit` sends.
        found = own | found
    return Library(dict(sorted(found.items())), faults)


def _add(own: dict[str, Found], found: Found) -> None:
    """Add a template to those of its folder. Raises MalformedTemplate."""
    name = found.template.name
    if name in own:
        raise MalformedTemplate(f"{own[name].shown} has the name '{name}', too")
    own[name] = found


def _places(
    folders: TemplateFolders, workspace: Sequence[str]
) -> Iterator[tuple[Source, str, str]]:
    """Yield where templates are, those that come first first: source, folder, and its root."""
    if folders.user:
        yield Source.USER, folders.user, folders.user
    for root in workspace if folders.project else ():
        yield Source.PROJECT, os.path.join(root, folders.project), root  # noqa: PTH118
    yield Source.BUILTIN, str(_BUILTIN), str(_BUILTIN)


def _files(folder: str, faults: list[str]) -> Sequence[str]:
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(SUFFIX))  # noqa: PTH208
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as fault:
        faults.append(one_line(f"templates cannot be read: {fault}"))
        return ()
    return [os.path.join(folder, name) for name in names[:MOST_FILES]]  # noqa: PTH118


def _read(path: str, source: Source, root: str, shown: str) -> Found:
    """Read a file. Raises MalformedTemplate."""
    # A project's link could lead to any secret; users may link their own files.
    if source is Source.PROJECT and _leads_out(path, root):
        raise MalformedTemplate("not read: a link leads out of its folder")
    try:
        with open_regular(path) as file:
            content = file.read(LARGEST + 1)
    except (OSError, NotAFile) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else fault
        raise MalformedTemplate(f"not read: {reason}") from fault
    if len(content) > LARGEST:
        raise MalformedTemplate(f"not read: larger than {LARGEST // 1000} kB")
    try:
        text = content.decode()
    except UnicodeDecodeError as fault:
        raise MalformedTemplate("not read: it is not UTF-8 text") from fault
    template = read_template(text, Path(path).stem)
    return Found(template, source, shown, text, hashlib.sha256(content).hexdigest())


def _leads_out(path: str, root: str) -> bool:
    """Return whether a link leads from a file out of its folder, or from the folder out of root."""
    folder = Path(real_path(str(Path(path).parent)))
    inside = Path(real_path(path)).is_relative_to(folder)
    return not inside or not folder.is_relative_to(real_path(root))

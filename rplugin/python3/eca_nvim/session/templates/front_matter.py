"""Front matter: reads a template file, `key: value` lines between two `---` and the text below.

Rules kept here:
- It is data, and a tiny subset of YAML: one word, a colon, and text on the same line. Quotes around
  the text are dropped; `#` begins a comment only at the start of a line.
- Whatever else stands there is a fault that names the line, so that no line is silently ignored.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from eca_nvim.patterns import late_pattern
from eca_nvim.session.templates.expansion import MalformedTemplate, parse

KEYS: Final = ("name", "description", "agent")
FENCE: Final = "---"
_LINE = late_pattern(r"([A-Za-z_-]{1,40})[ \t]*:(?:[ \t]+(.*))?")
_NAME = late_pattern(r"\w[\w.-]{0,59}")
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
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    fields, first = _front_matter(lines)
    name = fields.get("name", stem)
    if not _NAME.fullmatch(name):
        raise MalformedTemplate("a name has only letters, digits, '-', '_' and '.'")
    body = "\n".join(lines[first:]).strip("\n")
    if not body.strip():
        raise MalformedTemplate("there is no text below the front matter")
    parse(body, first_line := first + 1 + _blank_lines(lines[first:]))
    return Template(
        name, fields.get("description", ""), fields.get("agent") or None, body, first_line
    )


def _blank_lines(lines: list[str]) -> int:
    return next(number for number, line in enumerate(lines) if line)


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

"""The documents in parts: the help by tags, the others by sections and snippets."""

import re
from pathlib import Path

from tests.support.launch import REPOSITORY

HELP = REPOSITORY / "doc" / "eca.txt"
README = REPOSITORY / "README.md"
PARTS = REPOSITORY / "doc" / "parts.md"
CONTRIBUTING = REPOSITORY / "CONTRIBUTING.md"
SECURITY = REPOSITORY / "doc" / "security.md"
PERFORMANCE = REPOSITORY / "doc" / "performance.md"
RELIABILITY = REPOSITORY / "doc" / "reliability.md"
AGENTS = REPOSITORY / "AGENTS.md"
SMALL = (REPOSITORY / "llms.txt", REPOSITORY / ".github" / "SECURITY.md")
PAGES = (README, CONTRIBUTING, PARTS, SECURITY, PERFORMANCE, RELIABILITY, AGENTS, *SMALL)
NAMING = (CONTRIBUTING, PARTS, SECURITY, RELIABILITY, AGENTS)
"""Pages that name files of the code."""

TAG = re.compile(r"(?:^|(?<=\s))\*([^*\s|]+)\*(?=\s|$)")
LINK = re.compile(r"(?<!\S)\(?\|([^|\s]+)\|")


def help_lines() -> list[str]:
    """Return the lines of the help."""
    return HELP.read_text(encoding="utf-8").splitlines()


def tags() -> list[str]:
    """Return all tags of the help, in order."""
    return [tag for line in help_lines() for tag in TAG.findall(line)]


def links() -> list[str]:
    """Return what the help refers to, as Neovim reads it: not in code."""
    return LINK.findall(without_examples("\n".join(help_lines())))


def without_examples(text: str) -> str:
    """Return a part of the help without its examples of code."""
    return re.sub(r"(?m)(?:^| )>\n(?:[ \t].*\n|\n)*", "\n", text)


def things(pattern: str) -> set[str]:
    """Return what the tags of a pattern name: its first group."""
    found = (re.fullmatch(pattern, tag) for tag in tags())
    return {match[1] for match in found if match}


def told(tag: str) -> str:
    """Return what the help says about a tag: its line up to the next line with a tag."""
    lines = help_lines()
    first = next(row for row, line in enumerate(lines) if tag in TAG.findall(line))
    rest = lines[first + 1 :]
    count = next((row for row, line in enumerate(rest) if TAG.search(line)), len(rest))
    return "\n".join(lines[first : first + 1 + count])


def section(heading: str, path: Path = README) -> str:
    """Return the text of a section of a Markdown document, its subsections included."""
    level, name = heading.split(" ", 1)
    text = path.read_text(encoding="utf-8")
    _, found, rest = text.partition(f"\n{level} {name}\n")
    assert found, f"{path.name} has no section {heading!r}"
    return re.split(rf"\n#{{1,{len(level)}}} ", rest)[0]


def snippets(heading: str, language: str) -> list[str]:
    """Return the code of a language in a section of the README."""
    return re.findall(rf"```{language}\n(.*?)```", section(heading), re.DOTALL)

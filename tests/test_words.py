"""Comments, docstrings and messages are in plain words: old turns of phrase do not come back.

Each phrase below had to be read twice.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parent.parent
DOCUMENTS: Final = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "doc/eca.txt",
    "doc/parts.md",
    "doc/security.md",
)
PYTHON: Final = ROOT / "rplugin" / "python3" / "eca_nvim"
LUA: Final = ROOT / "lua" / "eca"

PHRASES: Final[Mapping[str, str]] = {
    r"\b(?:is|are|was|were|be|been|being) told\b": "who reports, sends, shows or logs what?",
    r"\bwhat (?:is|was) told\b|\bas told\b": "name what is sent or shown",
    r"\bwho (?:hears|listens)\b": "name the receiver",
    r"\banew\b": "again, or another verb: redraw, restart",
    r"\blaid to\b": "attributed to",
    r"\bgo(?:es)? along\b": "is sent with",
    r"\bthat is none\b|\bwhat is none\b": "name the thing, then say what it is not",
    r"\bof any server\b": "on any server",
    r"\b(?:user's|your|his) word\b": "approval, answer, decision",
    r"\bwithout a word\b|\bthe first word on\b": "without a message, first message",
    r"\bas (?:it|they) (?:came|come)\b": "unchanged, as received",
    r"\bnever was\b": "never existed",
    r"\bwhat (?:became|becomes|came) of\b": "the result of, what happens to",
    r"\bturns? (?:it|them) round\b": "toggle",
    r"\bin (?:another|an earlier) life\b": "in an earlier process or session",
    r"\btakes? [a-z]+ apart\b|\btaken apart\b": "split, parse",
    r"\bcomes? along\b": "is included",
    r"\bis wanted of\b|\bis heard of\b": "who wants, receives or reports what?",
    r"\bof another day\b": "of an earlier session",
    r"\baccept(?:s|ed|ing)? (?:it )?or reject": "allow or reject, as in the float",
    r"\bof which (?:the|nothing|it)\b": "whose, about which",
    r"(?<!there )\bis no (?:string|number|list|object|file|word|option)\b": "is not a …",
}
"""Patterns of old phrases, each with what to write instead. None of them can backtrack far."""

OPENINGS: Final[Mapping[str, str]] = {
    r"Say (?:whether|that|what|how|which|where)\b": "Return whether …, Report …, Show …",
    r"Tell (?:whether|that|what|how|which|where)\b": "Return whether …, Report …",
    r"Take (?:that|what|note|how)\b": "Note that …, Store …, Add …, Remove …",
    r"Give (?:the|what|how|all|where|its|that|those|which)\b": "Return the …, Yield the …",
}
"""Beginnings of docstrings and comments, each with what to write instead."""

_PHRASES = re.compile("|".join(PHRASES), re.IGNORECASE)
_OPENINGS = re.compile("|".join(OPENINGS))
_LUA_COMMENT = re.compile(r"(?:^|\s)--+\s?(.*)")
_LUA_STRING = re.compile(r"""'([^'\n]* [^'\n]*)'|"([^"\n]* [^"\n]*)\"""")


def python_texts(source: str) -> Iterator[str]:
    """Yield the comments and all strings of a Python file, docstrings included."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string.lstrip("# ")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.value


def lua_texts(source: str) -> Iterator[str]:
    """Yield the comments of a Lua file, neighbouring lines as one text, and its strings."""
    lines: list[str] = []
    for line in source.splitlines():
        found = _LUA_COMMENT.search(line)
        if found is None or not line.lstrip().startswith("--"):
            yield " ".join(lines)
            lines = []
            yield from (one or other for one, other in _LUA_STRING.findall(line))
        if found is not None:
            lines.append(found[1])
    yield " ".join(lines)


def old_phrases(text: str) -> Iterator[str]:
    """Yield the old phrases in a text, which may have line breaks anywhere."""
    text = " ".join(text.split())
    yield from (found.group() for found in _PHRASES.finditer(text))
    if (found := _OPENINGS.match(text)) is not None:
        yield found.group()


def phrases_of_source() -> Iterator[str]:
    """Yield the old phrases in both halves, each with its file and the beginning of its text."""
    for path in sorted(chain(PYTHON.rglob("*.py"), LUA.rglob("*.lua"))):
        texts = python_texts if path.suffix == ".py" else lua_texts
        for text in texts(path.read_text()):
            for phrase in old_phrases(text):
                yield f"{path.relative_to(ROOT)}: {phrase!r} in {' '.join(text.split())[:100]!r}"


def remarks(source: str) -> Iterator[str]:
    """Yield the comments and docstrings of a Python file, without its other strings."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string.lstrip("# ")
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield text


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_have_no_old_phrase(name: str) -> None:
    assert list(old_phrases((ROOT / name).read_text())) == []


@pytest.mark.parametrize("folder", ["bench", "scripts", "tests"])
def test_no_old_phrase_is_in_remarks(folder: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}: {phrase}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for text in remarks(path.read_text())
        for phrase in old_phrases(text)
    ]
    assert found == []


def test_no_old_phrase_comes_back() -> None:
    found = list(phrases_of_source())
    assert not found, "\n".join(["say it plainly (PHRASES):", *found])


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("The user is told at once.", ["is told"]),
        ("Whatever the agent\n    was told goes along.", ["was told", "goes along"]),
        ("Say whether it is open.", ["Say whether"]),
        ("What it says: Say whether it is open.", []),
        ("Return the lines anew.", ["anew"]),
        ("Return whether the block is open.", []),
        ("Give a file the owner of another.", []),
    ],
)
def test_old_phrases_are_found(text: str, phrases: list[str]) -> None:
    assert list(old_phrases(text)) == phrases


def test_comments_and_strings_of_lua_are_read() -> None:
    source = "-- Draw it\n-- anew.\nlocal x = '--' -- is told\nlocal y = 'drawn anew'\n"
    texts = (list(old_phrases(it)) for it in lua_texts(source))
    assert [it for it in texts if it] == [["anew"], ["is told"], ["anew"]]

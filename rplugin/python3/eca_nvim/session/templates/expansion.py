r"""Expansion: puts values in the place of a template's variables.

`\{{` stands for two braces; an unknown variable, or an open one, is a fault that names its line.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from eca_nvim.session.view import Refused

QUESTION: Final = "input"
INLINE: Final = "file"
FENCED: Final = ("selection", "diff", "diagnostics", "diagnostic")
"""Variables whose values stand in a fence."""
LONGEST: Final = 2_000_000
"""Characters that all fenced values of a prompt have together."""
_OPEN, _CLOSE = "{{", "}}"
_FENCES = re.compile("`{3,}")
_LANGUAGE = re.compile(r"[\w+-]{1,30}")


class MalformedTemplate(Refused, ValueError):
    """Raised if a file is no template; says why in a line, `line` is 1-based, None for the file."""

    def __init__(self, fault: str, line: int | None = None) -> None:
        super().__init__(fault)
        self.line = line


class Variable(Struct, frozen=True):
    """A variable of a template; `question`: what to ask the user."""

    kind: str
    question: str = ""


class Value(Struct, frozen=True):
    """The value of a variable. label: what it is, for the line above the fence."""

    content: str
    label: str = ""
    language: str = ""


class Expansion(Struct, frozen=True):
    """The prompt, and the part of it in which `@file` names a context: all but fenced values."""

    text: str
    own: str


Part: TypeAlias = str | Variable


def parse(body: str, first_line: int = 1) -> Sequence[Part]:
    """Split a template's text at its variables. Raises MalformedTemplate."""
    return tuple(_parts(body, first_line))


def _parts(body: str, first_line: int) -> Iterator[Part]:
    at, counted, line = 0, 0, first_line
    while (start := body.find(_OPEN, at)) >= 0:
        if start > at and body[start - 1] == "\\":
            yield body[at : start - 1] + _OPEN
            at = start + len(_OPEN)
            continue
        line, counted = line + body.count("\n", counted, start), start
        end = body.find(_CLOSE, start)
        name = body[start + len(_OPEN) : end]
        if end < 0 or "\n" in name:
            raise MalformedTemplate(r"'{{' without '}}'; write \{{ for two braces", line)
        yield body[at:start]
        yield _variable(name.strip(), line)
        at = end + len(_CLOSE)
    yield body[at:]


def _variable(name: str, line: int) -> Variable:
    kind, colon, question = (it.strip() for it in name.partition(":"))
    if kind == QUESTION and question:
        return Variable(QUESTION, question)
    if kind == QUESTION:
        raise MalformedTemplate("{{input:…}} needs a question after the colon", line)
    if colon or kind not in (INLINE, *FENCED):
        raise MalformedTemplate(f"unknown variable '{name[:40]}'", line)
    return Variable(kind)


def kinds_of(parts: Sequence[Part]) -> Sequence[str]:
    """Return the variables that the editor has values for, each once, in order."""
    kinds = (it.kind for it in parts if isinstance(it, Variable) and it.kind != QUESTION)
    return tuple(dict.fromkeys(kinds))


def questions_of(parts: Sequence[Part], rest: str = "") -> Sequence[str]:
    """Return the questions to ask, each once, in order.

    rest: what was typed after the template's name; it answers the first.
    """
    return _all_questions(parts)[1 if rest else 0 :]


def _all_questions(parts: Sequence[Part]) -> Sequence[str]:
    questions = (it.question for it in parts if isinstance(it, Variable) and it.kind == QUESTION)
    return tuple(dict.fromkeys(questions))


def expand(
    parts: Sequence[Part], values: Mapping[str, Value], answers: Sequence[str], rest: str = ""
) -> Expansion:
    """Return the prompt; `answers` are those to `questions_of`, in order.

    Raises KeyError for a variable without a value, ValueError for too few or too many answers,
    MalformedTemplate if the prompt would be longer than `LONGEST`.
    """
    fences = [values[it.kind] for it in parts if isinstance(it, Variable) and it.kind in FENCED]
    if sum(len(it.content) for it in fences) > LONGEST:
        raise MalformedTemplate(f"the prompt would be longer than {LONGEST // 1_000_000} MB")
    questions = _all_questions(parts)
    given = (rest, *answers) if rest and questions else answers
    answered = dict(zip(questions, given, strict=True))
    pieces = [_piece(part, values, answered) for part in parts]
    own = "".join("\n" if piece.is_fenced else piece.text for piece in pieces)
    text = _joined(pieces).strip("\n")
    if rest and not questions:  # nothing asks for it: it stands at the end
        return Expansion(f"{text}\n\n{rest}", f"{own}\n{rest}")
    return Expansion(text, own)


class _Piece(Struct, frozen=True):
    text: str
    is_fenced: bool = False


# A value is data: what looks like a variable in it stays as it is.
def _piece(part: Part, values: Mapping[str, Value], answered: Mapping[str, str]) -> _Piece:
    if isinstance(part, str):
        return _Piece(part)
    if part.kind == QUESTION:
        return _Piece(answered[part.question])
    if part.kind == INLINE:
        return _Piece(values[INLINE].content)
    return _Piece(fenced(values[part.kind]), is_fenced=True)


def _joined(pieces: Sequence[_Piece]) -> str:
    """Join pieces; a fence has its own lines."""
    texts: list[str] = []
    after_fence = False
    for piece in pieces:
        if not piece.text:
            continue
        ends_line = not texts or texts[-1].endswith("\n")
        if (piece.is_fenced and not ends_line) or (after_fence and not piece.text.startswith("\n")):
            texts.append("\n")
        texts.append(piece.text)
        after_fence = piece.is_fenced
    return "".join(texts)


def fenced(value: Value) -> str:
    """Return a value below its label, in a fence that is longer than any in it.

    So text that is not the user's own typing cannot end it.
    """
    longest = max(map(len, _FENCES.findall(value.content)), default=2)
    fence = "`" * (longest + 1)
    language = value.language if _LANGUAGE.fullmatch(value.language) else ""
    label = f"{value.label}:\n" if value.label else ""
    return f"{label}{fence}{language}\n{value.content.rstrip(chr(10))}\n{fence}"

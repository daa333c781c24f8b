"""Code blocks: code that the protocol's first draft lists beside the text of an answer.

Rule: the draft says that the code occurs in the text. A block that the answer's lines do not show
is added at its end in a fence, so that no code is lost or shown twice. The cost is linear in the
bytes received.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct, field

from eca_nvim.patterns import late_pattern
from eca_nvim.protocol.eca.content import TextContent
from eca_nvim.protocol.eca.draft import CodeBlock

_BACKTICKS: Final = late_pattern("`+")
_NO_LANGUAGE: Final = late_pattern(r"[^\w+#.-]")
"""Characters that would change the meaning of the line that opens a fence."""


class _Answer(Struct):
    """An unfinished answer: the pieces of its text, and the code it lists, each block once."""

    texts: list[str] = field(default_factory=list)
    blocks: dict[CodeBlock, None] = field(default_factory=dict)


class CodeBlocks:
    """The code of unfinished answers, by chat."""

    def __init__(self) -> None:
        self._answers: dict[str, _Answer] = {}

    def add(self, chat_id: str, content: TextContent) -> None:
        """Add a piece of an answer."""
        answer = self._answers.setdefault(chat_id, _Answer())
        answer.texts.append(content.text)
        answer.blocks.update(dict.fromkeys(content.code_blocks))

    def complete(self, chat_id: str) -> str:
        """End an answer; return the listed code that its text does not show, or ""."""
        answer = self._answers.pop(chat_id, _Answer())
        if not answer.blocks:
            return ""
        shown = {"", *map(str.strip, "".join(answer.texts).splitlines())}
        missing = [it for it in answer.blocks if not shown.issuperset(_lines(it))]
        return "".join(map(_fenced, missing))


def _lines(block: CodeBlock) -> list[str]:
    return [line.strip() for line in block.code.splitlines()]


def _fenced(block: CodeBlock) -> str:
    longest = max(map(len, _BACKTICKS.findall(block.code)), default=0)
    fence = "`" * max(3, longest + 1)
    language = _NO_LANGUAGE.sub("", block.language or "")
    return f"\n\n{fence}{language}\n{block.code.rstrip()}\n{fence}\n"

"""Code beside the text of an answer of the first draft."""

import pytest

from eca_nvim.agents.eca.older.draft import missing_code
from eca_nvim.protocol.eca.draft import CodeBlock


def piece(text: str, *blocks: tuple[str, str | None]) -> tuple[str, list[CodeBlock]]:
    """Make a piece of an answer with code of some languages."""
    return text, [CodeBlock(code=code, language=language) for code, language in blocks]


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        ([piece("hi")], ""),
        ([piece("hi", ("a = 1\n", "python"))], "\n\n```python\na = 1\n```\n"),
        ([piece("hi", ("a", None), ("b", None))], "\n\n```\na\n```\n\n\n```\nb\n```\n"),
        ([piece("```\n  a = 1\n\n  b\n```", ("a = 1\n\nb", "python"))], ""),
        ([piece("a", ("a = 1", None)), piece(" = 1")], ""),
        ([piece("", ("a", None)), piece("", ("a", None))], "\n\n```\na\n```\n"),
        ([piece("", ("```\nx\n```", "md"))], "\n\n````md\n```\nx\n```\n````\n"),
        ([piece("", ("a", "c++\n```\n# Not code"))], "\n\n```c++#Notcode\na\n```\n"),
        ([piece("", ("", None))], ""),
    ],
)
def test_code_that_the_text_does_not_show_follows_it(
    pieces: list[tuple[str, list[CodeBlock]]], shown: str
) -> None:
    text = "".join(text for text, _ in pieces)
    blocks = dict.fromkeys(block for _, listed in pieces for block in listed)
    assert missing_code(text, blocks) == shown

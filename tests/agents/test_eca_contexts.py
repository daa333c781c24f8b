"""Contexts as the server wants them: lines and characters from 1."""

import pytest
from tests.support.on_the_wire import on_the_wire
from tests.support.screen import Value

from eca_nvim.agents.eca.prompts import wire_contexts
from eca_nvim.chat.vocabulary import contexts as ours

HERE = {"line": 2, "character": 3}
THERE = {"line": 4, "character": 1}


@pytest.mark.parametrize(
    ("context", "wire"),
    [
        (ours.FileContext("/a"), {"type": "file", "path": "/a"}),
        (
            ours.FileContext("/a", 1, 2),
            {"type": "file", "path": "/a", "linesRange": {"start": 1, "end": 2}},
        ),
        (ours.DirectoryContext("/d"), {"type": "directory", "path": "/d"}),
        (ours.ImageContext("/a.png"), {"type": "file", "path": "/a.png"}),
        (ours.ResourceContext("mock://r1"), {"type": "mcpResource", "uri": "mock://r1"}),
        (ours.WebContext("https://e.org"), {"type": "web", "url": "https://e.org"}),
        (
            ours.CursorContext("/a", ours.Position(2, 3), ours.Position(4, 1)),
            {"type": "cursor", "path": "/a", "position": {"start": HERE, "end": THERE}},
        ),
        (
            ours.TextContext("*term*", "some text"),
            {"type": "text", "label": "*term*", "content": "some text"},
        ),
    ],
)
def test_a_context_on_the_wire(context: ours.Context, wire: Value) -> None:
    (found,) = wire_contexts([context])
    assert on_the_wire(found) == wire


def test_words_alone_are_not_on_the_wire() -> None:
    assert wire_contexts([ours.PathMention("/a b"), ours.DiffContext("/ws")]) == ()

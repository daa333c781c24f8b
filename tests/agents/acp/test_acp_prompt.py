"""Prompts as blocks: text, links, and contents for agents that take them."""

from base64 import b64encode
from pathlib import Path

import pytest
from tests.support.on_the_wire import on_the_wire
from tests.support.wire import Message

from eca_nvim.agents.acp.prompt import PromptWriter
from eca_nvim.chat.vocabulary.contexts import (
    Context,
    CursorContext,
    DirectoryContext,
    FileContext,
    ImageContext,
    PathMention,
    Position,
    ResourceContext,
    TextContext,
    WebContext,
)
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.protocol.acp.content import TextBlock
from eca_nvim.protocol.acp.lifecycle import PromptCapabilities
from eca_nvim.protocol.acp.sessions import PromptParams

LINKS = PromptCapabilities()
ALL = PromptCapabilities(image=True, embedded_context=True)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "a b.py"
    file.write_text("one\ntwo\nthree\n")
    return file


def written(
    *contexts: Context, can: PromptCapabilities = LINKS, by: PromptWriter | None = None
) -> list[Message]:
    """Return the blocks after the text, as they are on the wire."""
    blocks, _ = (by or PromptWriter()).write(Prompt("c", "/name rest", contexts), can)
    sent = on_the_wire(PromptParams("s", blocks))
    assert sent is not None
    from acp import schema

    schema.PromptRequest.model_validate(sent)
    text, *blocks = sent["prompt"]
    assert text == {"type": "text", "text": "/name rest"}
    return [*blocks]


def link(path: Path | str, lines: str = "") -> Message:
    uri = f"file://{path}".replace(" ", "%20") + lines
    return {"type": "resource_link", "uri": uri, "name": Path(path).name}


@pytest.mark.parametrize(
    ("first", "last", "lines", "text"),
    [
        (None, None, "", "one\ntwo\nthree"),
        (2, 3, "#L2-L3", "two\nthree"),
        (2, 9, "#L2-L3", "two\nthree"),
    ],
)
def test_a_file_is_a_link_or_its_lines(
    file: Path, first: int | None, last: int | None, lines: str, text: str
) -> None:
    context = FileContext(str(file), first, last)
    asked = "" if first is None else f"#L{first}-L{last}"
    assert written(context) == [link(file, asked)]
    resource = {"uri": link(file, lines)["uri"], "text": text}
    assert written(context, can=ALL) == [{"type": "resource", "resource": resource}]


def test_what_cannot_be_embedded_is_a_link(tmp_path: Path) -> None:
    large, gone = tmp_path / "large.txt", tmp_path / "gone.txt"
    large.write_text("x" * 1_000_001)
    writer, notices = PromptWriter(), list[str]()
    for _ in "twice":
        blocks, lines = writer.write(Prompt("c", "hi", (FileContext(str(large), token="@l"),)), ALL)
        assert on_the_wire(PromptParams("s", blocks[1:])) == {
            "sessionId": "s",
            "prompt": [link(large)],
        }
        notices += lines
    assert notices == ["only the name is sent: @l is larger than 1 MB"]
    assert written(FileContext(str(gone)), can=ALL) == [link(gone)]


def test_lines_that_are_gone_are_left_out_with_a_word(file: Path) -> None:
    blocks, lines = PromptWriter().write(Prompt("c", "hi", (FileContext(str(file), 7, 9),)), ALL)
    assert len(blocks) == 1
    assert lines == [f"context not sent: {file} has no line 7"]


def test_an_image_is_sent_where_images_are_taken(tmp_path: Path) -> None:
    image = tmp_path / "dot.png"
    image.write_bytes(b"\x89PNG")
    context = ImageContext(str(image))
    assert written(context) == [link(image)]
    data = b64encode(b"\x89PNG").decode()
    shown = {"type": "image", "data": data, "mimeType": "image/png", "uri": f"file://{image}"}
    assert written(context, can=ALL) == [shown]
    gone = ImageContext(str(tmp_path / "gone.png"))
    assert written(gone, can=ALL) == [link(tmp_path / "gone.png")]


def test_the_rest_is_links_and_text(file: Path) -> None:
    here, there = Position(2, 1), Position(3, 4)
    path = str(file)
    assert written(
        DirectoryContext(str(file.parent)),
        WebContext("https://eca.dev"),
        ResourceContext("mcp://x"),
        PathMention("/x"),
        TextContext("terminal 1", "$ ls"),
        CursorContext(path, here, here),
        CursorContext(path, here, there),
    ) == [
        link(file.parent),
        {"type": "resource_link", "uri": "https://eca.dev", "name": "https://eca.dev"},
        {"type": "resource_link", "uri": "mcp://x", "name": "mcp://x"},
        {"type": "text", "text": "terminal 1:\n$ ls"},
        {"type": "text", "text": f"The cursor is in line 2, column 1 of {path}."},
        link(file, "#L2"),
        {
            "type": "text",
            "text": f"Selected in {path}: from line 2, column 1 to before line 3, column 4.",
        },
        link(file, "#L2"),
    ]


def test_what_belongs_to_every_prompt_is_sent_again_when_it_has_changed(file: Path) -> None:
    writer, standing = PromptWriter(), FileContext(str(file), 1, 2)
    named = FileContext(str(file), 1, 2, token="@a")
    assert len(written(standing, by=writer)) == 1
    assert written(standing, by=writer) == []
    assert len(written(named, by=writer)) == 1
    file.write_text("another\n")
    assert len(written(standing, by=writer)) == 1


def test_names_with_blanks_reach_the_agent_without_backslashes() -> None:
    contexts = (
        FileContext("/ws/a b.py", 1, 2, token="@a\\ b.py:1-2"),
        PathMention("/ws/my docs", token="#my\\ docs/"),
    )
    text = r"/fix (@a\ b.py:1-2), and #my\ docs/: @other\ name"
    (first, *_), _ = PromptWriter().write(Prompt("c", text, contexts), ALL)
    assert first == TextBlock(r'/fix ("a b.py:1-2"), and "my docs/": @other\ name')

"""Contexts that the editor sends."""

import pytest

from eca_nvim.chat.vocabulary.contexts import (
    DiffContext,
    DirectoryContext,
    FileContext,
    ImageContext,
    MalformedContext,
    PathMention,
    ResourceContext,
    TextContext,
    WebContext,
    lines_within,
    parse_context,
)


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        ({}, (None, None)),
        ({"first": 3}, (3, None)),
        ({"last": 3}, (None, 3)),
        ({"first": 2, "last": 9}, (2, 9)),
        ({"first": 9, "last": 2}, (2, 9)),
    ],
)
def test_lines_are_optional_and_in_order(
    lines: dict[str, object], wanted: tuple[int | None, int | None]
) -> None:
    assert parse_context({"type": "file", "path": "/a", **lines}) == FileContext("/a", *wanted)


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        ([], "a context is a table with a type, not []"),
        ("code.txt", 'a context is a table with a type, not "code.txt"'),
        ({}, "no such type: nil, see :help eca-context-tables"),
        ({"type": "flie"}, 'no such type: "flie"'),
        ({"type": ["file"]}, 'no such type: ["file"]'),
        ({"type": "file"}, "a context of type 'file' needs a path, a string, not nil"),
        ({"type": "file", "path": 3}, "needs a path, a string, not 3"),
        ({"type": "file", "path": ""}, 'needs a path, a string, not ""'),
        ({"type": "file", "path": "/a\0"}, 'a path cannot have a NUL byte: "/a\\u0000"'),
        ({"type": "directory", "path": "/a\0b"}, 'a path cannot have a NUL byte: "/a\\u0000b"'),
        ({"type": "file", "path": "/a", "first": 0}, "first is a line, counted from 1, not 0"),
        ({"type": "file", "path": "/a", "first": -1}, "first is a line, counted from 1, not -1"),
        ({"type": "file", "path": "/a", "last": "3"}, 'last is a line, counted from 1, not "3"'),
        ({"type": "file", "path": "/a", "last": 1.5}, "last is a line, counted from 1, not 1.5"),
        ({"type": "file", "path": "/a", "last": True}, "last is a line, counted from 1, not true"),
        ({"type": "web", "url": "neovim.io"}, 'not a web address: "neovim.io"'),
        ({"type": "web", "url": "https://a b"}, 'not a web address: "https://a b"'),
        ({"type": "web", "url": "https://"}, "not a web address: "),
        ({"type": "text", "label": "a\nb", "content": "c"}, 'a label has no line break: "a\\nb"'),
        ({"type": "text", "label": "log"}, "needs a content, a string, not nil"),
        ({"type": "buffer", "buf": 999}, "there is no buffer 999"),
        ({"type": "buffer", "buf": b"x"}, "there is no buffer "),
        ({"type": "buffer", "buf": 7, "count": 4, "first": 9}, "buffer 7 has no line 9, its last"),
        ({"type": "buffer", "buf": 7, "count": 4, "last": 0}, "last is a line, counted from 1"),
        ({"type": "diff"}, "a context of type 'diff' needs a folder, a string, not nil"),
        ({"type": "resource", "uri": "a b"}, 'not the address of a resource: "a b"'),
        ({"type": "resource", "uri": "mock://a b"}, 'not the address of a resource: "mock'),
        ({"type": "mention"}, "a context of type 'mention' needs a path, a string, not nil"),
        ({"type": "cursor", "path": "/a"}, 'not a place in a file: {"type": "cursor", '),
    ],
)
def test_what_is_no_context_says_why_in_one_line(table: object, fault: str) -> None:
    with pytest.raises(MalformedContext) as raised:
        parse_context(table)
    assert str(raised.value).startswith(fault) or fault in str(raised.value)
    assert str(raised.value).isprintable()


def test_what_is_wrong_is_told_shortly() -> None:
    with pytest.raises(MalformedContext) as raised:
        parse_context({"type": "x" * 10_000})
    assert len(str(raised.value)) < 200


@pytest.mark.parametrize(
    ("table", "context"),
    [
        ({"type": "file", "path": "/a/b.PNG"}, ImageContext("/a/b.PNG", "@it")),
        ({"type": "file", "path": "/a/b.png", "first": 1}, FileContext("/a/b.png", 1, None, "@it")),
        ({"type": "file", "path": "/a.png/b"}, FileContext("/a.png/b", token="@it")),
        ({"type": "file", "path": "/a/png"}, FileContext("/a/png", token="@it")),
        ({"type": "directory", "path": "/a.png"}, DirectoryContext("/a.png", "@it")),
        ({"type": "mention", "path": "/a"}, PathMention("/a", "@it")),
        ({"type": "web", "url": "https://e.org"}, WebContext("https://e.org", "@it")),
        ({"type": "resource", "uri": "mock://r1"}, ResourceContext("mock://r1", "@it")),
        ({"type": "diff", "folder": "/ws"}, DiffContext("/ws", "@it")),
        ({"type": "text", "label": "a", "content": "b"}, TextContext("a", "b", "@it")),
    ],
)
def test_each_type_is_a_context_with_its_token(table: dict[str, object], context: object) -> None:
    assert parse_context({**table, "token": "@it"}) == context


def test_the_media_type_of_an_image_is_that_of_its_name() -> None:
    assert ImageContext("/a/b.JPG").media_type == "image/jpeg"


def test_the_text_of_a_buffer_is_text() -> None:
    table = {"type": "buffer", "buf": 7, "count": 1, "label": "buffer 7", "content": ""}
    assert parse_context(table) == TextContext("buffer 7", "")


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        ((None, None), (None, None)),
        ((2, 3), (2, 3)),
        ((3, 2), (2, 3)),
        ((2, 99), (2, 4)),
        ((4, None), (4, None)),
        ((None, 99), (None, 4)),
    ],
)
def test_lines_end_where_there_are_no_more(
    lines: tuple[int | None, int | None], wanted: tuple[int | None, int | None]
) -> None:
    first, last = lines
    assert lines_within({"first": first, "last": last}, "it", 4) == wanted


def test_lines_that_are_not_there_are_refused() -> None:
    with pytest.raises(MalformedContext, match="it has no line 5, its last one is 4"):
        lines_within({"first": 5}, "it", 4)

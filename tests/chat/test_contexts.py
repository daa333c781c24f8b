"""Contexts as the editor sends them."""

import pytest

from eca_nvim.chat.vocabulary.contexts import FileContext, MalformedContext, parse_context


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


@pytest.mark.parametrize("line", [0, -1, "3", 1.5])
@pytest.mark.parametrize("key", ["first", "last"])
def test_what_is_no_line_is_refused(key: str, line: object) -> None:
    with pytest.raises(MalformedContext, match=key):
        parse_context({"type": "file", "path": "/a", key: line})

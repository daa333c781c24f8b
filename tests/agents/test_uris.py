"""File URIs: what we write is encoded, what we read need not be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eca_nvim.agents.uris import NotAFile, path_of, uri_of

PAIRS = [
    ("/home/me/project", "file:///home/me/project"),
    ("/a b/c#d/e%f?g", "file:///a%20b/c%23d/e%25f%3Fg"),
    ("/ünï/日本/🎉", "file:///%C3%BCn%C3%AF/%E6%97%A5%E6%9C%AC/%F0%9F%8E%89"),
    ("/it's (a) [test]", "file:///it's%20(a)%20%5Btest%5D"),
    ("/line\nbreak", "file:///line%0Abreak"),
    ("/", "file:///"),
]


@pytest.mark.parametrize(("path", "uri"), PAIRS)
def test_paths_are_percent_encoded_and_back(path: str, uri: str) -> None:
    assert uri_of(path) == uri
    assert path_of(uri) == path


def test_a_path_that_is_no_utf8_survives() -> None:
    path = b"/latin-\xe9".decode(errors="surrogateescape")
    assert uri_of(path) == "file:///latin-%E9"
    assert path_of(uri_of(path)) == path


@given(st.text(st.characters(exclude_categories=["Cs"])).map(lambda text: f"/{text}"))
def test_any_path_comes_back(path: str) -> None:
    assert path_of(uri_of(path)) == path


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("/plain/path with % and #", "/plain/path with % and #"),
        ("file:///raw blank/a.py", "/raw blank/a.py"),
        ("file:///raw#hash?mark", "/raw#hash?mark"),
        ("file:///raw?mark#hash", "/raw?mark#hash"),
        ("file:///r\u00e4w", "/r\u00e4w"),
        ("file://localhost/etc/hosts", "/etc/hosts"),
        ("FILE:///A", "/A"),
        ("file:/short", "/short"),
    ],
)
def test_odd_uris_are_read(uri: str, path: str) -> None:
    assert path_of(uri) == path


@pytest.mark.parametrize("uri", ["https://example.org/a", "untitled:Untitled-1", "", "relative.py"])
def test_what_names_no_file_is_refused(uri: str) -> None:
    with pytest.raises(NotAFile, match="is not the URI of a file"):
        path_of(uri)

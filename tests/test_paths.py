"""Paths and file URIs: written, read and refused."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eca_nvim.paths import NotAFile, open_regular, path_of, require_file, uri_of

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
def test_any_path_comes_back_or_is_refused(path: str) -> None:
    if "\0" in path or ":/" in path:
        with pytest.raises(NotAFile):
            path_of(uri_of(path))
    else:
        assert path_of(uri_of(path)) == "/" + os.path.normpath(path).lstrip("/")


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
        ("file:////a//b/./c/../d", "/a/b/d"),
        ("//a/../../b/", "/b"),
    ],
)
def test_odd_uris_are_read(uri: str, path: str) -> None:
    assert path_of(uri) == path


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("https://example.org/a", "is not the URI of a file"),
        ("untitled:Untitled-1", "is not the URI of a file"),
        ("", "is not the URI of a file"),
        ("relative.py", "is not the URI of a file"),
        ("file://[", "is not the URI of a file"),
        ("file:x", "an absolute path"),
        ("file:term://touch X", "an absolute path"),
        ("file:///w/term:%2F%2Ftouch X", "a plain path is needed, not a URL"),
        ("/w/term://touch X", "a plain path is needed, not a URL"),
        ("file://host/etc/passwd", "a file on this machine"),
        ("file:///a%00b", "NUL"),
    ],
)
def test_what_names_no_file_is_refused(uri: str, reason: str) -> None:
    with pytest.raises(NotAFile, match=reason) as refused:
        path_of(uri)
    assert "\n" not in str(refused.value)


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("text")
    with open_regular(str(file)) as opened:
        assert opened.read() == b"text"
    os.mkfifo(tmp_path / "pipe")
    for other in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(NotAFile, match="not a regular file"):
            open_regular(str(other))


def test_what_the_system_makes_up_is_not_read(tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    linked.symlink_to("/proc/self/pagemap")
    if not linked.exists():
        pytest.skip("no such file on this system")
    for path in (str(linked), "/proc/self/pagemap", "/proc/self/task/../environ"):
        with pytest.raises(NotAFile, match="not a regular file"):
            open_regular(path)
        with pytest.raises(NotAFile, match="not a regular file"):
            require_file(path, 1 << 20)


def test_a_pipe_that_took_the_place_of_a_file_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    file = Path(__file__).stat()
    monkeypatch.setattr(Path, "stat", lambda _: file)
    with pytest.raises(NotAFile, match="not a regular file"):
        open_regular(str(pipe))

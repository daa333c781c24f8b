"""Paths that lead out of the workspace."""

from __future__ import annotations

import pytest
from tests.chat.driver import call

from eca_nvim.chat.model.outside_paths import paths_named, paths_outside
from eca_nvim.chat.vocabulary.call_details import FileChange, ShellCommand, ShellPart

FOLDERS = ("/workspace/app", "/workspace/library")


@pytest.mark.parametrize(
    ("path", "outside"),
    [
        ("/workspace/app/a.py", False),
        ("/workspace/app", False),
        ("/workspace/library/x/../y", False),
        ("src/../lib/a.py", False),
        ("a.py", False),
        ("/dev/null", False),
        ("/workspace/application", True),
        ("/etc\n/workspace/app", True),
        ("/workspace/app/../secret", True),
        ("/etc/passwd", True),
        ("~root/.ssh", True),
        ("../other", True),
        ("src/../../other", True),
        ("..", True),
        ("file:///etc/hosts", True),
        ("file:///workspace/app/a.py", False),
        ("FILE://localhost/workspace/app/a.py", False),
        ("file:///workspace/app/%61.py", False),
        ("file:a.py", False),
        ("file:/etc/hosts", True),
        ("file:///workspace/app/%2e%2e/x", True),
        ("file:///workspace/app#/../../x", True),
        ("file://evil.host/etc/passwd", True),
        ("file://evil.host/workspace/app/a.py", True),
        ("FILE://evil.host", True),
        ("file://[", True),
    ],
)
def test_which_paths_are_outside(path: str, outside: bool) -> None:
    assert bool(paths_outside(call(arguments={"path": path}), FOLDERS)) == outside


def test_every_part_of_a_call_is_looked_at() -> None:
    change = FileChange("/etc/a", "", 0, 0)
    assert paths_outside(call(details=change), FOLDERS) == ("/etc/a",)
    shell = ShellCommand((ShellPart("cp", ("/etc/b", "-t", "--to=/c", "x=/d", "here")),))
    arguments = {"command": "/bin/cp", "paths": ["/e", 5], "working_directory": "/f", "n": 3}
    shown = paths_outside(call(details=shell, arguments=arguments), FOLDERS)
    assert shown == ("/etc/b", "/c", "/e", "/f")


def test_a_table_of_paths_is_looked_at() -> None:
    files = {"/etc/passwd": "x", "../y": {}, "a.py": "", "content": ""}
    arguments = {"files": files, "content": {"/no/path": 1}}
    assert paths_outside(call(arguments=arguments), FOLDERS) == ("/etc/passwd", "../y")
    assert list(paths_named(call(arguments=arguments))) == ["/etc/passwd", "../y", "a.py", "x"]


def test_text_is_no_path() -> None:
    arguments = dict.fromkeys(("content", "command", "pattern"), "/etc/passwd")
    assert paths_outside(call(arguments=arguments), FOLDERS) == ()


def test_paths_deep_in_arguments_are_found() -> None:
    arguments = {"edits": [{"path": "/a", "text": "/b"}, [{"to": {"file": "/c"}}]], "path": "/d"}
    assert paths_outside(call(arguments=arguments), FOLDERS) == ("/a", "/c", "/d")


def test_names_for_a_look_at_the_disk() -> None:
    shell = ShellCommand((ShellPart("cp", ("/etc/b", "here")),))
    arguments = {"command": "cp /etc/b here", "at": "file:///w/a%20b", "to": "file://evil.host/x"}
    assert list(paths_named(call(details=shell, arguments=arguments))) == ["/w/a b"]
    change = FileChange("/w/a", "", 0, 0)
    assert list(paths_named(call(details=change, arguments={"path": "b"}))) == ["/w/a", "b"]


def test_each_is_told_once_and_harmless() -> None:
    arguments = {"path": "/a\u202e", "to": "/a\u202e"}
    assert paths_outside(call(arguments=arguments), FOLDERS) == ("/a<U+202E>",)


def test_without_folders_nothing_is_outside() -> None:
    assert paths_outside(call(arguments={"path": "/etc"}), ()) == ()

"""Which files calls read and change, from what they say."""

from __future__ import annotations

from tests.support.calls import eca_call

from eca_nvim.chat.model.calls import (
    changed_paths,
    changed_places,
    moved,
    read_paths,
)
from eca_nvim.chat.vocabulary.call_details import FileChange, ToolCall

CHANGE = FileChange("/w/a", "@@ -1 +1,2 @@\n-x\n+y\n+z", 2, 1)


def call(name: str, call_id: str = "c", **arguments: object) -> ToolCall:
    return eca_call(call_id, name, arguments=arguments)


def test_paths_of_known_tools() -> None:
    assert changed_paths(call("write_file", path="/w/a")) == ("/w/a",)
    assert changed_paths(call("move_file", source="/w/a", destination="/w/b")) == ("/w/a", "/w/b")
    assert moved(call("move_file", source="/w/a", destination="/w/b")) == ("/w/a", "/w/b")
    assert moved(call("move_file", source="/w/a")) is None
    assert moved(call("write_file", path="/w/a")) is None
    assert read_paths(call("read_file", path="/w/a")) == ("/w/a",)
    assert changed_paths(call("read_file", path="/w/a")) == ()


def test_paths_of_unknown_tools_come_from_their_details() -> None:
    assert changed_paths(eca_call("c", "strange", details=CHANGE)) == ("/w/a",)
    assert changed_paths(eca_call("c", None, details=CHANGE)) == ("/w/a",)
    assert changed_paths(eca_call("c", "preview_file_change", details=CHANGE)) == ()


def test_only_clean_absolute_paths_count() -> None:
    for path in ("a", "", "/w/a\nb", "/w/\x1b[31m", 7, None):
        assert changed_paths(call("write_file", path=path)) == ()
        assert read_paths(call("read_file", path=path)) == ()


def test_places_of_changes_on_both_sides() -> None:
    diff = "@@ -3,3 +3,3 @@\n-a\n same\n+b\n same\n@@ -10 +10,2 @@\n-x\n+y\n+z"
    change = FileChange("/w/a", diff, 3, 2)
    assert changed_places(change, done=False) == [(3, 1), (5, 0), (10, 1)]
    assert changed_places(change, done=True) == [(3, 0), (4, 1), (10, 2)]
    new = FileChange("/w/a", "@@ -1,1 +1,2 @@\n-\n+hello\n+world", 2, 0)
    assert changed_places(new, done=True) == [(1, 2)]
    assert changed_places(FileChange("/w/a", "no diff", 0, 0), done=True) == [(1, 0)]

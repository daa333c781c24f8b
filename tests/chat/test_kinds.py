"""Calls that say themselves what they do, whatever their tool is called."""

from __future__ import annotations

import pytest
from tests.chat.driver import Driver, remembered

from eca_nvim.chat.model.calls import changed_paths, may_change, moved, read_paths
from eca_nvim.chat.model.outside_paths import paths_outside
from eca_nvim.chat.vocabulary.call_details import FileChange, Location, ToolCall, ToolKind
from eca_nvim.chat.vocabulary.events import ToolFinished, ToolRequested
from eca_nvim.chat.vocabulary.ops import FilesChanged, ShowPlace

OLD = "/workspace/old.txt"
CHANGE = FileChange(OLD, "@@ -1 +1 @@\n-two\n+TWO", 1, 1)
OTHER = FileChange("/workspace/b/new.txt", "@@ -0,0 +1,2 @@\n+one\n+more", 2, 0)


def asked(call: ToolCall) -> Driver:
    driver = Driver()
    driver.run()
    driver.hear_exactly(ToolRequested(call, needs_approval=True))
    return driver


@pytest.mark.parametrize(
    ("call", "title"),
    [
        (
            ToolCall("t", kind=ToolKind.EDIT, title=("old.txt: two => TWO",)),
            "edit old.txt: two => TWO",
        ),
        (ToolCall("t", kind=ToolKind.READ, title=("Read old.txt",)), "Read old.txt"),
        (ToolCall("t", kind=ToolKind.SEARCH, title=("Searching x",)), "Searching x"),
        (ToolCall("t", kind=ToolKind.MOVE, title=("Moving a.md",)), "Moving a.md"),
        (ToolCall("t", kind=ToolKind.MOVE, title=("movie.mp4",)), "move movie.mp4"),
        (ToolCall("t", kind=ToolKind.DELETE, title=("Deleted: a.md",)), "Deleted: a.md"),
        (ToolCall("t", kind=ToolKind.OTHER, title=("do it",)), "do it"),
        (ToolCall("t", title=("do it",)), "do it"),
        (ToolCall("t", "write_file", kind=ToolKind.EDIT, title=("old.txt",)), "edit old.txt"),
        (ToolCall("t", "fetch", kind=ToolKind.FETCH, origin="acp"), "fetch"),
        (ToolCall("t", kind=ToolKind.EXECUTE, title=("mock",), command="rm  x"), "$ rm x"),
        (ToolCall("t", kind=ToolKind.EXECUTE, title=("mock command",)), "mock command"),
        (ToolCall("t", kind=ToolKind.THINK), "think"),
    ],
)
def test_a_title_is_shown_with_the_kind_where_that_says_more(call: ToolCall, title: str) -> None:
    [item] = asked(call).items
    assert item["title"] == title


def test_a_call_without_a_name_is_no_warning() -> None:
    change = ToolCall("t", kind=ToolKind.EDIT, title=("old.txt: two => TWO",), changes=(CHANGE,))
    [item] = asked(change).items
    assert item["title"] == "edit old.txt: two => TWO +1 -1"
    assert "warnings" not in item
    [missing] = asked(ToolCall("t", origin="unknown", arguments={})).items
    assert missing["warnings"] == ["the server has no such tool, or it is switched off"]


def test_a_title_alone_is_warned_about_and_nothing_is_remembered_of_any_server() -> None:
    fetch = ToolCall("t", "fetch", "web", "acp", kind=ToolKind.FETCH, title=("the page",))
    [item] = asked(fetch).items
    assert item["title"] == "fetch the page"
    assert item["warnings"] == ["only the title says what it will do"]
    assert remembered(item) is None
    [silent] = asked(ToolCall("t", "fetch", "web", "acp", kind=ToolKind.FETCH)).items
    assert silent["warnings"] == ["the server does not say what it will do"]


def test_a_command_is_shown_whatever_the_call_is_called() -> None:
    run = ToolCall("t", kind=ToolKind.EXECUTE, title=("tidy up",), command="rm -rf x\nls")
    [item] = asked(run).items
    assert item["titled"] is True
    assert item["lines"] == ["$ rm -rf x", "  ls"]


def test_the_files_of_a_call_follow_from_its_kind_locations_and_changes() -> None:
    places = (Location(OLD, 3), Location("/workspace/b"))
    assert read_paths(ToolCall("t", kind=ToolKind.READ, locations=places)) == (OLD, "/workspace/b")
    assert moved(ToolCall("t", kind=ToolKind.MOVE, locations=places)) == (OLD, "/workspace/b")
    edit = ToolCall("t", kind=ToolKind.EDIT, locations=places, changes=(CHANGE, OTHER))
    assert changed_paths(edit) == (OLD, "/workspace/b", OTHER.path)
    anything = ToolCall("t", kind=ToolKind.EXECUTE, locations=places, changes=(OTHER,))
    assert changed_paths(anything) == (OTHER.path,)
    for kind in (ToolKind.READ, ToolKind.SEARCH, ToolKind.THINK, ToolKind.FETCH):
        looks = ToolCall("t", kind=kind, locations=places, changes=(CHANGE,))
        assert not may_change(looks)
        assert changed_paths(looks) == ()
    assert may_change(ToolCall("t", kind=ToolKind.OTHER))


def test_locations_and_changes_lead_outside_and_free_arguments_do_not() -> None:
    call = ToolCall(
        "t", locations=(Location("/etc/a"),), changes=(FileChange("/etc/b", "", 0, 0),),
        arguments={"text": "/etc/c"},
    )  # fmt: skip
    assert paths_outside(call, ("/workspace",)) == ("/etc/b", "/etc/a")
    copy = ToolCall("t", kind=ToolKind.EXECUTE, command="cp 'a' \"/etc/d\" --to=../e | cat")
    assert paths_outside(copy, ("/workspace",)) == ("/etc/d", "../e")


def test_the_view_follows_a_line_where_there_is_no_diff() -> None:
    driver = Driver(follow=True)
    driver.run()
    driver.hear(ToolRequested(ToolCall("t", kind=ToolKind.EDIT, locations=(Location(OLD, 7),))))
    assert driver.view.other[-1] == ShowPlace("chat", OLD, [(7, 0)], done=False)


def test_a_call_changes_several_files() -> None:
    driver = asked(ToolCall("t", kind=ToolKind.EDIT, title=("rename",), changes=(CHANGE, OTHER)))
    [item] = driver.items
    assert item["title"] == "edit rename 2 files +3 -1"
    assert item["lines"] == [
        *(OLD, "line 1 · 1/2", "-two", "+TWO"),
        *(OTHER.path, "line 1 · 2/2", "+one", "+more"),
    ]
    assert item["paths"] == [OLD, OTHER.path]
    driver.hear(ToolFinished(ToolCall("t")))
    files = next(op for op in driver.view.other if isinstance(op, FilesChanged))
    assert files.paths == (OLD, OTHER.path)
    used = driver.chat.used.files
    assert (used[OLD].added, used[OLD].removed) == (1, 1)
    assert (used[OTHER.path].added, used[OTHER.path].counts.total()) == (2, 1)


def test_calls_that_read_or_search_are_grouped_by_kind() -> None:
    driver = Driver()
    driver.run()
    for number, kind in enumerate((ToolKind.READ, ToolKind.SEARCH, ToolKind.FETCH)):
        driver.hear(ToolFinished(ToolCall(f"t{number}", kind=kind, title=(f"file {number}",))))
    assert driver.view.lines[-2:] == ["✓ read file 0 · search file 1", "✓ fetch file 2"]


def test_texts_of_changes_stay_when_they_are_told_again_without() -> None:
    told = FileChange(OLD, CHANGE.diff, 1, 1, old="two", new="TWO", every=True)
    driver = asked(ToolCall("t", kind=ToolKind.EDIT, changes=(told, OTHER)))
    driver.hear(ToolFinished(ToolCall("t", changes=(CHANGE, OTHER))))
    block = driver.chat.root.calls["t"]
    assert block.call.changes == (told, OTHER)

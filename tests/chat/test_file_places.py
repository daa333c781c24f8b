"""Which file and line are meant by a place in a block, whatever is drawn there."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace
from tests.chat.driver import Driver, call

from eca_nvim.chat.render.block import body, header
from eca_nvim.chat.render.place import place_at
from eca_nvim.chat.vocabulary.call_details import FileChange, Location
from eca_nvim.chat.vocabulary.events import ToolFinished, ToolRequested

DIFF = "@@ -3,4 +3,4 @@\n same\n-old\n+new\n+more\n same\n-gone"
CHANGE = FileChange("/workspace/a.py", DIFF, 2, 2)


def place(driver: Driver, block: int, row: int | None, column: int = 0) -> Location | None:
    return place_at(driver.chat.blocks[block], driver.chat.settings, row, column)


def heard(event: Callable[..., ToolRequested | ToolFinished], *changes: FileChange) -> Driver:
    driver = Driver()
    driver.hear(event(replace(call("t", "edit_file"), changes=changes)))
    driver.toggle(1, to_open=True)
    return driver


def lines_at(driver: Driver, first: int) -> list[int | None]:
    rows = body(driver.chat.blocks[1], driver.chat.settings).lines[first:]
    found = [place(driver, 1, row) for row in range(first, first + len(rows))]
    assert {it.path for it in found if it} == {"/workspace/a.py"}
    return [it.line if it else -1 for it in found]


def test_rows_of_a_diff_are_lines_of_the_file_as_it_is() -> None:
    made, waiting = heard(ToolFinished, CHANGE), heard(ToolRequested, CHANGE)
    assert lines_at(made, 0) == [3, 4, 4, 5, 6, 7]
    assert lines_at(waiting, 0) == [3, 4, 5, 5, 5, 6]
    assert place(made, 1, 99) is None


def test_a_header_is_the_first_changed_line() -> None:
    for event in (ToolFinished, ToolRequested):
        assert place(heard(event, CHANGE), 1, None) == Location("/workspace/a.py", 4)


def test_a_change_whose_place_nobody_knows_is_the_file() -> None:
    unplaced = FileChange("/workspace/a.py", DIFF, 2, 2, placed=False)
    driver = heard(ToolFinished, unplaced)
    assert place(driver, 1, None) == Location("/workspace/a.py", None)
    assert set(lines_at(driver, 0)) == {None}


def test_of_several_files_each_row_is_its_own() -> None:
    other = FileChange("/elsewhere/b.py", "@@ -9 +9 @@\n-x\n+y", 1, 1)
    driver = heard(ToolFinished, CHANGE, other)
    shown = body(driver.chat.blocks[1], driver.chat.settings).lines
    row = next(at for at, line in enumerate(shown) if "b.py" in line)
    assert place(driver, 1, row) == Location("/elsewhere/b.py", 9)
    assert place(driver, 1, row + 1) == Location("/elsewhere/b.py", 9)


def test_in_the_line_of_a_group_it_is_the_name_under_the_cursor() -> None:
    driver = Driver()
    for key, path in (("a", "/workspace/é.py"), ("b", "/tmp/x/né.py")):
        driver.hear(ToolFinished(call(key, arguments={"path": path})))
    group = next(block.group for block in driver.chat.blocks.values() if block.group)
    line = "".join(text for text, _ in header(group, driver.chat.settings, 0))
    for name, path in (("é.py", "/workspace/é.py"), ("/tmp/x/né", "/tmp/x/né.py")):
        column = len(line[: line.index(name)].encode())
        assert place(driver, group.id, None, column) == Location(path, None)
    assert place(driver, group.id, None, 0) is None


def test_only_files_of_the_call_are_meant() -> None:
    driver = Driver()
    arguments = {"text": "/etc/passwd", "more": "term://x"}
    located = (Location("/workspace/a.py", 7), Location("term://sh"), Location("a\nb"))
    driver.hear(
        ToolRequested(replace(call("t", "strange", arguments=arguments), locations=located))
    )
    driver.toggle(1, to_open=True)
    assert place(driver, 1, None) == Location("/workspace/a.py", 7)
    rows = range(len(body(driver.chat.blocks[1], driver.chat.settings).lines))
    found = {found.path for row in rows if (found := place(driver, 1, row))}
    assert found <= {"/workspace/a.py"}


def test_a_file_that_was_moved_is_where_it_went() -> None:
    for event, path in ((ToolRequested, "/workspace/a"), (ToolFinished, "/workspace/b")):
        driver = Driver()
        arguments = {"source": "/workspace/a", "destination": "/workspace/b"}
        driver.hear(event(call("t", "move_file", arguments=arguments)))
        assert place(driver, 1, None) == Location(path, None)

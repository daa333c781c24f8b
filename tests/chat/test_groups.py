"""Neighbouring calls that only read or search become one line."""

from __future__ import annotations

from tests.chat.driver import Driver, call, said

from eca_nvim.chat.render.whole_chat import transcript
from eca_nvim.chat.user_actions.folding import redraw
from eca_nvim.chat.user_actions.search import places, reveal, show_whole_text
from eca_nvim.chat.vocabulary.call_details import FileChange
from eca_nvim.chat.vocabulary.events import ChatEvent, ToolFinished, ToolRequested, ToolRunning

CHANGE = FileChange("/workspace/e", "@@ -1 +1 @@\n-a\n+b", 1, 1)


def looked(key: str, name: str = "read_file", *, failed: bool = False) -> ToolFinished:
    arguments = {"path": f"/workspace/{key}", "pattern": key}
    return ToolFinished(call(key, name, arguments=arguments), (f"text of {key}",), failed, 100)


def heard(*events: ChatEvent) -> Driver:
    driver = Driver()
    driver.run()
    driver.hear(*events)
    return driver


def below(driver: Driver) -> list[str]:
    """Return what is shown under the prompt."""
    return driver.view.lines[1:]


def group_of(driver: Driver) -> int:
    return next(block.group.id for block in driver.chat.blocks.values() if block.group)


class TestJoining:
    """What becomes one line, and how it reads."""

    def test_one_call_keeps_its_line(self) -> None:
        assert below(heard(looked("a"))) == ["✓ read a  0.1s"]

    def test_two_are_one_line(self) -> None:
        assert below(heard(looked("a"), looked("b"))) == ["✓ read a, b"]

    def test_more_are_counted_and_a_name_is_told_once(self) -> None:
        driver = heard(*map(looked, "abc"), looked("a2"), looked("x", "directory_tree"))
        driver.hear(looked("y", "grep"))
        assert below(driver) == ["✓ read a, b, c, a2 (4) · tree x · grep y in y"]

    def test_long_lists_are_cut_and_still_counted(self) -> None:
        driver = heard(*(looked("n" * 20 + str(number)) for number in range(9)))
        (line,) = below(driver)
        assert line.endswith("… (9)")
        assert len(line) < 100

    def test_what_is_said_between_parts_them(self) -> None:
        driver = heard(looked("a"), *said("so "), looked("b"), looked("c"))
        assert below(driver) == ["✓ read a  0.1s", "so ", "✓ read b, c"]

    def test_a_call_that_changes_or_failed_keeps_its_line(self) -> None:
        change = call("e", "edit_file", details=CHANGE)
        driver = heard(looked("a"), ToolFinished(change), looked("b"), looked("c", failed=True))
        kept = [line for line in below(driver) if not line.startswith("  ")]
        assert [line.split()[2] for line in kept] == ["a", "e", "b", "c"]

    def test_a_call_that_the_user_opened_keeps_its_line(self) -> None:
        driver = heard(looked("a"))
        driver.toggle(2)
        driver.hear(looked("b"), looked("c"))
        assert below(driver) == ["✓ read a  0.1s", "  text of a", "✓ read b, c"]

    def test_calls_that_run_side_by_side_join_whichever_ends_first(self) -> None:
        driver = heard(*(ToolRequested(call(key)) for key in "abc"))
        driver.hear(*(ToolRunning(call(key)) for key in "abc"))
        driver.hear(looked("c"), looked("a"))
        assert len(below(driver)) == 3
        driver.hear(looked("b"))
        assert below(driver) == ["✓ read a, b, c (3)"]

    def test_two_lines_become_one_when_the_call_between_ends(self) -> None:
        driver = heard(*(ToolRequested(call(key)) for key in "abcde"))
        driver.hear(looked("a"), looked("b"), looked("d"), looked("e"))
        assert below(driver) == ["✓ read a, b", "… read", "✓ read d, e"]
        driver.hear(looked("c"))
        assert below(driver) == ["✓ read a, b, c, d, e (5)"]

    def test_a_file_outside_is_told_of(self) -> None:
        outside = ToolFinished(call("p", arguments={"path": "/etc/passwd"}))
        driver = heard(looked("a"), outside)
        assert below(driver) == ["✓ read a, /etc/passwd outside the workspace"]

    def test_calls_of_a_subagent_join_within_it(self) -> None:
        driver = Driver()
        driver.hear(looked("a"), looked("b"), child="lost")
        assert driver.view.lines == ["  ✓ read a, b"]


class TestOpening:
    """What the user opens."""

    def test_each_call_is_a_block_of_its_own(self) -> None:
        driver = heard(looked("a"), looked("b"))
        driver.toggle(group_of(driver))
        opened = ["✓ read a, b", "  ✓ read a  0.1s", "  ✓ read b  0.1s"]
        assert below(driver) == opened
        driver.toggle(3)
        assert below(driver) == [*opened, "    text of b"]
        driver.toggle(group_of(driver))
        assert below(driver) == ["✓ read a, b"]

    def test_a_call_that_joins_an_open_line_is_shown_in_it(self) -> None:
        driver = heard(looked("a"), looked("b"))
        driver.toggle(group_of(driver))
        driver.hear(looked("c"), *said("end"))
        assert below(driver) == [
            "✓ read a, b, c (3)",
            "  ✓ read a  0.1s",
            "  ✓ read b  0.1s",
            "  ✓ read c  0.1s",
            "end",
        ]

    def test_opening_everything_opens_what_is_inside(self) -> None:
        driver = heard(looked("a"), looked("b"))
        driver.toggle(0, to_open=True)
        assert below(driver)[1:3] == ["  ✓ read a  0.1s", "    text of a"]
        driver.toggle(0, to_open=False)
        assert below(driver) == ["✓ read a, b"]

    def test_a_buffer_that_lost_its_text_gets_the_same(self) -> None:
        driver = heard(looked("a"), looked("b"), *said("so"), looked("c"), looked("d"))
        driver.toggle(group_of(driver))
        shown = driver.view.lines
        driver.view.status = {}
        driver.take(redraw(driver.chat, driver.now))
        assert driver.view.lines == shown


class TestNothingIsLost:
    """Everything that looks into calls finds those of a group."""

    def test_a_transcript_has_every_call_once(self) -> None:
        text = transcript(heard(looked("a"), looked("b")).chat, 0)
        assert text.count("text of a") == text.count("text of b") == 1
        assert "read a, b" not in text

    def test_all_that_the_calls_told_is_in_the_output(self) -> None:
        driver = heard(looked("a"), looked("b"))
        block = driver.chat.blocks[group_of(driver)]
        assert show_whole_text(driver.chat, block, 0, 0).lines == [
            "read a",
            "text of a",
            "read b",
            "text of b",
        ]

    def test_a_search_finds_it_and_opens_the_line(self) -> None:
        driver = heard(looked("a"), looked("b"))
        (found,) = [it for it in places(driver.chat, 0) if it.line == "text of b"]
        assert (found.block, found.shown) == (3, group_of(driver))
        changes, row = reveal(driver.chat, 3, 0, driver.now)
        driver.take(changes)
        assert below(driver)[-2:] == ["  ✓ read b  0.1s", "    text of b"]
        assert row == 0

    def test_files_are_counted(self) -> None:
        assert set(heard(looked("a"), looked("b")).chat.used.files) == {
            "/workspace/a",
            "/workspace/b",
        }

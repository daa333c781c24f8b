"""Text found wherever it is in a chat, and blocks opened where it is."""

from tests.chat.driver import Driver

from eca_nvim.chat.details import Subagent, ToolCall
from eca_nvim.chat.events import (
    ReasoningText,
    Role,
    TextReceived,
    ToolFinished,
    ToolRunning,
)
from eca_nvim.chat.ops import ShowOutput
from eca_nvim.chat.search import CELLS, MOST_HITS, grep, reveal, whole

SPAWN = ToolCall("spawn", "spawn_agent", details=Subagent("explorer", "child"))


def found(driver: Driver, pattern: str) -> list[tuple[object, ...]]:
    hits = grep(driver.chat, pattern, 0)["hits"]
    assert isinstance(hits, list)
    return [(it["block"], it["shown"], it.get("row"), it["column"], it["text"]) for it in hits]


def finished(output: str, call: str = "a") -> ToolFinished:
    return ToolFinished(ToolCall(call, "read_file", arguments={"path": "/workspace/x"}), (output,))


def test_closed_and_open_text_is_found() -> None:
    driver = Driver()
    driver.hear(TextReceived(Role.ASSISTANT, "\n\nsay ä Word\n"), ReasoningText("r", "a\nword"))
    driver.hear(finished("none\nthe word"))
    assert found(driver, "word") == [
        (1, 1, 0, len("say ä ".encode()), "say ä Word"),
        (2, 2, 1, 0, "word"),
        (3, 3, 1, 4, "the word"),
    ]
    assert [hit[0] for hit in found(driver, "Word")] == [1]
    assert found(driver, "^✓ read") == [(3, 3, None, 0, "✓ read x")]


def test_text_in_a_subagent_names_the_call_that_shows_it() -> None:
    driver = Driver()
    driver.hear(ToolRunning(SPAWN))
    driver.hear(finished("inner word"), child="child")
    assert found(driver, "inner")[0][:2] == (2, 1)
    driver.toggle(1, to_open=True)
    assert found(driver, "inner")[0][:2] == (2, 2)


def test_hits_are_bounded() -> None:
    driver = Driver()
    driver.hear(finished("word\n" * (MOST_HITS + 3)), finished("x" * 900 + "word" + "y" * 900, "b"))
    result = grep(driver.chat, "word", 0)
    assert result["more"] == 4
    [hit] = [hit for hit in found(driver, "xword") if hit[0] == 2]
    assert len(str(hit[4])) <= CELLS
    assert "xword" in str(hit[4])


def test_a_pattern_that_is_none_is_a_fault() -> None:
    assert "regular expression" in str(grep(Driver().chat, "(", 0)["fault"])


def test_a_hit_is_revealed_where_it_is_shown() -> None:
    driver = Driver()
    driver.hear(TextReceived(Role.ASSISTANT, "\n\none\ntwo"), finished("a\nb"))
    assert reveal(driver.chat, 1, 1, 0)[1] == 1
    changes, row = reveal(driver.chat, 2, 1, 0)
    driver.view.draw(changes.ops)
    assert row == 1
    assert driver.view.lines[-2:] == ["  a", "  b"]
    assert reveal(driver.chat, 2, None, 0)[1] is None
    assert reveal(driver.chat, 99, 1, 0)[0].ops == []


def test_what_is_nested_is_revealed_with_its_call() -> None:
    driver = Driver()
    driver.hear(ToolRunning(SPAWN))
    driver.hear(finished("inner"), child="child")
    changes, row = reveal(driver.chat, 2, 0, 0)
    driver.view.draw(changes.ops)
    assert row == 0
    assert driver.view.lines[-1] == "    inner"


def test_a_line_that_is_cut_is_shown_with_all() -> None:
    driver = Driver()
    driver.hear(finished("\n".join(map(str, range(500)))))
    changes, row = reveal(driver.chat, 1, 450, 0)
    [shown] = [op for op in changes.ops if isinstance(op, ShowOutput)]
    assert row is None
    assert (shown.row, shown.lines[shown.row], shown.title) == (450, "450", "✓ read x")
    assert whole(driver.chat, driver.chat.blocks[1], 9999, 0).row == 499

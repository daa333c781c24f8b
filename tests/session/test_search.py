"""Search: text anywhere in a chat, with any pattern."""

from collections.abc import Mapping

import anyio
from tests.chat.driver import Driver
from tests.support.calls import eca_call

from eca_nvim.chat.user_actions.search import CELLS, MOST_HITS
from eca_nvim.chat.vocabulary.call_details import Subagent
from eca_nvim.chat.vocabulary.events import (
    ReasoningText,
    Role,
    TextReceived,
    ToolFinished,
    ToolRunning,
)
from eca_nvim.session.requests.search import TOO_LONG, grep

SPAWN = eca_call("spawn", "spawn_agent", details=Subagent("explorer", "child"))


def grepped(driver: Driver, pattern: str) -> Mapping[str, object]:
    return anyio.run(grep, driver.chat, pattern)


def found(driver: Driver, pattern: str) -> list[tuple[object, ...]]:
    hits = grepped(driver, pattern)["hits"]
    assert isinstance(hits, list)
    return [(it["block"], it["shown"], it.get("row"), it["column"], it["text"]) for it in hits]


def finished(output: str, call: str = "a") -> ToolFinished:
    return ToolFinished(eca_call(call, "read_file", arguments={"path": "/workspace/x"}), (output,))


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
    result = grepped(driver, "word")
    assert result["more"] == 4
    [hit] = [hit for hit in found(driver, "xword") if hit[0] == 2]
    assert len(str(hit[4])) <= CELLS
    assert "xword" in str(hit[4])


def test_a_pattern_that_is_none_is_a_fault() -> None:
    assert "regular expression" in str(grepped(Driver(), "(")["fault"])


def test_a_pattern_that_takes_for_ever_is_given_up() -> None:
    driver = Driver()
    driver.hear(TextReceived(Role.ASSISTANT, "a" * 60 + "b"))
    assert grepped(driver, "^(a+)+$") == {"fault": TOO_LONG}

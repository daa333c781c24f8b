"""Search: matches, and the blocks opened for them."""

from tests.chat.driver import Driver
from tests.support.calls import eca_call

from eca_nvim.chat.user_actions.search import reveal, show_whole_text
from eca_nvim.chat.vocabulary.call_details import Subagent
from eca_nvim.chat.vocabulary.events import Role, TextReceived, ToolFinished, ToolRunning
from eca_nvim.chat.vocabulary.ops import ShowOutput

SPAWN = eca_call("spawn", "spawn_agent", details=Subagent("explorer", "child"))


def finished(output: str, call: str = "a") -> ToolFinished:
    return ToolFinished(eca_call(call, "read_file", arguments={"path": "/workspace/x"}), (output,))


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
    assert show_whole_text(driver.chat, driver.chat.blocks[1], 9999, 0).row == 499

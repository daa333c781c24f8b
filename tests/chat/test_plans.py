"""The plan that an agent proposes: of the request that waits, else its newest answer."""

from __future__ import annotations

from msgspec.structs import replace
from tests.chat.driver import ENDED, Driver, said

from eca_nvim.chat.render.whole_chat import proposed_plan
from eca_nvim.chat.vocabulary.call_details import ToolCall, ToolKind
from eca_nvim.chat.vocabulary.events import ToolRequested


def test_the_plan_that_waits_comes_before_the_newest_answer() -> None:
    driver = Driver()
    assert proposed_plan(driver.chat) is None
    driver.run("plan it")
    driver.hear(*said("1. Look\n"), ENDED)
    assert proposed_plan(driver.chat) == {"block": 2, "text": "1. Look"}
    driver.run("go on")
    plan = ToolCall("p", kind=ToolKind.SWITCH_MODE, title=("Go?",), arguments={"plan": "# A\x1b"})
    driver.hear_exactly(ToolRequested(plan, needs_approval=True))
    assert proposed_plan(driver.chat) == {"block": 4, "text": "# A␛"}
    driver.hear_exactly(ToolRequested(replace(plan, note="# B", arguments={}), needs_approval=True))
    assert proposed_plan(driver.chat) == {"block": 4, "text": "# B"}
    driver.hear_exactly(ToolRequested(replace(plan, arguments={"plan": 1}), needs_approval=True))
    assert proposed_plan(driver.chat) == {"block": 2, "text": "1. Look"}
    assert proposed_plan(driver.chat, 2) == {"block": 2, "text": "1. Look"}
    assert proposed_plan(driver.chat, 1) is None, "a prompt"

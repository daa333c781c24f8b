"""A reason for a call that no longer waits: the host knows that before the view."""

import pytest
from tests.chat.driver import Driver
from tests.chat.test_approvals import asked

from eca_nvim.chat.handlers.call_steps import TOO_LATE
from eca_nvim.chat.vocabulary.ops import Notify, SetInput
from eca_nvim.chat.vocabulary.requests import ALLOW


@pytest.mark.parametrize("call", ["t1", "never heard of"])
def test_a_reason_that_comes_too_late_is_the_users_to_send(call: str) -> None:
    driver = Driver()
    driver.run()
    driver.hear(asked())
    driver.approve("t1")
    driver.reject(call, "use rg\x07")
    assert driver.decided == [("chat", "t1", ALLOW.id)]
    assert driver.chat.queue == []
    assert driver.view.other[-2:] == [SetInput("chat", "use rg␇"), Notify("warn", TOO_LATE)]


def test_a_rejection_without_a_reason_that_comes_too_late_does_nothing() -> None:
    driver = Driver()
    driver.run()
    driver.hear(asked())
    driver.approve("t1")
    before = list(driver.view.other)
    driver.reject("t1", " ")
    driver.reject("t1")
    assert driver.view.other == before

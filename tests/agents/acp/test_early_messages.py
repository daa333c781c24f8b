"""What an agent sends for a session that is not made yet is kept, within limits."""

import pytest
from msgspec import Raw
from tests.support.growth import Work, is_linear

from eca_nvim.agents.acp import session
from eca_nvim.agents.acp.session import MOST_EARLY, EarlyMessages
from eca_nvim.jsonrpc import Notification, Request


def message(size: int = 10) -> Notification:
    return Notification("session/update", Raw(b"x" * size))


def test_messages_are_taken_in_order_and_once() -> None:
    early = EarlyMessages()
    first, second, request = message(), message(), Request(1, "fs/read_text_file", Raw(b"{}"))
    assert early.keep("s", first)
    assert early.keep("other", second)
    assert early.keep("s", request)
    assert early.take("s") == [first, request]
    assert early.take("s") == []
    assert early.take_all() == [second]
    assert early.take_all() == []


def test_the_number_is_limited_over_all_sessions() -> None:
    early = EarlyMessages()
    assert all(early.keep(str(number), message()) for number in range(MOST_EARLY))
    assert not early.keep("one more", message())
    early.take("0")
    assert early.keep("one more", message())
    assert not early.keep("another", message())


def test_the_size_is_limited_over_all_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "MOST_EARLY_BYTES", 100)
    early = EarlyMessages()
    assert early.keep("a", message(60))
    assert not early.keep("b", message(41))
    assert early.keep("b", message(40))
    early.take("a")
    assert early.keep("c", message(60))
    early.take_all()
    assert early.keep("d", message(100))


def test_to_keep_one_costs_the_same_however_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "MOST_EARLY", 1 << 30)
    monkeypatch.setattr(session, "MOST_EARLY_BYTES", 1 << 40)

    def keeping(count: int) -> Work:
        early, messages = EarlyMessages(), {str(it): message() for it in range(count)}

        def keep_all() -> None:
            for session_id, one in messages.items():
                early.keep(session_id, one)

        return keep_all

    assert is_linear(keeping, 1_000)

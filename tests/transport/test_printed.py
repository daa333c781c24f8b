"""The end of what was printed: so many bytes, and no half characters."""

import pytest

from eca_nvim.transport.pipes import Printed

TEXT = "aä€😀" * 50


def printed(limit: int, data: bytes, piece: int) -> tuple[str, bool]:
    kept = Printed(limit)
    for start in range(0, len(data), piece):
        kept.add(data[start : start + piece])
    return kept.text(1000)


@pytest.mark.parametrize("piece", [1, 3, 7, 1 << 20])
def test_a_cut_is_between_characters(piece: int) -> None:
    data = TEXT.encode()
    for limit in range(len(data) + 3):
        text, is_cut = printed(limit, data, piece)
        assert TEXT.endswith(text)
        assert len(text.encode()) <= limit
        assert len(text.encode()) > limit - 4 or not is_cut
        assert is_cut is (limit < len(data))


def test_the_end_may_still_come() -> None:
    for cut in range(1, 4):
        assert printed(100, "x😀".encode()[:-cut], 1) == ("x", False)


def test_bytes_that_are_no_text_take_no_more_room_than_allowed() -> None:
    text, is_cut = printed(10, b"ok" + b"\xff\x80" * 9, 4)
    assert text == "�" * 3
    assert is_cut


def test_memory_does_not_grow() -> None:
    kept = Printed(1000)
    for _ in range(10_000):
        kept.add(b"0123456789" * 100)
    assert sum(map(len, kept._pieces)) < 1 << 18
    assert kept.text(1 << 20) == ("0123456789" * 100, True)
    kept.shrink(10)
    assert sum(map(len, kept._pieces)) < 1 << 17
    assert kept.text(1 << 20) == ("0123456789", True)
    kept.add(b"next")
    assert kept.text(3) == ("ext", True)

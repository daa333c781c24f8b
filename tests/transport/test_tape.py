"""The tape of a connection: what it keeps, and that it never keeps more."""

import json
from itertools import pairwise

import anyio
import pytest
from tests.transport.harness import DEADLINE_S, Children, Inbox

from eca_nvim.transport import Tape
from eca_nvim.transport import tape as tapes

pytestmark = pytest.mark.anyio


def kept(tape: Tape) -> int:
    """Return what the pieces that are kept need."""
    return sum(len(it.data) + tapes._MARK for it in tape.since(0))


def test_pieces_come_as_they_went() -> None:
    tape = Tape()
    tape.add(b"one", is_sent=True)
    tape.add(b"two", is_sent=False)
    assert [(it.number, it.is_sent, it.data) for it in tape.since(0)] == [
        *((0, True, b"one"), (1, False, b"two"))
    ]
    assert [it.data for it in tape.since(1)] == [b"two"]
    assert not list(tape.since(tape.end))


@pytest.mark.parametrize("size", [1, 50, 700, 100_000, 262_144, 900_000])
def test_no_more_is_kept_than_the_limit(size: int) -> None:
    tape = Tape()
    for _ in range(2 * tapes.LIMIT // (size + 100)):
        tape.add(b"x" * size, is_sent=False)
    # What is added to is dropped only when it is full.
    assert kept(tape) <= tapes.LIMIT + max(size, tapes._CHUNK) * (1 + tapes._MARK // size)
    assert kept(tape) > tapes.LIMIT // 3
    numbers = [it.number for it in tape.since(0)]
    assert numbers[-1] == tape.end - 1
    assert numbers == sorted({*numbers})


def test_the_beginning_stays() -> None:
    tape = Tape()
    for number in range(20_000):
        tape.add(b"%06d" % number + b"x" * 500, is_sent=False)
    pieces = list(tape.since(0))
    assert pieces[0].data.startswith(b"000000")
    gaps = [after for before, after in pairwise(pieces) if after.number != before.number + 1]
    assert len(gaps) == 1
    assert all(it.data.startswith(b"%06d" % it.number) for it in pieces)
    assert [it.number for it in tape.since(19_990)] == [*range(19_990, 20_000)]


def test_of_a_very_long_piece_the_beginning_is_kept() -> None:
    tape = Tape()
    tape.add(b"before", is_sent=True)
    tape.add(b"y" * 20_000_000, is_sent=True)
    before, long = tape.since(0)
    assert before.data == b"before"
    assert (long.size, len(long.data)) == (20_000_000, tapes._EXCERPT)


async def test_all_that_goes_over_a_connection_is_noted(children: Children) -> None:
    tape = Tape()
    with anyio.fail_after(DEADLINE_S):
        async with children.open(Inbox(), "echo", tape=tape) as connection:
            await connection.request("m", "hello")
            connection.notify("n")
    sent = [it.data for it in tape.since(0) if it.is_sent]
    assert [json.loads(it.partition(b"\r\n\r\n")[2])["method"] for it in sent] == ["m", "n"]
    received = b"".join(it.data for it in tape.since(0) if not it.is_sent)
    assert b"hello" in received
    assert tape.ended is not None

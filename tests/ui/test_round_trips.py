"""Random changes of all kinds of files: each is reverted in its buffer, and written."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.editor import Neovim

from eca_nvim.review.change_list import Present
from eca_nvim.review.snapshots import Blobs, take_snapshot
from eca_nvim.review.turn_changes import FileRecord, TurnChanges
from eca_nvim.review.unreviewed import unreviewed

REVERT = """
local path, changes = ...
vim.cmd.edit({ args = { path }, bang = true })
vim.bo.fixendofline = false
for index = #changes, 1, -1 do
  local change = changes[index]
  assert(require('eca.review.hunks').revert(change, change.line), vim.inspect(change))
end
vim.cmd('silent write!')
vim.cmd('%bwipeout!')
"""
SEEDS = range(12)
CASES = 12
WORDS = (b"a", b"b", b"c", b"", b"  x", b"\xc3\xa9", b"y\x0bz")
ENDINGS = (b"\n", b"\r\n")


def content(chance: random.Random, lines: list[bytes], ending: bytes) -> bytes:
    """Make a file of lines; it may lack the last line's end."""
    whole = ending.join(lines)
    return whole + ending if lines and chance.random() < 0.7 else whole


def edited(chance: random.Random, lines: list[bytes]) -> list[bytes]:
    """Put in, take out and change some lines."""
    after = list(lines)
    for _ in range(chance.randint(1, 4)):
        place = chance.randint(0, len(after))
        after[place : place + chance.randint(0, 2)] = chance.choices(WORDS, k=chance.randint(0, 3))
    return after


def pairs(seed: int) -> Iterator[tuple[bytes, bytes]]:
    """Make files before and after, of all line ends; one in ten is Latin-1."""
    chance = random.Random(seed)
    for _ in range(CASES):
        lines = chance.choices(WORDS, k=chance.randint(1, 14))
        ending = chance.choice(ENDINGS)
        other = chance.choice(ENDINGS) if chance.random() < 0.2 else ending
        before = content(chance, lines, ending)
        after = content(chance, edited(chance, lines), other)
        if chance.random() < 0.1 and not after.endswith(b"\xa9"):  # Neovim reads that as UTF-8
            before, after = (it.replace(b"\xc3\xa9", b"\xe9") for it in (before, after))
        yield before, after


@pytest.mark.either_nvim
@pytest.mark.parametrize("seed", SEEDS)
def test_all_changes_taken_back_give_the_file_before(
    nvim: Neovim, workspace: Path, seed: int
) -> None:
    blobs = Blobs()
    for number, (before, after) in enumerate(pairs(seed)):
        path = workspace / f"{number}.txt"
        path.write_bytes(before)
        first = take_snapshot(str(path), blobs)
        path.write_bytes(after)
        last = take_snapshot(str(path), blobs)
        turn = TurnChanges("c", 1, "", {str(path): FileRecord(first, last)})
        changes = list(unreviewed(str(path), [turn], Present(last)))
        nvim.lua(REVERT, str(path), changes)
        assert path.read_bytes() == before, (before, after, changes)

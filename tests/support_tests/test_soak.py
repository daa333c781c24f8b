"""What `make soak` takes for growth, and for a count that is not the same."""

import random

from tests.soak.__main__ import growing
from tests.soak.counts import MADE, come, more, most
from tests.soak.course import course


def test_only_the_last_half_counts() -> None:
    warm = [100, 200, 300, 400, 500, 500, 501, 499, 500, 500]
    assert not course(warm).grows
    assert course(warm).most == 501
    assert not course([100, 900]).grows  # a line fits any two


def test_growth_is_told_from_noise() -> None:
    chance = random.Random(1)
    noise = [chance.randint(-50, 50) for _ in range(60)]
    assert not course([10_000 + it for it in noise]).grows
    assert course([10_000 + it + 20 * place for place, it in enumerate(noise)]).grows
    assert not course([10_000 + place for place in range(60)]).grows  # pages, not a leak


def test_what_neovim_keeps_of_closed_windows_is_not_ours() -> None:
    heap = "Neovim's heap, KiB"
    rests = [{heap: 10_000 + 25 * it, "Neovim, KiB": 99 * it, MADE: 30 * it} for it in range(60)]
    [told] = growing({"rests": rests, "kept": 0.1})
    assert told.startswith(f"{heap} grows")
    assert growing({"rests": rests, "kept": 0.9}) == []  # pages are not judged


def test_counts_are_those_of_the_first_rests() -> None:
    first = most([{"buffers": 1, "timers": 4}, {"buffers": 2, "timers": 3}])
    assert first == {"buffers": 2, "timers": 4}
    assert more({"buffers": 3, "timers": 4, "host, KiB": 9}, first) == ["buffers"]
    assert come("buffers", {"buffers": ["a", "b", "b"]}, {"buffers": ["b"]}) == ["a", "b"]

"""Names of a workspace: which ones match a query, in what order, and what a large one costs."""

from __future__ import annotations

import subprocess
import tracemalloc
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path

import pytest
from tests.support.growth import Work, is_linear

from eca_nvim.agents.abilities import FoundCommand
from eca_nvim.chat.vocabulary.completion import Argument
from eca_nvim.review.workspace import list_files
from eca_nvim.session.completion.completion import (
    LONGEST_DETAIL,
    LONGEST_NAME,
    MOST_ARGUMENTS,
    MOST_COMMANDS,
    command_items,
)
from eca_nvim.session.completion.names import Names, distance, matches, with_folders

LARGE, SMALL = 100_000, 10_000
EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
WORDS = ("account", "billing", "cache", "driver", "engine", "format", "gateway", "handler")


def nothing() -> None:
    """Check nothing."""


def names_of(*names: str) -> Names:
    return Names("".join(f"{name}\0" for name in names).encode("utf-8", "surrogateescape"))


def found(query: str, *names: str) -> list[str]:
    """Return the names that match, the nearest first."""
    return nearest(query, names_of(*names).find(query, nothing))


def nearest(query: str, names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: distance(query, name))


def many(count: int) -> Iterator[str]:
    """Yield names of about 50 characters, ten in each folder."""
    for number in range(count):
        place = number // 10
        word, other = WORDS[place % 8], WORDS[number % 8]
        yield f"src/{word}_{place % 97}/part{place}/sources/{other}{number}.py"


# --- what matches -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "name", "matches"),
    [
        ("calc", "src/calc.py", True),
        ("CALC", "src/calc.py", True),
        ("calc", "src/CalC.py", True),
        ("sclp", "src/calc.py", True),
        ("cacl", "src/calc.py", False),
        ("c/c", "src/calc.py", True),
        ("calc.pyy", "src/calc.py", False),
        ("ÜB", "docs/übung.md", True),
        ("i", "docs/İ", True),
        (".*", "src/calc.py", False),
        (r"a\b^]-", r"a\b^]-[c", True),
        ("a\nb", "a\nb", False),
        ("b", "a\nb", False),
    ],
)
def test_the_letters_of_a_query_in_order(query: str, name: str, matches: bool) -> None:
    assert found(query, "other", name, "zz") == ([name] if matches else [])


def test_a_query_that_begins_a_word_is_nearer_and_then_the_shorter_name() -> None:
    names = ("a/cxalc.py", "lib/xcalc", "a/b/calc.py", "my-calc.py", "calc")
    assert found("calc", *names) == ["calc", "my-calc.py", "a/b/calc.py", "lib/xcalc", "a/cxalc.py"]


def test_names_that_cannot_be_typed_are_left_out() -> None:
    odd = ("tab\there", "new\nline", "escape\x1b[31m", "\x85", "line\u2028", "bad\udcff", "\x7f")
    fine = ("-rf", "a b", "it's", '"q"', "a\u202eb", "🙂", "..", "`x`", "$(x)")
    listed = names_of(*odd, "", *fine).below("", 100, nothing)
    assert set(listed) == set(fine)


def test_a_folder_is_listed_folders_first() -> None:
    names = names_of("a/", "a/b/", "a/z.py", "a/b/c.py", "ab/", "ab/x", "Top")
    assert names.below("", 9, nothing) == ["a/", "ab/", "Top", "a/b/", "ab/x", "a/z.py", "a/b/c.py"]
    assert names.below("a/", 9, nothing) == ["a/b/", "a/z.py", "a/b/c.py"]
    assert names.below("c/", 9, nothing) == []


# --- a large workspace --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a repository that knows 100,000 files; none of them is on the disk."""
    folder = tmp_path_factory.mktemp("large")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    lines = "".join(f"100644 {EMPTY_BLOB}\t{name}\n" for name in many(LARGE))
    update = ["git", "-C", str(folder), "update-index", "--index-info"]
    subprocess.run(update, input=lines.encode(), check=True)
    return folder


def test_100_000_files_take_little_memory(large: Path) -> None:
    tracemalloc.start()
    try:
        names = Names(with_folders(list_files(str(large))))
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(names.below("src/account_0/", LARGE, nothing)) > 100
    assert kept < 12_000_000
    assert peak < 30_000_000


@pytest.mark.parametrize("query", ["c", "ca", "cache", "acbf", "9999", "zzz", "src/", "zz" * 20])
def test_a_search_costs_no_more_than_the_names_are_more(query: str) -> None:
    def searching(count: int) -> Work:
        names = names_of(*many(count))
        return lambda: nearest(query, names.find(query, nothing))

    assert is_linear(searching, 400)


@pytest.mark.parametrize("query", ["c", "ca", "cache", "gateway/handler", "part9999", "drv"])
def test_a_search_that_ends_early_finds_the_nearest(query: str) -> None:
    names = tuple(many(SMALL))
    all_matching = (name for name in names if matches(query, name))
    matching = names_of(*names).find(query, nothing)
    assert nearest(query, matching)[:100] == nearest(query, all_matching)[:100]


def test_a_search_can_be_ended() -> None:
    class Ended(Exception):
        pass

    def end() -> None:
        raise Ended

    names = names_of("a")
    with pytest.raises(Ended):
        names.find("a", end)
    with pytest.raises(Ended):
        names.below("", 1, end)


def test_what_an_agent_announces_is_limited() -> None:
    endless = (FoundCommand(f"c{number}") for number in count())
    assert len(list(command_items(endless))) == MOST_COMMANDS
    argument = Argument("n" * 9999, "d" * 9999)
    long = FoundCommand("a", description="d" * 9999, arguments=(argument,) * 999)
    (item,) = command_items([long, FoundCommand("n" * (LONGEST_NAME + 1))])
    assert len(item.detail) == LONGEST_DETAIL
    assert len(item.arguments) == MOST_ARGUMENTS
    assert len(item.arguments[0].name) == len(item.arguments[0].description) == LONGEST_DETAIL

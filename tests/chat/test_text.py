"""Text made safe to draw."""

from __future__ import annotations

from itertools import pairwise

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eca_nvim.chat.text import Cleaner, body_lines, clean, duration, one_line, truncate, width

WILD = st.text(
    st.one_of(
        st.sampled_from("\r\n\t\x00\x1b[]m\x07\x9b\x9c\\PX0;"),
        st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF),
        st.characters(),
    ),
    max_size=60,
)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("\x1b[1;31mred\x1b[m", "red"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b31mred", "red"),
        ("nul\x00bell\x07del\x7f", "nul␀bell␇del␡"),
        ("c1\x85", "c1�"),
        ("\ud83d\ude00", "\U0001f600"),
        ("half \udc00", "half �"),
        ("\x1b[31", "␛[31"),
    ],
)
def test_clean(raw: str, shown: str) -> None:
    assert clean(raw) == shown


@given(WILD)
@settings(max_examples=200)
def test_clean_text_can_be_sent_and_stays_clean(text: str) -> None:
    shown = clean(text)
    msgpack.packb(shown)
    assert not set(shown) & set("\r\x00\x1b\x9b")
    assert clean(shown) == shown


@given(WILD, st.lists(st.integers(0, 60), max_size=6))
@settings(max_examples=200)
def test_chunks_are_cleaned_as_the_whole_is(text: str, cuts: list[int]) -> None:
    cleaner = Cleaner()
    places = [0, *sorted(cuts), len(text)]
    chunks = [text[start:end] for start, end in pairwise(places)]
    assert "".join(map(cleaner.feed, chunks)) + cleaner.finish() == clean(text)


def test_one_line_has_no_line_break_nor_runs_of_space() -> None:
    assert one_line("  a\r\n\tb \x1b[1mc\u2028d ") == "a b c d"


@pytest.mark.parametrize(
    ("text", "cells"), [("abc", 3), ("日本", 4), ("e\u0301", 1), ("\u200b", 0), ("😀", 2)]
)
def test_width(text: str, cells: int) -> None:
    assert width(text) == cells


@pytest.mark.parametrize(
    ("text", "cells", "shown"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("日本語", 4, "日…"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
    ],
)
def test_truncate(text: str, cells: int, shown: str) -> None:
    assert truncate(text, cells) == shown
    assert width(truncate(text, cells)) <= cells


@pytest.mark.parametrize(
    ("milliseconds", "shown"),
    [(20, ""), (300, "0.3s"), (4900, "4s"), (65_000, "1m05s"), (3_700_000, "61m40s")],
)
def test_duration(milliseconds: int, shown: str) -> None:
    assert duration(milliseconds) == shown


def test_body_lines_have_no_blank_ends() -> None:
    assert body_lines("\na\n\nb\r\n\n") == ["a", "", "b"]
    assert body_lines("x" * 3000) == ["x" * 3000]

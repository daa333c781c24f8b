"""Text made safe to draw."""

from __future__ import annotations

from itertools import pairwise

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eca_nvim.chat.text.safe_text import (
    Cleaner,
    body_lines,
    clean,
    duration,
    literal,
    literal_line,
    literal_name,
    one_line,
    shorten,
    truncate,
    width,
)

WILD = st.text(
    st.one_of(
        st.sampled_from("\r\n\t\x00\x1b[]m\x07\x9b\x9c\\PX0;"),
        st.sampled_from("aé❤\u200b\u200c\u200d\ufe0f\u20e3\u0301\u202e"),
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
        ("rm \u202efdp.sh", "rm <U+202E>fdp.sh"),
        ("\u2066a\u2069\u200e\u200f\u061c", "<U+2066>a<U+2069><U+200E><U+200F><U+061C>"),
        ("l\u200bs", "l<U+200B>s"),
        ("l\u200ds\u200c", "l<U+200D>s<U+200C>"),
        ("a\u00adb\ufeff", "a<U+00AD>b<U+FEFF>"),
        ("tag\U000e0041\U000e0fff", "tag<U+E0041><U+E0FFF>"),
        ("s\U0001bca0\U00013437\ufff0\U0001d159", "s<U+1BCA0><U+13437><U+FFF0><U+1D159>"),
        ("x\ufe0f", "x<U+FE0F>"),
        ("\u3164=1", "<U+3164>=1"),
        ("a" + "\u0301" * 6, "a" + "\u0301" * 4 + "<U+0301>" * 2),
        ("one\u2028two", "one<U+2028>two"),
    ],
)
def test_clean(raw: str, shown: str) -> None:
    assert clean(raw) == shown


@pytest.mark.parametrize(
    "text",
    [
        "e\u0301",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\U0001f469\u200d\u2764\ufe0f\u200d\U0001f468",
        "1\ufe0f\u20e3",
        "\u0915\u094d\u200d\u0937",
        "dix\u00a0francs\u202f!",
    ],
)
def test_what_writing_needs_stays(text: str) -> None:
    assert clean(text) == text
    cleaner = Cleaner()
    assert "".join(map(cleaner.feed, text)) + cleaner.finish() == text


def test_what_a_tool_takes_loses_nothing() -> None:
    command = "echo \x1b]0;$(rm -rf ~)\x07\r\nls \x1b[8m/\x1b[m \u202e\r!"
    assert clean(command) != literal(command)
    assert literal(command) == "echo ␛]0;$(rm -rf ~)␇␍\nls ␛[8m/␛[m <U+202E>␍!"
    assert literal_line(" a \n b\x1b ") == "a b␛"
    assert literal_name("a\n  b") == "a␤  b"


@pytest.mark.parametrize("blank", "\u00a0\u2003\u202f\u205f\u2800\u3000")
def test_a_blank_that_is_no_space_is_seen_in_what_a_tool_takes(blank: str) -> None:
    assert clean(f"a{blank}b") == f"a{blank}b"
    assert literal(f"rm{blank}-rf ~") == f"rm<U+{ord(blank):04X}>-rf ~"
    assert literal_line(f"rm{blank} x") == f"rm<U+{ord(blank):04X}> x"


@given(WILD)
@settings(max_examples=200)
def test_nothing_acts_in_what_a_tool_takes(text: str) -> None:
    shown = literal(text)
    msgpack.packb(shown)
    assert not set(shown) & set("\r\x00\x1b\x9b\u202e\u200b")
    assert literal(shown) == shown


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
    assert one_line("  a\r\n\tb \x1b[1mc  d ") == "a b c d"


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
    ("text", "cells", "shown"),
    [
        ("abc", 3, "abc"),
        ("some/folder/name.py", 13, "som…r/name.py"),
        ("日本語/日本語.py", 12, "日…日本語.py"),
    ],
)
def test_shorten(text: str, cells: int, shown: str) -> None:
    assert shorten(text, cells) == shown
    assert width(shown) <= cells


@pytest.mark.parametrize(
    ("milliseconds", "shown"),
    [
        (20, ""),
        (300, "0.3s"),
        (4900, "4s"),
        (65_000, "1m05s"),
        (3_700_000, "1h01m"),
        (363_600_000, "4d05h"),
    ],
)
def test_duration(milliseconds: int, shown: str) -> None:
    assert duration(milliseconds) == shown


def test_body_lines_have_no_blank_ends() -> None:
    assert body_lines("\na\n\nb\r\n\n") == ["a", "", "b"]
    assert body_lines("x" * 3000) == ["x" * 3000]

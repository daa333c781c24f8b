"""Hides what looks like a key, and all known secrets."""

import pytest
from tests.redacted import HIDDEN, KEPT

from eca_nvim.redaction import Redactor, without_keys


@pytest.mark.parametrize("text", HIDDEN)
def test_keys_are_hidden(text: str) -> None:
    assert without_keys(text) == HIDDEN[text]


@pytest.mark.parametrize("text", KEPT)
def test_other_text_stays(text: str) -> None:
    assert without_keys(text) == text


def test_what_is_hidden_is_not_found_again() -> None:
    for text in HIDDEN.values():
        assert without_keys(text) == text


def test_an_answer_is_hidden_however_it_is_written() -> None:
    redactor = Redactor()
    redactor.hide(' my "pass" phrase\\é \nsecond line\n1\n')
    for written in (
        'my "pass" phrase\\é',
        r"my \"pass\" phrase\\é",
        r"my \"pass\" phrase\\\u00e9",
        r'my "pass" phrase\\é',
        "second line",
    ):
        assert redactor.redact(f"1 <{written}> 1") == "1 <[hidden]> 1"


def test_the_longest_answer_is_hidden_first() -> None:
    redactor = Redactor()
    redactor.hide("abcd")
    redactor.hide("abcdefgh")
    assert redactor.redact("abcdefgh") == "[hidden]"

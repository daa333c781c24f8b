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


def test_in_json_fields_that_are_called_like_a_secret_are_hidden() -> None:
    redactor = Redactor()
    redactor.hide_typed("my-pass-phrase")
    given = {
        "apiKey": "abc",
        "data": {"api-key": "x", "token": "y", "password": ""},
        "fields": [{"key": "api-key"}, {"key": "0123456789abcdef"}],
        "env": {"FOO": "bar"},
        "servers": [{"env": [{"name": "A", "value": "v"}], "args": ["--token", "t", "-v", "x"]}],
        "sessionTokens": 5,
        "chatId": "1b2",
        "text": ["it is my-pass-phrase", "API_KEY=abc and more", None, True],
    }
    assert redactor.redact_json(given) == {
        "apiKey": "[hidden]",
        "data": {"api-key": "[hidden]", "token": "[hidden]", "password": ""},
        "fields": [{"key": "api-key"}, {"key": "[hidden]"}],
        "env": {"FOO": "[hidden]"},
        "servers": [
            {
                "env": [{"name": "A", "value": "[hidden]"}],
                "args": ["--token", "[hidden]", "-v", "x"],
            }
        ],
        "sessionTokens": 5,
        "chatId": "1b2",
        "text": ["it is [hidden]", "API_KEY=[hidden] and more", None, True],
    }


def test_values_of_hidden_fields_are_hidden_in_any_form() -> None:
    told = {"env": ["FOO=x"], "headers": "X-Foo: x", "password": 99887766}
    told |= {"secret": {"value": "x"}, "usage": {"tokens": 12}}
    shown = Redactor().redact_json(told)
    assert "x" not in str(shown).replace("X-Foo", "")
    assert "99887766" not in str(shown)
    assert shown == {**told, "env": ["[hidden]"], "headers": "[hidden]"} | {
        "password": "[hidden]",
        "secret": {"value": "[hidden]"},
    }

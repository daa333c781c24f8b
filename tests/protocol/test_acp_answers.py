"""Answers of ACP agents with changed fields raise only DecodeError."""

import copy
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.protocol.test_mutations import CHANGES, JSON, mutated, paths_within
from tests.support.replay_acp import read_lives
from tests.support.servers import ACP_RECORDINGS

from eca_nvim.protocol.acp import DecodeError, Request, decode_result
from eca_nvim.protocol.acp.lifecycle import InitializeParams
from eca_nvim.protocol.acp.sessions import NewSessionParams, PromptParams

KINDS: dict[str, type[Request[Any]]] = {
    kind.method: kind for kind in (InitializeParams, NewSessionParams, PromptParams)
}


def answers() -> Iterator[tuple[str, Any]]:
    """Yield the recorded results of these requests, once for each set of fields."""
    seen = set()
    for path in sorted(ACP_RECORDINGS.glob("*.jsonl")):
        for life in read_lives(path):
            asked = {it.message.get("id"): it.name for it in life if it.direction == "c2s"}
            for event in life:
                method, result = asked.get(event.message.get("id"), ""), event.message.get("result")
                if event.direction == "s2c" and method in KINDS and isinstance(result, dict):
                    shape = (method, *map(str, paths_within(result)))
                    if shape not in seen:
                        seen.add(shape)
                        yield method, result


ANSWERS = [*answers()]


@pytest.mark.parametrize("method", KINDS)
def test_recorded_answers_are_read(method: str) -> None:
    results = [result for asked, result in ANSWERS if asked == method]
    assert results
    for result in results:
        decode_result(KINDS[method], result)


@settings(max_examples=300, deadline=None)
@given(data=st.data(), answer=st.sampled_from(ANSWERS), change=CHANGES, other=JSON)
def test_a_changed_answer_is_a_decode_error_at_worst(
    data: st.DataObject, answer: tuple[str, Any], change: object, other: object
) -> None:
    method, result = answer
    place = data.draw(st.sampled_from([*paths_within(result)]))
    for changed in (mutated(copy.deepcopy(result), place, change), other):
        with suppress(DecodeError):
            decode_result(KINDS[method], changed)

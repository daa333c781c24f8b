"""Inline completion by an ECA server (completion/inline), over a connection."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.agents.client import make_agent, running
from tests.support import script
from tests.support.factories import PrepareReplay, PrepareScript
from tests.support.screen import Value

from eca_nvim.agents.abilities import AgentLacks, AgentRefused, CodePlace
from eca_nvim.jsonrpc import METHOD_NOT_FOUND

pytestmark = pytest.mark.anyio

INLINE = "completion/inline"
TEXT = "def add(a, b):\n    \n\nprint(add(1,2))\n"
PLACE = CodePlace(TEXT, 7, 2, 5)


async def code(command: list[str], folder: Path, *places: CodePlace) -> list[str | AgentRefused]:
    """Return what a server inserts at each place, or why not."""
    answers: list[str | AgentRefused] = []
    async with running(make_agent(command, folder)) as client:
        await client.until(client.ready.is_set)
        assert client.agent.queries is not None
        for place in places:
            try:
                answers.append(await client.agent.queries.code(place))
            except AgentRefused as refusal:
                answers.append(refusal)
    return answers


async def test_the_recorded_server(replay: PrepareReplay, tmp_path: Path) -> None:
    places = ((2, 5), (1, 0), (1, 1), (0, 0), (2, 500), (99, 1))
    asked = [*(CodePlace(TEXT, 7, *place) for place in places), CodePlace("", 1, 1, 1)]
    answers = await code(replay("completion").command, tmp_path, *asked)
    told = [it if isinstance(it, str) else str(it).partition(";")[0] for it in answers]
    outside = "completion/inline failed: Internal error"
    inside = "return a + b"
    assert told == [inside, outside, inside, outside, outside, outside, inside]


def item(text: str, version: int | None = 7, start: int = 5, end: int = 5) -> Value:
    place, last = ({"line": 2, "character": it} for it in (start, end))
    return {"text": text, "docVersion": version, "range": {"start": place, "end": last}}


@pytest.mark.parametrize(
    ("items", "inserted"),
    [
        ([item("right")], "right"),
        ([{"text": "bare"}], "bare"),
        ([item("older", 6)], ""),
        ([item("elsewhere", start=4, end=4)], ""),
        ([item("replaces", end=9)], ""),
        ([item("older", 6), item("right")], "right"),
        ([], ""),
    ],
)
async def test_only_an_insertion_there_counts(
    scripted_server: PrepareScript, tmp_path: Path, items: list[Value], inserted: str
) -> None:
    answer = script.reply(INLINE, {"items": items})
    server = scripted_server(script.handshake(), script.expect(INLINE), answer)
    assert await code(server.command, tmp_path, PLACE) == [inserted]
    params = {"docText": TEXT, "docVersion": 7, "position": {"line": 2, "character": 5}}
    assert [it["params"] for it in server.received(INLINE)] == [params]


MODEL = "(completion.model in the server's config names its model)"


def failed(error: Value) -> script.Steps:
    return [{"do": "reply", "method": INLINE, "answer": {"error": error}}]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (failed({"type": "info", "message": "No suggestions found"}), ""),
        (script.reply(INLINE, {"error": {"type": "info", "message": "No suggestions found"}}), ""),
        (
            failed({"type": "warning", "message": "Could not connect: x"}),
            f"completion/inline failed: Could not connect: x {MODEL}",
        ),
        (
            script.reply(INLINE, {"error": {"type": "error", "message": "No\nmodel"}}),
            f"completion/inline failed: No model {MODEL}",
        ),
    ],
)
async def test_a_server_that_fails(
    scripted_server: PrepareScript, tmp_path: Path, answer: script.Steps, told: str
) -> None:
    server = scripted_server(script.handshake(), script.expect(INLINE), answer)
    assert [*map(str, await code(server.command, tmp_path, PLACE))] == [told]


async def test_a_server_without_it_is_not_asked_again(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    refused = script.fail(INLINE, METHOD_NOT_FOUND, "no such method")
    server = scripted_server(script.handshake(), script.expect(INLINE), refused)
    answers = await code(server.command, tmp_path, PLACE, PLACE)
    assert [type(it) for it in answers] == [AgentLacks, AgentLacks]
    assert len(server.received(INLINE)) == 1

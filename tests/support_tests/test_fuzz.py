"""The fuzzer's runs of a whole plugin: the same from the same bytes, and mostly changed."""

import json
import random
from pathlib import Path

import pytest
from tests.fuzz.whole import FAULTS
from tests.fuzz.whole_runs import changed_answer, changed_run, recordings

FOLDER = Path("/somewhere")


def data(seed: int) -> bytes:
    return random.Random(seed).randbytes(1 << 12)


@pytest.mark.parametrize("protocol", ["eca", "acp"])
def test_the_same_bytes_make_the_same_run(protocol: str) -> None:
    runs = [changed_run(protocol, FOLDER, data(seed)) for seed in (1, 2, 1)]
    assert runs[0] == runs[2] != runs[1]
    answers = [changed_answer(protocol, "initialize", data(seed)) for seed in (3, 3)]
    assert answers[0] == answers[1]


@pytest.mark.parametrize("protocol", ["eca", "acp"])
def test_most_runs_are_changed(protocol: str) -> None:
    recorded = {
        it.name: [json.loads(text.replace("/workspace", str(FOLDER))) for text in it.said]
        for it in recordings(protocol)
    }
    assert len(recorded) > 50
    runs = [changed_run(protocol, FOLDER, data(seed)) for seed in range(20)]
    assert len({it.recording for it in runs}) > 10
    told = [
        [each for each in it.script["said"] if "id" not in each.get("message", {})] for it in runs
    ]
    changed = [
        any(each not in recorded[it.recording] for each in its)
        for it, its in zip(runs, told, strict=True)
    ]
    assert sum(changed) > 15


def test_requests_and_answers_are_played_as_well() -> None:
    methods = {
        json.loads(text)["message"]["method"]
        for protocol in ("eca", "acp")
        for it in recordings(protocol)
        for text in it.said
        if "id" in json.loads(text).get("message", {})
    }
    assert {"editor/getDiagnostics", "chat/askQuestion", "terminal/create"} < methods
    run = changed_run("eca", FOLDER, data(1))
    assert {"chat/queryContext", "providers/list", "rewrite/prompt"} < run.script["answers"].keys()
    assert run.script["rewrites"]


@pytest.mark.parametrize(
    ("line", "is_ours"),
    [
        ("ERROR eca_nvim.session.view: cannot do prompt: KeyError('a')", True),
        ("ERROR view: cannot draw block: E5108", True),
        ("ERROR eca_nvim.session.server: the agent's code failed", True),
        ("WARNING eca_nvim.agents.eca.agent: skipped a message: $.chatId is missing", False),
        ("WARNING eca_nvim.agents.acp.agent: refused a request: $.command is missing", False),
    ],
)
def test_a_refusal_is_no_fault(line: str, is_ours: bool) -> None:
    assert bool(FAULTS.search(line)) is is_ours

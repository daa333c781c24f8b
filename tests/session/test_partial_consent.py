"""What is allowed in part allows nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.session.partial import (
    ALWAYS,
    BEFORE,
    PLACES,
    allow,
    change,
    edit,
    ends,
    fill,
    made,
    propose,
    text_of,
    toggle,
    typed,
)
from tests.session.rig import Rig

from eca_nvim.chat.vocabulary import events, intents
from eca_nvim.chat.vocabulary.call_details import (
    ToolKind,
)
from eca_nvim.chat.vocabulary.requests import ALLOW, REJECT

pytestmark = pytest.mark.anyio
Value: TypeAlias = Any


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "file"
    file.write_text(BEFORE)
    return file


async def test_numbers_of_an_earlier_showing_allow_nothing(rig: Rig, path: Path) -> None:
    agent = await propose(rig, edit(change(path, BEFORE, made(*PLACES))))
    item = rig.asked("t")
    fields = (item["chat"], item["block"], item["digest"])
    await typed(rig, made(*PLACES).replace("line 18\n", "my own line\n"))
    assert len(rig.asked("t")["hunks"]) == 4
    rig.do(intents.AllowHunks(*fields, hunks=[1, 2], choice=ALLOW.id))
    await rig.done()
    assert rig.lines()[-1] == "this request has changed since you saw it, look again"
    assert not [it for it in agent.told if it[0] == "decide"]


@pytest.mark.parametrize(
    ("name", "call"),
    [
        (".bashrc", {}),
        (".git/hooks/pre-commit", {}),
        ("AGENTS.md", {}),
        ("file", {"command": "make"}),
        ("file", {"kind": ToolKind.MOVE}),
    ],
)
async def test_not_offered_for_what_others_obey(
    rig: Rig, tmp_path: Path, name: str, call: Value
) -> None:
    path = tmp_path / name
    rig.folders[:] = [str(tmp_path)]
    fill(path, BEFORE)
    kept = {key: value for key, value in call.items() if key == "command"}
    await propose(rig, edit(change(path, BEFORE, made(2, 12), placed="kind" not in call), **kept))
    assert "hunks" not in rig.asked("t")
    toggle(rig, 1)
    await rig.done()
    assert rig.lines()[-1] == "this change is allowed or rejected as a whole"


async def test_always_remembers_no_part(rig: Rig, path: Path) -> None:
    call = edit(change(path, BEFORE, made(2, 12)))
    agent = await propose(rig, call, ALLOW, ALWAYS, REJECT)
    toggle(rig, 1)
    await rig.done()
    await allow(rig, ALWAYS.id)
    fill(path, made(2, 12))
    await ends(rig, call)
    assert text_of(path) == made(12)
    again = edit(change(path, made(12), made(2, 12)))
    agent.say("a", events.ToolRequested(again, needs_approval=True, choices=(ALLOW, REJECT)))
    await rig.done()
    assert "stands" not in rig.asked("t")
    await allow(rig)
    assert len(agent.told[-1]) == 4, "all of it, computed from the file as it is"
    fill(path, made(2, 12))
    await ends(rig, again)
    assert text_of(path) == made(2, 12)


async def test_nothing_is_allowed_of_another_file_or_call(rig: Rig, path: Path) -> None:
    call = edit(change(path, BEFORE, made(2, 12)))
    agent = await propose(rig, call)
    toggle(rig, 1)
    await rig.done()
    shown = rig.decision("t")
    fill(path, BEFORE + "typed meanwhile\n")
    rig.do(shown)
    await rig.done()
    assert [it for it in agent.told if it[0] == "decide"] == []
    assert "look again" in rig.lines()[-1]
    assert "stands" not in rig.asked("t")
    fill(path, BEFORE)
    old = rig.asked("t")
    other = edit(change(path, BEFORE, made(2, 25)))
    agent.say("a", events.ToolRequested(other, needs_approval=True))
    await rig.done()
    fields = (old["chat"], old["block"], old["digest"])
    rig.do(intents.ToggleHunk(*fields, hunk=1, taken=False))
    await rig.done()
    assert "look again" in rig.lines()[-1]
    assert all(it["taken"] for it in rig.asked("t")["hunks"])


async def test_a_call_that_asks_again_is_allowed_whole(rig: Rig, path: Path) -> None:
    call = edit(change(path, BEFORE, made(2, 12)))
    agent = await propose(rig, call)
    toggle(rig, 1)
    await rig.done()
    await allow(rig)
    agent.say("a", events.ToolRequested(call, needs_approval=True, request_id="again"))
    await rig.done()
    assert "stands" not in rig.asked("t")
    await allow(rig)
    fill(path, made(2, 12))
    await ends(rig, call)
    assert text_of(path) == made(2, 12)

"""Changes of files that are allowed in part."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

from tests.session.rig import FakeAgent, Rig

from eca_nvim.chat.text.text_differences import hunks_between
from eca_nvim.chat.vocabulary import events, intents
from eca_nvim.chat.vocabulary.call_details import (
    FileChange,
    ToolCall,
    ToolKind,
)
from eca_nvim.chat.vocabulary.requests import ALLOW, REJECT, Choice, ChoiceKind
from eca_nvim.chat.vocabulary.turn_events import TurnBegan

Value: TypeAlias = Any
BEFORE = "".join(f"line {number}\n" for number in range(1, 31))
PLACES = (2, 12, 25)
NUMBERS = count(100)
ALWAYS = Choice("always", "always", ChoiceKind.ALLOW_ALWAYS)


def made(*places: int, before: str = BEFORE) -> str:
    """Return the file with some of its lines changed."""
    text = before
    for place in places:
        text = text.replace(f"line {place}\n", f"LINE {place}\n")
        text = text.replace(f"line {place}\r\n", f"LINE {place}\r\n")
    return text


def change(path: Path, before: str, after: str, **more: Value) -> FileChange:
    return FileChange(str(path), *hunks_between(before, after), **more)


def edit(*changes: FileChange, **more: Value) -> ToolCall:
    return ToolCall("t", name="edit", kind=ToolKind.EDIT, changes=changes, **more)


async def propose(rig: Rig, call: ToolCall, *choices: Choice) -> FakeAgent:
    """Have an agent ask for a call in a turn."""
    agent = await rig.ready()
    rig.do(intents.SendPrompt("a", "edit it"))
    await rig.done()
    asked = events.ToolRequested(call, needs_approval=True, choices=choices or (ALLOW, REJECT))
    agent.say("a", TurnBegan(), asked)
    await rig.done()
    return agent


def toggle(rig: Rig, hunk: int, *, taken: bool = False) -> None:
    item = rig.asked("t")
    fields = (item["chat"], item["block"], item["digest"])
    rig.do(intents.ToggleHunk(*fields, hunk=hunk, taken=taken))


async def typed(rig: Rig, text: str, line: int | None = None, file: int = 0) -> Value:
    """Edit the proposed text in the diff tab."""
    item = rig.asked("t")
    fields = (item["chat"], item["block"])
    intent = intents.EditProposal(
        *fields, request=next(NUMBERS), digest=item["digest"], file=file, text=text, line=line
    )
    return await rig.ask(intent)


async def allow(rig: Rig, choice: str = ALLOW.id) -> None:
    rig.do(rig.decision("t", choice))
    await rig.done()


async def ends(rig: Rig, call: ToolCall, *, failed: bool = False) -> None:
    rig.agent.say("a", events.ToolRunning(call), events.ToolFinished(call, failed=failed))
    await rig.done()


def text_of(path: Path) -> str:
    return path.read_bytes().decode()


def fill(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def is_there(path: Path) -> bool:
    return path.exists()


def told(agent: FakeAgent, kind: str = "steer") -> list[str]:
    """Return the texts of steers that the agent got."""
    return [str(it[2]) for it in agent.told if it[0] == kind]


def prompts(agent: FakeAgent) -> list[str]:
    return [str(it) for it in agent.told if it[0] == "prompt"]

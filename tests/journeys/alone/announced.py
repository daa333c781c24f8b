"""What real agents announce of their options, and the file that keeps it.

`tests/fixtures/agent_options.json` has it for the tests that need no agent. A run of the newest
agents writes it, so that git shows what has changed. What a newer version, or one in another home,
does not announce any more stays as `earlier`: users have it.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from tests.journeys.agents import RealAgent
from tests.journeys.alone.talk import Talk
from tests.support.launch import REPOSITORY

KEPT = REPOSITORY / "tests" / "fixtures" / "agent_options.json"
OF_MODELS = ("model", "model_config", "thought_level")
"""Categories whose values are those of models: they come from an account, and say nothing here."""

Table: TypeAlias = dict[str, Any]


def announced(agent: RealAgent, folder: Path) -> Table:
    """Start an agent, open a session, and return its version and its options."""
    with Talk(agent, folder) as talk:
        session = talk.begin()
        version = talk.info.get("version") or _said_version(agent)
    listed = session.get("configOptions") or []
    return {"version": version, "options": [*map(_option, listed)] or _modes(session)}


def _said_version(agent: RealAgent) -> str:
    command = [agent.command[0], "--version"]
    said = subprocess.run(command, capture_output=True, text=True, env=dict(agent.env), check=True)
    return said.stdout.split()[-1]


def _option(listed: Table) -> Table:
    category = listed.get("category") or ""
    option = {"id": listed["id"], "category": category, "type": listed.get("type", "select")}
    if option["type"] != "select" or category in OF_MODELS or not category:
        return option
    groups = [it.get("options", [it]) for it in listed.get("options", [])]
    values = [it["value"] for group in groups for it in group]
    return option | {"value": listed["currentValue"], "values": values}


def _modes(session: Table) -> Sequence[Table]:
    """Return the modes of an agent that lists no options."""
    modes = session.get("modes")
    if not modes:
        return []
    values = [it["id"] for it in modes["availableModes"]]
    option = {"id": "mode", "category": "mode", "type": "modes"}
    return [option | {"value": modes["currentModeId"], "values": values}]


def kept() -> dict[str, Table]:
    """Return what the file has, by agent."""
    found: dict[str, Table] = json.loads(KEPT.read_text())
    return found


def keep(agent: str, news: Table) -> bool:
    """Write what an agent announces; return whether that changes the file."""
    before = kept()
    old = before.get(agent, {"options": []})
    options = [_with_earlier(it, old["options"]) for it in news["options"]]
    after = dict(sorted((before | {agent: news | {"options": options}}).items()))
    text = _text(after)
    is_news = text != KEPT.read_text()
    if is_news:
        KEPT.write_text(text)
    return is_news


def _with_earlier(option: Table, olds: Sequence[Table]) -> Table:
    """Return an option with the values that it had before and has no more."""
    old = next((it for it in olds if it["id"] == option["id"]), {})
    known = [*old.get("values", []), *old.get("earlier", [])]
    earlier = sorted({*known} - {*option.get("values", [])})
    return option | {"earlier": earlier} if earlier else option


def _text(found: Mapping[str, Table]) -> str:
    """Return the file's text: a line for each option."""
    return "{\n" + ",\n".join(_of_agent(name, it) for name, it in found.items()) + "\n}\n"


def _of_agent(name: str, announced: Table) -> str:
    options = ",\n".join(f"      {json.dumps(it)}" for it in announced["options"])
    version = json.dumps(announced["version"])
    return f'  "{name}": {{\n    "version": {version},\n    "options": [\n{options}\n    ]\n  }}'

"""What the demo agent offers to complete a prompt."""

import sys
from pathlib import Path

import pytest
from tests.agents.client import make_agent, running
from tests.demo.talks import talk, talking

from eca_nvim.agents.abilities import CodePlace, FoundPath, FoundResource
from eca_nvim.chat.vocabulary.completion import Argument, ItemKind
from eca_nvim.chat.vocabulary.events import TextReceived
from eca_nvim.demo.scenes import COMMANDS, SCENES

pytestmark = pytest.mark.anyio


async def test_queries(tmp_path: Path) -> None:
    async with running(make_agent([sys.executable, "-m", "eca_nvim.demo"], tmp_path)) as client:
        await client.until(client.ready.is_set)
        offered = client.agent.queries
        assert offered is not None
        commands = {it.name: it for it in await offered.commands("c")}
        assert commands["fix"].kind is ItemKind.COMMAND
        prompt = commands["demo:greet"]
        assert (prompt.kind, prompt.arguments[0].required) == (ItemKind.PROMPT, True)
        assert commands["stream"].arguments == (Argument("tokens", "How many"),)
        (file,) = await offered.files("c", "GREET")
        assert file.path.endswith("/greet.py")
        *paths, notes = await offered.contexts("c", "")
        assert all(isinstance(it, FoundPath) for it in paths)
        assert isinstance(notes, FoundResource)
        assert notes.uri == "demo://notes"


async def test_code_goes_on_as_another_line_does(tmp_path: Path) -> None:
    text = "é🎉 = add(a, b)\n  é🎉 = \n\nend"
    places = {(2, 9): "add(a, b)", (2, 3): "", (3, 1): "", (4, 3): ""}
    async with running(make_agent([sys.executable, "-m", "eca_nvim.demo"], tmp_path)) as client:
        await client.until(client.ready.is_set)
        assert client.agent.queries is not None
        for place, inserted in places.items():
            assert await client.agent.queries.code(CodePlace(text, 1, *place)) == inserted


async def test_a_prompt_with_an_argument(tmp_path: Path) -> None:
    async with talking(tmp_path) as (client, _):
        await talk(client, "c", '/demo:greet "Ada L"')
        text = "".join(it.text for it in client.all(TextReceived))
        assert "Hello, **Ada L**!" in text


def test_every_command_has_a_scene_of_its_own() -> None:
    played = {
        next((scene for words, scene in SCENES.items() if words.search(f"/{name}")), None)
        for name, _, _ in COMMANDS
    }
    assert len(played) == len(COMMANDS)

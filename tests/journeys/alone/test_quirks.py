"""What single agents cannot do without a quirk of ours: each is seen with the newest version.

An agent that can do it now ends the quirk for its newer versions.
"""

from pathlib import Path

import pytest
from tests.journeys.agents import Home, make
from tests.journeys.alone.talk import EMPTY, Talk
from tests.journeys.conftest import Show

from eca_nvim.agents.acp.updates.quirks import EMPTY_TEXTS

MISSING = {"error": {"code": -32002, "message": "Resource not found: there is no such file: /x"}}
"""As `agents/acp/requests/files.py` says it."""


@pytest.mark.parametrize("name", ["fast-agent", "gemini", "goose", "qwen"])
def test_an_agent_gets_the_empty_text_only_if_it_needs_that(
    name: str, model: int, tmp_path: Path, workspace: Path, show: Show
) -> None:
    agent = make(name, Home(tmp_path / "home", model))
    makes: dict[str, bool] = {}
    for said, missing in (("the error", MISSING), ("the empty text", EMPTY)):
        new = workspace / "new.txt"
        with Talk(agent, workspace, allows=True, missing=missing) as talk:
            session = talk.begin()["sessionId"]
            talk.prompt(session, {"write": [str(new), "text\n"]}, {"say": "ready"})
            info = talk.info
        makes[said] = new.exists()
        new.unlink(missing_ok=True)
    show(f"{name} {info.get('version', '')}: a new file is made after {makes}")
    needs_text = not makes["the error"] and makes["the empty text"]
    assert (info.get("name", "") in EMPTY_TEXTS) == needs_text

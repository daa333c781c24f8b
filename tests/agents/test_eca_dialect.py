"""What a server's messages say about its generation, and who may ask for it."""

import ast
from pathlib import Path
from typing import Any

import pytest
from tests.support.launch import REPOSITORY

from eca_nvim.agents.eca.older.dialect import Dialect, Generation, Lack
from eca_nvim.agents.eca.older.forms import read_notification
from eca_nvim.chat.vocabulary.options import ALL_ABILITIES, Ability
from eca_nvim.protocol.eca import decode_result
from eca_nvim.protocol.eca.lifecycle import InitializeParams

ROOM = REPOSITORY / "rplugin/python3/eca_nvim/agents/eca"
OUTSIDE = sorted(set(ROOM.rglob("*.py")) - set(ROOM.glob("older/**/*.py")))
OF_GENERATIONS = {"Generation", "Lack", "generation", "is_today", "lacks", "speaks_of_behaviors"}
TEXT = {"type": "text", "text": "x"}
CALL = {"type": "toolCallRun", "id": "1", "name": "n"}


def content(value: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Put a content into its notification."""
    return "chat/contentReceived", {"chatId": "1", "role": "assistant", "content": value}


def piece(value: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Put a content into the notification of the first draft."""
    return "chat/contentReceived", {"chatId": "1", "content": value, "isComplete": False}


def config(**chat: object) -> tuple[str, dict[str, Any]]:
    """Put choices into their notification."""
    return "config/updated", {"chat": chat}


@pytest.mark.parametrize(
    ("method", "params", "generation"),
    [
        (*content(TEXT), Generation.UNKNOWN),
        (*content({"type": "fileChange"}), Generation.DRAFT),
        (*content({"type": "later"}), Generation.UNKNOWN),
        (*piece({"type": "later"}), Generation.DRAFT),
        (*piece({"type": "progress"}), Generation.DRAFT),
        ("chat/sang", {"chatId": "1"}, Generation.UNKNOWN),
        (*content({"type": "progress", "state": "running"}), Generation.BEHAVIORS),
        (*content(CALL), Generation.BEHAVIORS),
        (*config(behaviors=["agent"]), Generation.BEHAVIORS),
        (*config(models=["m"]), Generation.BEHAVIORS),
        ("tool/serverUpdated", {"name": "ECA"}, Generation.BEHAVIORS),
        ("$/showMessage", {"type": "info", "message": "m"}, Generation.BEHAVIORS),
        (*content({**CALL, "server": "ECA"}), Generation.SERVERS),
        (*content({"type": "metadata", "title": "t"}), Generation.SERVERS),
        (*config(agents=["code"], behaviors=["code"]), Generation.AGENTS),
        (*config(selectAgent="code"), Generation.AGENTS),
        ("chat/statusChanged", {"chatId": "1", "status": "idle"}, Generation.AGENTS),
        ("chat/opened", {"chatId": "1"}, Generation.AGENTS),
        ("$/progress", {"type": "start", "taskId": "models"}, Generation.AGENTS),
    ],
)
def test_a_word_shows_a_generation(method: str, params: object, generation: Generation) -> None:
    dialect = Dialect()
    dialect.read(read_notification(method, params))
    assert dialect.generation is generation
    dialect.read(read_notification(*content(TEXT)))
    assert dialect.generation is generation


@pytest.mark.parametrize(
    ("result", "generation", "behaviors"),
    [
        ({}, Generation.UNKNOWN, False),
        ({"models": ["m"]}, Generation.BEHAVIORS, False),
        ({"chatBehaviors": ["agent"], "chatWelcomeMessage": "hi"}, Generation.BEHAVIORS, True),
        ({"chatWelcomeMessage": "hi", "more": 1}, Generation.AGENTS, False),
    ],
)
def test_the_introduction_shows_it(result: object, generation: Generation, behaviors: bool) -> None:
    dialect = Dialect()
    dialect.read_introduction(decode_result(InitializeParams, result))
    assert (dialect.generation, dialect.speaks_of_behaviors) == (generation, behaviors)


def test_behaviors_are_spoken_of_until_agents_are() -> None:
    dialect = Dialect()
    for chat, behaviors in (
        ({"behaviors": ["agent"]}, True),
        ({"models": ["m"]}, True),
        ({"agents": ["code"], "behaviors": ["code"]}, False),
    ):
        dialect.read(read_notification(*config(**chat)))
        assert dialect.speaks_of_behaviors is behaviors


def test_what_a_server_lacks() -> None:
    dialect = Dialect()
    assert [lack for lack in Lack if dialect.lacks(lack)] == [Lack.RESOURCES]
    dialect.read(read_notification(*content({"type": "fileChange"})))
    assert all(dialect.lacks(lack) for lack in Lack if lack is not Lack.TEXTS)


def test_abilities_grow_with_the_generation() -> None:
    dialect = Dialect()
    assert dialect.abilities == ALL_ABILITIES - {Ability.STEER}
    dialect.read(read_notification(*content({"type": "fileChange"})))
    assert dialect.abilities == {Ability.CLEAR, Ability.DELETE}
    dialect.read(read_notification(*config(models=["m"])))
    assert dialect.abilities == {Ability.CLEAR, Ability.DELETE, Ability.LOGIN}
    dialect.read(read_notification("chat/opened", {"chatId": "1"}))
    assert dialect.abilities == ALL_ABILITIES


def test_a_change_is_told_and_what_a_server_has_refused_is_gone() -> None:
    told: list[frozenset[Ability]] = []
    dialect = Dialect(changed=lambda: told.append(dialect.abilities))
    for _ in (1, 2):
        dialect.read(read_notification("chat/opened", {"chatId": "1"}))
    assert dialect.may_know("chat/fork")
    dialect.note_absent("chat/fork")
    assert not dialect.may_know("chat/fork")
    assert told == [ALL_ABILITIES, ALL_ABILITIES - {Ability.FORK}]


def test_today_lacks_nothing() -> None:
    dialect = Dialect()
    dialect.read(read_notification("chat/opened", {"chatId": "1"}))
    assert not any(map(dialect.lacks, Lack))


def test_a_map_of_the_project_is_for_servers_without_tools_for_it() -> None:
    wants = Dialect(), Dialect(repo_map=False)
    seen = []
    for told in (content(TEXT), config(models=["m"]), content({**CALL, "server": "ECA"})):
        for dialect in wants:
            dialect.read(read_notification(*told))
        seen.append([dialect.wants_repo_map for dialect in wants])
    assert seen == [[False, False], [True, False], [False, False]]


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: path.stem)
def test_only_the_room_of_older_servers_knows_generations(path: Path) -> None:
    """The rest asks what the server can do: there is one protocol for it, today's."""
    code = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    words = {getattr(it, "id", getattr(it, "attr", getattr(it, "name", None))) for it in code}
    assert words & OF_GENERATIONS == set()


def test_what_a_server_can_do_follows_from_its_generation() -> None:
    dialect = Dialect()
    seen = []
    for told in (
        content({"type": "fileChange"}),
        config(behaviors=["agent"]),
        config(agents=["code"]),
    ):
        dialect.read(read_notification(*told))
        seen.append(
            (
                dialect.saves_chats,
                dialect.agents_bring_models,
                (dialect.has_trust, dialect.can_clear, dialect.takes_further_folders),
            )
        )
    assert seen == [
        (False, True, (False, False, False)),
        (True, False, (False, False, False)),
        (True, True, (True, True, True)),
    ]

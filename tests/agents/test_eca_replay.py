"""Replayed messages: kept apart from new ones, and without what the server added."""

import pytest

from eca_nvim.agents.eca.prompts import user_text
from eca_nvim.agents.eca.replay import Replays
from eca_nvim.chat.vocabulary.agent_events import WorkChanged
from eca_nvim.chat.vocabulary.events import Addressed, ChatOpened, Role, TextReceived
from eca_nvim.chat.vocabulary.turn_events import TurnBegan

CONTEXTS = (
    '<contexts description="User-provided context. Treat as current and accurate.">\n'
    '<file path="/w/a.py">print("hi")\n</file>\n\n<text label="*t*">a\n</contexts>\nb</text>\n'
    "</contexts>"
)
EDITOR = (
    '<editor-state description="Editor state reference; not a user request.">\n'
    '<cursor path="/w/a.py" start="1:1" end="1:1"/>\n</editor-state>'
)
HOOK = "<additionalContext>\nmore\n</additionalContext>"


def said(text: str, chat: str = "c1", parent: str | None = None) -> Addressed:
    """Make an event of a text."""
    return Addressed(chat, TextReceived(Role.ASSISTANT, text), parent)


@pytest.mark.parametrize(
    "added",
    [
        (CONTEXTS,),
        (EDITOR,),
        (HOOK,),
        (CONTEXTS, CONTEXTS, EDITOR, HOOK),
        ("<contexts>\n</contexts>",),
    ],
)
def test_what_the_server_added_is_cut_off(added: tuple[str, ...]) -> None:
    replayed = "\n".join(["", "fix it", "", "now", *added])
    assert user_text(replayed).strip() == "fix it\n\nnow"


@pytest.mark.parametrize(
    "text",
    [
        "\nplain words",
        "what does <contexts> mean?\n</contexts>",
        f"{CONTEXTS}\nis what I see, why?",
        f"in a line {EDITOR.splitlines()[0]} </editor-state>",
        "",
    ],
)
def test_words_of_the_user_stay(text: str) -> None:
    assert user_text(text) == text


def test_an_awaited_replay_is_not_told_as_news() -> None:
    replays = Replays()
    running = Addressed("c1", TurnBegan())
    other = said("live", "c2")
    with replays.of("c1") as replay:
        told = replays.sort([said("old"), running, other, WorkChanged("w", "t", done=True)])
    assert told == [running, other, WorkChanged("w", "t", done=True)]
    assert replay.events == [said("old")]
    assert replays.sort([said("new")]) == [said("new")]
    assert not replays.awaited


def test_subagents_are_replayed_with_their_chat() -> None:
    replays = Replays()
    deeper = said("deep", "sub-2", "sub-1")
    with replays.of("c1") as replay:
        told = replays.sort([said("in", "sub-1", "c1"), deeper, said("x", "sub-9", "c2")])
    assert told == [said("x", "sub-9", "c2")]
    assert replay.events == [said("in", "sub-1", "c1"), deeper]


def test_the_replay_of_a_new_chat_is_that_of_the_first_stranger() -> None:
    replays = Replays()
    opened = Addressed("new", ChatOpened("Copy"))
    again = Addressed("c1", ChatOpened("Mine"))
    with replays.of(None, frozenset({"c1"})) as replay:
        told = replays.sort([again, said("live"), opened, said("old", "new")])
    assert told == [again, said("live")]
    assert (replay.chat_id, replay.events) == ("new", [opened, said("old", "new")])

"""Another answer to the last prompt, through the session with an agent in memory."""

from __future__ import annotations

import pytest
from tests.session.fake_archive import FakeArchive
from tests.session.rig import Rig
from tests.session.saved_chats import ENDED, RUNNING, asked, warned
from tests.support.announced import announced

from eca_nvim.agents.abilities import AgentRefused
from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary import query_intents as asks
from eca_nvim.chat.vocabulary.agent_events import JobsChanged
from eca_nvim.chat.vocabulary.call_details import ToolCall
from eca_nvim.chat.vocabulary.events import (
    NoticeReceived,
    Role,
    TextReceived,
    TitleChanged,
    ToolFinished,
    ToolRunning,
)
from eca_nvim.chat.vocabulary.ops import Answer, SetInput
from eca_nvim.chat.vocabulary.options import ALL_ABILITIES, AbilitiesChanged, Ability
from eca_nvim.chat.vocabulary.turn_events import Job, JobState
from eca_nvim.session.requests.attempts import NO_PROMPT, ONE_ANSWER, OPEN_ELSEWHERE

pytestmark = pytest.mark.anyio


async def turn(rig: Rig, number: int, *first: intents.Intent) -> None:
    """Have a prompt sent, and play the agent's turn: its answer has the number."""
    agent, count = rig.agents[-1], len(rig.agents[-1].prompts)
    rig.do(*first)
    await rig.view.until(lambda: len(agent.prompts) > count)
    text = agent.prompts[-1].text
    echo = TextReceived(Role.USER, f"{text}\n", f"u{number}")
    agent.say("a", RUNNING, echo, TextReceived(Role.ASSISTANT, f"answer {number}"), ENDED)


async def talking(rig: Rig, *lacks: Ability) -> FakeArchive:
    """Play two turns."""
    agent = await rig.ready("a")
    agent.announce(announced(models=("mock-1", "mock-2")))
    rig.do(intents.Choose("a", "model", "mock-1"))
    agent.announce(AbilitiesChanged(ALL_ABILITIES - set(lacks)))
    await turn(rig, 1, intents.SendPrompt("a", "one"))
    await turn(rig, 2, intents.SendPrompt("a", "two"))
    return agent.archive


async def said(rig: Rig) -> str:
    number = -77 - len(rig.view.of(Answer))
    return str(await rig.ask(asks.RequestTranscript("a", number)))


async def test_the_agent_goes_on_in_a_copy_and_back(rig: Rig) -> None:
    archive = await talking(rig)
    rig.do(intents.KeepDraft("a", "typed meanwhile"))
    await turn(rig, 3, asks.RetryPrompt("a", "mock-2", request=7))
    assert rig.view.of(Answer) == [Answer(7, True)]
    assert archive.asked == [("branch", "a", "u2")]
    assert [(it.text, it.recap) for it in rig.agent.prompts[1:]] == [("two", None)] * 2
    assert rig.status().get("model") == "mock-2"
    text = await said(rig)
    assert "> answer 2/2 · mock-2\n" in text
    assert "answer 3" in text
    assert "answer 2\n" not in text.replace("answer 2/2", "")
    await turn(rig, 4, intents.SendPrompt("a", "three"))
    await asked(rig, asks.ShowAttempt("a", 0, 1))
    assert archive.asked[1:] == [("exchange", "a", "kept-1")]
    text = await said(rig)
    assert "> answer 1/2 · mock-1\n" in text
    assert "three" not in text
    await rig.view.until(lambda: rig.status().get("model") == "mock-1")
    await asked(rig, asks.ShowAttempt("a", 0, -1))
    assert archive.asked[2:] == [("exchange", "a", "kept-1")]
    assert "three" in await said(rig)
    assert rig.view.of(SetInput) == []


async def test_an_agent_that_cannot_copy_gets_a_recap_in_a_new_session(rig: Rig) -> None:
    archive = await talking(rig, Ability.ROLLBACK, Ability.FORK_HERE)
    await turn(rig, 3, asks.RetryPrompt("a"))
    assert archive.asked == [("branch", "a", None)]
    assert rig.agent.prompts[-1].recap == "## User\n\none\n\n## Assistant\n\nanswer 1"
    assert "> answer 2/2 · mock-1 · new session\n" in await said(rig)
    await asked(rig, asks.ShowAttempt("a", 0, 1))
    await turn(rig, 4, intents.SendPrompt("a", "goes on"))
    assert rig.agent.prompts[-1].recap is None


async def test_a_first_prompt_begins_the_chat_again(rig: Rig) -> None:
    agent = await rig.ready("a")
    await turn(rig, 1, intents.SendPrompt("a", "one"))
    await turn(rig, 2, asks.RetryPrompt("a"))
    assert agent.archive.asked == [("branch", "a", None)]
    assert agent.prompts[-1].recap == ""
    assert "new session" not in await said(rig)


async def test_files_go_back_before(rig: Rig) -> None:
    archive = await talking(rig)
    await turn(rig, 3, asks.RetryPrompt("a", tools=True))
    assert archive.asked == [("rollback", "a", "u2", False, True), ("branch", "a", "u2")]


async def test_a_prompt_that_is_sent_meanwhile_waits(rig: Rig) -> None:
    await talking(rig)
    await turn(rig, 3, asks.RetryPrompt("a"), intents.SendPrompt("a", "later"))
    await rig.view.until(lambda: len(rig.agent.prompts) == 4)
    assert [it.text for it in rig.agent.prompts] == ["one", "two", "two", "later"]


async def test_what_cannot_be_says_why_and_changes_nothing(rig: Rig) -> None:
    agent = await rig.ready("a")
    assert NO_PROMPT in await warned(rig, asks.RetryPrompt("a"))
    archive = await talking(rig)
    assert ONE_ANSWER in await warned(rig, asks.ShowAttempt("a", 0, 1))
    assert "unknown model 'mokc-2'" in await warned(rig, asks.RetryPrompt("a", "mokc-2"))
    before = await said(rig)
    archive.fault = AgentRefused("chat/fork failed: no")
    assert "chat/fork failed" in await warned(rig, asks.RetryPrompt("a"))
    assert await said(rig) == before
    await turn(rig, 3, asks.RetryPrompt("a"))
    before = await said(rig)
    archive.fault = AgentRefused("the server no longer has this chat")
    assert "no longer has" in await warned(rig, asks.ShowAttempt("a", 0, 1))
    assert await said(rig) == before
    rig.agent.say("a", RUNNING)
    assert "a turn is running" in await warned(rig, asks.RetryPrompt("a"))
    assert "a turn is running" in await warned(rig, asks.ShowAttempt("a", 0, 1))
    assert agent is rig.agent


async def test_what_a_kept_session_says_makes_no_chat(rig: Rig) -> None:
    archive = await talking(rig)
    await turn(rig, 3, asks.RetryPrompt("a"))
    kept = f"kept-{len(archive.asked)}"
    rig.agent.say(kept, TitleChanged("late"), NoticeReceived("late"))
    rig.do(intents.OpenChat(kept))
    assert OPEN_ELSEWHERE in await warned(rig, asks.ShowAttempt("a", 0, 1))
    assert rig.view.of(SetInput) == []


async def test_deleting_the_chat_deletes_all_answers(rig: Rig) -> None:
    archive = await talking(rig)
    await turn(rig, 3, asks.RetryPrompt("a"))
    await asked(rig, asks.DeleteChat("a"))
    assert archive.asked[1:] == [("delete", "a"), ("delete", "kept-1")]


async def test_a_command_that_ended_meanwhile_is_shown_so(rig: Rig) -> None:
    agent = await rig.ready("a")
    call, runs = (
        ToolCall("c1", name="shell", summary="make"),
        Job("make", chat_id="a", call_id="c1"),
    )
    rig.do(intents.SendPrompt("a", "run it"))
    await rig.view.until(lambda: agent.prompts)
    echo = TextReceived(Role.USER, "run it\n", "u1")
    agent.say("a", RUNNING, echo, ToolRunning(call), ToolFinished(call, ("ok",)), ENDED)
    agent.announce(JobsChanged((runs,)))
    await turn(rig, 2, asks.RetryPrompt("a"))
    ended = Job("make", JobState.KILLED, chat_id="kept-1", call_id="c1")
    agent.announce(JobsChanged((ended,)))
    await asked(rig, asks.ShowAttempt("a", 0, 1))
    text = await said(rig)
    assert "answer 1/2" in text
    assert "killed" in text

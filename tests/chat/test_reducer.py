"""The reducer: complete, and correct for any order of events."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.chat.driver import Driver, call
from tests.chat.view import View
from tests.support.messages import kinds

from eca_nvim.chat.handlers.reducer import HANDLERS
from eca_nvim.chat.model.blocks import ToolBlock, open_question
from eca_nvim.chat.render.whole_chat import transcript
from eca_nvim.chat.user_actions import folding
from eca_nvim.chat.vocabulary import call_details, events
from eca_nvim.chat.vocabulary.completion import CommandsChanged
from eca_nvim.chat.vocabulary.events import Role, TextReceived
from eca_nvim.chat.vocabulary.ops import BlockKind
from eca_nvim.chat.vocabulary.previews import AnswerReplaced
from eca_nvim.chat.vocabulary.states import CallState, TurnEnd
from eca_nvim.chat.vocabulary.turn_events import (
    HookFinished,
    LoginBegan,
    TurnBegan,
    TurnEnded,
    TurnStopping,
    UsageReported,
)

IDS = st.sampled_from(["a", "b", "c", "d"])
NAMES = st.sampled_from(["read_file", "grep", "shell_command", "spawn_agent", "odd", None])
TEXTS = st.text(st.sampled_from("ab \n\r\x1b[0m\x00\ud83d\ude00é"), max_size=6)
PLAN = call_details.TaskList((call_details.Task("1", "x"),))
DETAILS = st.sampled_from(
    [
        None,
        call_details.FileChange("/w/f", "@@ -1 +1 @@\n-a\n+b", 1, 1),
        call_details.FileChange("/w/f", "junk", 1, 1),
        call_details.ShellCommand((call_details.ShellPart("ls", (), "ls"),)),
        call_details.JsonOutputs(("{}",)),
        call_details.Subagent("explorer", "sub", step=1),
        call_details.Subagent("inner", "subsub"),
        PLAN,
        call_details.UnknownDetails("odd", "text"),
    ]
)
CALLS = st.builds(
    lambda key, name, details: call(key, name, details=details, arguments={"path": "/w/f"}),
    IDS,
    NAMES,
    DETAILS,
)
EVENTS = st.one_of(
    st.builds(TextReceived, st.sampled_from(Role), TEXTS),
    st.builds(TextReceived, st.just(Role.ASSISTANT), TEXTS),
    st.builds(events.ReasoningStarted, IDS),
    st.builds(events.ReasoningText, IDS, TEXTS),
    st.builds(events.ReasoningFinished, IDS, st.none() | st.integers(0, 9000)),
    st.builds(events.ToolPreparing, CALLS, TEXTS),
    st.builds(events.ToolRequested, CALLS, st.booleans()),
    st.builds(events.ToolRunning, CALLS),
    st.builds(events.ToolOutput, IDS, TEXTS, st.booleans()),
    st.builds(events.ToolFinished, CALLS, st.tuples(TEXTS), st.booleans()),
    st.builds(events.ToolRejected, CALLS),
    st.builds(CommandsChanged, st.just(())),
    st.builds(events.PlanChanged, st.sampled_from([PLAN, call_details.TaskList(())])),
    st.builds(HookFinished, IDS, TEXTS, st.integers(0, 1), TEXTS),
    st.builds(events.QuestionAsked, IDS, TEXTS, tool_call_id=IDS),
    st.builds(TurnBegan),
    st.builds(TurnStopping),
    st.builds(TurnEnded, st.sampled_from(TurnEnd), st.none() | TEXTS),
    st.builds(LoginBegan),
    st.builds(events.ProgressChanged, TEXTS, st.booleans()),
    st.builds(UsageReported, st.integers(0, 9), session_cost=TEXTS),
    st.builds(events.UnknownReceived, TEXTS, TEXTS),
    st.builds(events.AgentGone, TEXTS),
    st.just(events.ChatDeleted()),
)
Act = Callable[[Driver], None]


def _hear(event: events.ChatEvent, child: str | None) -> Act:
    return lambda driver: driver.hear(event, child=child)


ACTS: st.SearchStrategy[Act] = st.one_of(
    st.builds(_hear, EVENTS, st.sampled_from([None, None, None, "sub", "subsub"])),
    st.builds(lambda text, queue: lambda it: it.send(text, queue=queue), TEXTS, st.booleans()),
    st.builds(lambda key: lambda it: it.approve(key), IDS),
    st.builds(lambda key, reason: lambda it: it.reject(key, reason), IDS, TEXTS),
    st.builds(lambda key, text: lambda it: it.answer(key, text), IDS, st.none() | TEXTS),
    st.builds(lambda block: lambda it: it.toggle(block), st.integers(0, 6)),
    st.builds(
        lambda place, edit: lambda it: it.unqueue(place, edit=edit),
        st.integers(1, 2),
        st.booleans(),
    ),
    st.just(lambda it: it.stop()),
    st.builds(lambda time: lambda it: it.tick(time), st.integers(0, 3000)),
)


def test_every_event_has_its_handler() -> None:
    of_rewrites = {AnswerReplaced}  # no chat shows them
    assert set(HANDLERS) == set(kinds(events.ChatEvent)) - of_rewrites


@given(st.lists(ACTS, max_size=30))
@settings(max_examples=150, deadline=None)
def test_any_order_of_events_leaves_a_chat_that_can_be_used(acts: list[Act]) -> None:
    driver = Driver()
    for act in acts:
        act(driver)
        _holds(driver)
    driver.hear(events.AgentGone("gone"))
    _holds(driver)
    assert driver.chat.live == {}
    assert driver.state in ("idle", None)
    started = driver.view.fired("EcaTurnStarted")
    assert len(driver.ends) == len(started)
    driver.send("hello")
    assert driver.state == "running"


def _holds(driver: Driver) -> None:
    chat = driver.chat
    for block in chat.waiting:
        assert chat.blocks[block.id] is block
        approval = isinstance(block, ToolBlock) and block.state is CallState.WAITING
        assert approval != (open_question(block) is not None)
    waiting = [it for it in chat.blocks.values() if isinstance(it, ToolBlock)]
    assert len(driver.items) == len(chat.waiting)
    assert all(block.request for block in waiting if block.state is CallState.WAITING)
    transcript(chat, driver.now)
    anew = View()
    anew.draw(folding.redraw(chat, driver.now).ops)
    assert sorted(anew.lines) == sorted(driver.view.lines)  # calls without a parent move


SAID = st.builds(
    TextReceived, st.just(Role.ASSISTANT), st.text(st.sampled_from("ab \n\r\x00\ud83d\ude00é"))
)


@given(st.lists(EVENTS.filter(lambda it: not isinstance(it, TextReceived)) | SAID, max_size=30))
@settings(max_examples=150, deadline=None)
def test_no_text_of_the_model_is_ever_lost(heard: list[events.ChatEvent]) -> None:
    driver = Driver()
    driver.hear(*heard, events.AgentGone("end"))
    told = "".join(it.text for it in heard if isinstance(it, TextReceived))
    shown = driver.view.said(BlockKind.ASSISTANT)
    assert letters(shown) == letters(told)


def letters(text: str) -> str:
    """Return what no cleaning touches."""
    return "".join(letter for letter in text if letter in "abé")

"""Subagents: their blocks, requests and ends inside the chat that started them."""

from __future__ import annotations

from msgspec.structs import replace
from tests.chat.driver import ENDED, RUNNING, STOPPING, Driver, call, said, user
from tests.chat.view import View
from tests.support.told import TellAnswer

from eca_nvim.chat.handlers.turn import STOPPED_HERE
from eca_nvim.chat.model.chat import Chat, route
from eca_nvim.chat.render.whole_chat import transcript
from eca_nvim.chat.user_actions import folding
from eca_nvim.chat.vocabulary.call_details import Subagent
from eca_nvim.chat.vocabulary.effects import Decision
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    ChatDeleted,
    ProgressChanged,
    QuestionAsked,
    ReasoningStarted,
    TitleChanged,
    ToolFinished,
    ToolPreparing,
    ToolRejected,
    ToolRequested,
    ToolRunning,
)
from eca_nvim.chat.vocabulary.requests import ALLOW, REJECT
from eca_nvim.chat.vocabulary.turn_events import UsageReported

EXPLORER = Subagent("explorer", "sub", "mock", step=1, max_steps=5)
SPAWN = call("sp", "spawn_agent", details=EXPLORER, arguments={"agent": "explorer"})
READ = call("r", arguments={"path": "/workspace/a"})


def spawned() -> Driver:
    driver = Driver()
    driver.run()
    driver.hear(ToolRequested(SPAWN), ToolRunning(SPAWN))
    driver.hear(user("look"), RUNNING, child="sub")
    return driver


def test_its_blocks_follow_the_call_indented() -> None:
    driver = spawned()
    driver.hear(*said("Working"))
    driver.hear(ToolRunning(READ), *said("found"), child="sub")
    assert driver.view.lines == ["hello", "● agent explorer · step 1/5 · read a", "Working"]
    driver.toggle(2)
    assert driver.view.lines == [
        "hello",
        "● agent explorer · step 1/5 · read a",
        "  explorer · mock · step 1/5",
        "  look",
        "  ● read a",
        "  found",
        "Working",
    ]


def test_its_turn_and_title_are_not_the_chats() -> None:
    driver = spawned()
    driver.hear(TitleChanged("other"), ToolPreparing(READ), ENDED, child="sub")
    assert driver.state == "running"
    assert "title" not in driver.view.status
    driver.toggle(2)
    assert "  · read a no result" in driver.view.lines
    driver.hear(ChatDeleted(), child="sub")
    assert not driver.chat.deleted


def test_its_approval_is_shown_here_and_answered_there() -> None:
    driver = spawned()
    driver.hear(ToolRequested(READ, needs_approval=True), child="sub")
    item = driver.items[0]
    assert (item["chat"], item["call"], item["agent"]) == ("chat", "r", "explorer")
    driver.approve("r")
    (told,) = driver.told(Decision)
    assert (told.chat_id, told.call.id, told.home, told.block) == (
        "sub",
        "r",
        "chat",
        item["block"],
    )


def test_its_rejected_call_does_not_end_the_turn_6() -> None:
    driver = spawned()
    driver.hear(ToolRequested(READ, needs_approval=True), child="sub")
    driver.reject("r")
    assert driver.decided == [("sub", "r", REJECT.id)]
    driver.hear(ToolRejected(READ), *said("so be it"), child="sub")
    driver.hear(ToolFinished(SPAWN, ("result",)), ENDED)
    assert driver.ends == ["done"]


def test_a_finished_subagent_collapses_with_all_its_blocks() -> None:
    driver = spawned()
    driver.hear(*said("found"), child="sub")
    driver.hear(ToolFinished(SPAWN, ("result",), total_ms=1100))
    assert driver.view.lines == ["hello", "✓ agent explorer  1s"]
    driver.hear(*said(" more"), ToolPreparing(READ), child="sub")
    assert driver.view.lines == ["hello", "✓ agent explorer  1s"]
    driver.toggle(2)
    assert driver.view.lines[-3:] == ["  look", "  found more", "  … read a"]
    driver.toggle(2)
    assert driver.view.lines == ["hello", "✓ agent explorer  1s"]
    assert "found more" in transcript(driver.chat, 0)


def test_its_conversation_is_a_quote_with_its_name_in_the_export() -> None:
    driver = spawned()
    driver.hear(ToolFinished(READ, ("a\n\nb\n",)), *said("found"), child="sub")
    details = Subagent("inner", "subsub")
    inner = call("in", "spawn_agent", details=details, arguments={"agent": "inner"})
    driver.hear(ToolFinished(inner), child="sub")
    driver.hear(*said("deep"), child="subsub")
    driver.hear(ToolFinished(SPAWN, ("result",), total_ms=1100), *said("Done."))
    text = transcript(driver.chat, 0)
    assert (
        text[text.index("### ✓") :]
        == """### ✓ agent explorer  1s

```
explorer · mock · step 1/5
result
```

> ### subagent explorer
>
> #### User
>
> look
>
> ##### ✓ read a
>
> ```
> a
>
> b
> ```
>
> #### Assistant
>
> found
>
> ##### ✓ agent inner
>
> inner

> ### subagent inner
>
> #### Assistant
>
> deep

## Assistant

Done.
"""
    )


def test_a_subagent_that_says_nothing_is_not_in_the_export() -> None:
    driver = Driver()
    driver.hear(ToolFinished(SPAWN))
    driver.hear(RUNNING, UsageReported(session_tokens=1), child="sub")
    assert "> " not in transcript(driver.chat, 0)


def test_the_export_of_a_subagent_whose_call_is_unknown_says_so() -> None:
    driver = Driver()
    driver.run()
    driver.hear(*said("early"), child="sub")
    assert transcript(driver.chat, 0).endswith(
        "\n\n> ### subagent\n>\n> #### Assistant\n>\n> early\n"
    )


def test_a_waiting_call_opens_the_subagent() -> None:
    driver = spawned()
    driver.hear(ToolFinished(SPAWN))
    driver.hear(ToolRequested(READ, needs_approval=True), child="sub")
    assert "  ? read a waiting" in driver.view.lines


def test_blocks_that_come_before_their_call_are_kept() -> None:
    driver = Driver()
    driver.run()
    driver.hear(*said("early"), child="sub")
    driver.hear(ToolRequested(SPAWN))
    driver.hear(*said(" bird"), child="sub")
    assert driver.view.lines == ["hello", "… agent explorer"]
    driver.toggle(3)
    assert driver.view.lines[-1] == "  early bird"
    driver.toggle(3)
    driver.hear(ToolFinished(SPAWN))
    assert driver.view.lines == ["hello", "✓ agent explorer"]


def test_a_subagent_of_a_subagent_is_shown_one_level_deep() -> None:
    driver = spawned()
    inner = call("in", "spawn_agent", details=Subagent("inner", "subsub"))
    driver.hear(ToolRequested(inner), child="sub")
    driver.hear(*said("deep"), child="subsub")
    assert driver.view.lines == ["hello", "● agent explorer · step 1/5 · agent"]
    driver.toggle(2)
    assert driver.view.lines[-1] == "  deep"
    driver.hear(ToolRequested(READ, needs_approval=True), child="subsub")
    driver.hear(ToolFinished(inner), child="sub")
    driver.approve("r")
    assert driver.decided == [("subsub", "r", ALLOW.id)]


def test_a_call_that_claims_to_run_in_itself_is_a_call_like_any_other() -> None:
    driver = Driver()
    driver.run()
    driver.hear(ToolRunning(SPAWN), *said("still here"), child="sub")
    assert driver.view.lines[-1] == "  still here"


def test_a_subagents_subagent_follows_when_the_first_call_is_known() -> None:
    driver = Driver()
    driver.run()
    inner = call("in", "spawn_agent", details=Subagent("inner", "subsub"))
    driver.hear(ToolRunning(inner), child="sub")
    driver.hear(*said("deep"), child="subsub")
    driver.hear(ToolRunning(SPAWN))
    driver.hear(*said(" and deeper"), child="subsub")
    assert driver.view.lines == ["hello", "● agent explorer · step 1/5"]
    driver.toggle(driver.chat.root.blocks[-1].id)
    assert driver.view.lines[-1] == "  deep and deeper"


def test_it_tells_in_one_line_what_it_is_doing() -> None:
    driver = spawned()
    line = "● agent explorer · step 1/5"
    driver.hear(ProgressChanged("Waiting\nmodel"), child="sub")
    assert driver.view.lines[-1] == f"{line} · Waiting model"
    driver.hear(ToolPreparing(READ), ProgressChanged("Generating"), child="sub")
    assert driver.view.lines[-1] == f"{line} · read a"
    driver.hear(ToolFinished(READ), ProgressChanged("Generating"), child="sub")
    assert driver.view.lines[-1] == f"{line} · Generating"
    step = replace(EXPLORER, step=2, max_steps=None)
    driver.hear(ToolRunning(replace(SPAWN, details=step)))
    assert driver.view.lines[-1] == "● agent explorer · step 2 · Generating"
    assert "activity" not in driver.view.status


def test_its_usage_is_its_own_and_shown_with_it() -> None:
    driver = spawned()
    driver.toggle(2)
    driver.hear(UsageReported(474, session_cost="0.02"), child="sub")
    assert driver.view.lines[2] == "  explorer · mock · step 1/5 · 474 tokens · $0.02"
    assert "tokens" not in driver.view.status


def test_it_opens_for_an_approval_and_collapses_when_that_is_given() -> None:
    driver = spawned()
    driver.hear(ToolRequested(READ, needs_approval=True), child="sub")
    assert driver.view.lines[1:] == [
        "? agent explorer · step 1/5 · pending request",
        "  explorer · mock · step 1/5",
        "  look",
        "  ? read a waiting",
        "    path: /workspace/a",
    ]
    driver.approve("r")
    assert driver.view.lines[1:] == ["● agent explorer · step 1/5 · read a"]


def test_it_stays_open_while_another_call_of_it_waits_or_the_user_wants_it() -> None:
    driver = spawned()
    other = replace(READ, id="r2")
    for asked in (READ, other):
        driver.hear(ToolRequested(asked, needs_approval=True), child="sub")
    driver.approve("r")
    assert "? agent explorer · step 1/5 · pending request" in driver.view.lines
    driver.toggle(2, to_open=True)
    driver.reject("r2")
    assert "  explorer · mock · step 1/5" in driver.view.lines


def test_its_question_is_the_users_too() -> None:
    driver = spawned()
    driver.hear(QuestionAsked("q", "Which?", tool_call_id="a"), child="sub")
    assert driver.items[0]["agent"] == "explorer"
    assert driver.view.lines[-1] == "  ? Which?"
    driver.answer("q", "this")
    assert driver.told(TellAnswer) == [TellAnswer("q", "this")]
    assert driver.view.lines[-1] == "● agent explorer · step 1/5"


def test_a_stop_ends_it_with_all_that_waits_in_it() -> None:
    driver = spawned()
    driver.hear(ToolRequested(READ, needs_approval=True), child="sub")
    driver.stop()
    assert driver.items == []
    driver.hear(STOPPING, ENDED)
    assert driver.view.lines == ["hello", "⊘ agent explorer may still run", STOPPED_HERE]
    assert driver.chat.live == {}


def test_a_replayed_subagent_reads_like_one_that_ran_25() -> None:
    driver = Driver()
    driver.hear(user("\nhello"), ToolRequested(SPAWN), ToolFinished(SPAWN, ("result",)))
    driver.hear(user("\nlook"), ToolFinished(READ, ("text",)), *said("found"), child="sub")
    driver.hear(*said("\ndone"))
    assert driver.view.lines == ["hello", "✓ agent explorer", "done"]
    driver.toggle(2)
    nested = ["  explorer · mock · step 1/5", "  look", "  ✓ read a", "  found"]
    assert driver.view.lines == ["hello", "✓ agent explorer", *nested, "done"]


def test_events_find_the_chat_that_shows_them() -> None:
    driver = spawned()
    chats = {"chat": driver.chat, "other": Chat("other")}
    assert route(chats, Addressed("chat", ENDED)) == ("chat", None)
    assert route(chats, Addressed("sub", ENDED)) == ("chat", "sub")
    assert route(chats, Addressed("sub", ENDED, "chat")) == ("chat", "sub")
    assert route(chats, Addressed("subsub", ENDED, "sub")) == ("chat", "subsub")
    assert route(chats, Addressed("new", ENDED)) == ("new", None)
    assert route(chats, Addressed(None, ENDED)) == (None, None)


def test_a_lane_that_is_older_than_the_call_it_is_within_is_drawn_again_below_it() -> None:
    driver = Driver()
    driver.hear(ReasoningStarted("r"), child="sub")
    driver.hear(ToolRunning(SPAWN), child="other")
    driver.toggle(2, to_open=True)
    redrawn = View()
    redrawn.draw(folding.redraw(driver.chat, driver.now).ops)
    assert redrawn.lines == driver.view.lines
